"""The host of the managers that work on a node: in its agent, with a monitor of their own.

The monitor measures the operators of these managers wherever they run: it asks the other agents as a controller would,
and finds their addresses in the shared directory. Once an agent has a snapshot of the run it needs no controller.
"""

import threading
from pathlib import Path

from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.loop_thread import LoopThread
from rheostat.control.remote.local_managers import LocalManagers
from rheostat.control.remote.sample_queue import SampleQueue
from rheostat.runtime.metrics.collector import CollectorSettings, MetricsCollector
from rheostat.runtime.nodes.agent_address import read_agent_address
from rheostat.runtime.nodes.agent_snapshot import AgentSnapshot, fingerprint
from rheostat.runtime.nodes.node_messages import ManagerAnswer, ManagerQuestion
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.physical_plan import Instance


class Peers:
    """The other nodes, by the addresses in the shared directory; an agent that was started again has a new one."""

    def __init__(self, own: NodePort, root: Path) -> None:
        self._own, self._root = own, root
        self._known: dict[str, tuple[tuple[int, str], RemoteNode]] = {}

    def among(self, names: list[str]) -> dict[str, NodePort]:
        """Those of the named nodes that can be reached."""
        found: dict[str, NodePort] = {}
        for name in names:
            peer = self._own if name == self._own.name else self._remote(name)
            if peer is not None:
                found[name] = peer
        return found

    def _remote(self, name: str) -> RemoteNode | None:
        found = read_agent_address(self._root, name)
        if found is None:
            return None
        address = (found.port, found.token)
        known = self._known.get(name)
        if known is None or known[0] != address:
            if known is not None:
                known[1].close()
            known = self._known[name] = (address, RemoteNode(name, *address, by_peer=True))
        return known[1]


class LocalMonitor:
    """A loop that measures the operators of the managers on this node."""

    offset_seconds = 0.0

    def __init__(self, node: NodePort, root: Path, snapshot: AgentSnapshot) -> None:
        self.name = f"monitor on {node.name}"
        self.period_seconds = snapshot.sample_seconds
        self._root, self._peers = root, Peers(node, root)
        self.snapshot = snapshot
        self.concerns: frozenset[str] = frozenset()
        self.feed = SampleQueue(lambda: self.snapshot.plan.deployment, lambda: self.snapshot.infrastructure)
        # A little less than the period: it is the loop that keeps time.
        settings = CollectorSettings(0.9 * snapshot.sample_seconds)
        self._monitor = MetricsCollector(snapshot.blueprint(root), {}, settings, self._place, self._is_concerned)

    def step(self, now_seconds: float) -> None:
        """Measures once."""
        snapshot = self.snapshot
        self._monitor.blueprint = snapshot.blueprint(self._root)
        self._monitor.nodes = self._peers.among(list(snapshot.infrastructure.index))
        self.feed.add(self._monitor.samples(snapshot.plan, now_seconds))

    def _place(self, instance: Instance) -> str:
        return self.snapshot.stand_ins.get(instance.name, instance.node)

    def _is_concerned(self, instance: Instance) -> bool:
        return not self.concerns.isdisjoint(instance.operators)


class HostManagers:
    """Takes orders from the present controller, and lets the managers work in a thread."""

    def __init__(self, node: NodePort, root: Path) -> None:
        self._node, self._root = node, root
        self._lock = threading.Lock()
        self._known = ""
        self._monitor: LocalMonitor | None = None
        self._managers: LocalManagers | None = None
        self._thread: LoopThread | None = None

    def exchange(self, question: ManagerQuestion) -> ManagerAnswer:
        """Takes orders, and gives the report of the managers. Without orders it only reports.

        There is no report if the orders are about a snapshot that is not known here.
        """
        with self._lock:
            if question.snapshot is not None:
                self._learn(question.snapshot)
            managers, monitor = self._managers, self._monitor
            if question.orders is None:
                return ManagerAnswer(None if managers is None else managers.report())
            if managers is None or monitor is None or question.fingerprint != self._known:
                return ManagerAnswer()
            report = managers.take(question.orders)
            monitor.concerns = managers.operators
            return ManagerAnswer(report)

    def _learn(self, known: AgentSnapshot) -> None:
        """Takes a new snapshot. Managers stay and keep what they have learned, unless their settings change."""
        before = None if self._monitor is None else self._monitor.snapshot
        same = before is not None and (before.application, before.control, before.sample_seconds) == (
            known.application,
            known.control,
            known.sample_seconds,
        )
        if same and self._monitor is not None:
            self._monitor.snapshot = known
        else:
            self._begin(known)
        self._known = fingerprint(known)

    def _begin(self, snapshot: AgentSnapshot) -> None:
        if self._thread is not None:
            self._thread.stop()
        self._monitor = monitor = LocalMonitor(self._node, self._root, snapshot)
        self._managers = managers = LocalManagers(self._node.name, snapshot.control, snapshot.application, monitor.feed)
        self._thread = LoopThread("local managers", (monitor, managers), SystemClock(), managers.complain)
        self._thread.start()

    def end(self) -> None:
        """Ends the managers."""
        with self._lock:
            if self._thread is not None:
                self._thread.stop()
                self._thread = None
