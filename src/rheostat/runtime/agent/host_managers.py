"""Where the local managers of a node work: in its agent, with a monitor of their own, whether a controller is there.

The agent looks at the operators it looks after wherever they run: it asks the other agents as the controller would,
and finds them in the directory they share. Nothing here needs the controller once it has said what runs.
"""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.loop_thread import LoopThread
from rheostat.control.remote.local_managers import LocalManagers
from rheostat.control.remote.manager_messages import Orders
from rheostat.control.remote.sample_queue import SampleQueue
from rheostat.runtime.agent.agent_snapshot import AgentSnapshot, fingerprint
from rheostat.runtime.metrics.collector import CollectorSettings, MetricsCollector
from rheostat.runtime.nodes.agent_address import address_of
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.physical_plan import Instance


class Peers:
    """The other nodes, reached as they tell in the shared directory; one that was started again has moved."""

    def __init__(self, own: NodePort, root: Path) -> None:
        self._own, self._root = own, root
        self._known: dict[str, tuple[tuple[int, str], RemoteNode]] = {}

    def among(self, names: list[str]) -> dict[str, NodePort]:
        """Those of these that can be reached, by name."""
        found: dict[str, NodePort] = {}
        for name in names:
            peer = self._own if name == self._own.name else self._remote(name)
            if peer is not None:
                found[name] = peer
        return found

    def _remote(self, name: str) -> RemoteNode | None:
        try:
            address = address_of(self._root, name)
        except (OSError, json.JSONDecodeError, KeyError):
            return None
        known = self._known.get(name)
        if known is None or known[0] != address:
            if known is not None:
                known[1].close()
            known = self._known[name] = (address, RemoteNode(name, *address, by_peer=True))
        return known[1]


class Looking:
    """A loop that measures what concerns the managers here."""

    offset_seconds = 0.0

    def __init__(self, node: NodePort, root: Path, situation: AgentSnapshot) -> None:
        self.name = f"monitor on {node.name}"
        self.period_seconds = situation.sample_seconds
        self._root, self._peers = root, Peers(node, root)
        self.situation = situation
        self.concerns: frozenset[str] = frozenset()
        self.feed = SampleQueue(lambda: self.situation.plan.deployment, lambda: self.situation.infrastructure)
        # A little less than the period: it is the loop that keeps time.
        settings = CollectorSettings(0.9 * situation.sample_seconds)
        self._monitor = MetricsCollector(situation.blueprint(root), {}, settings, self._place, self._is_concerned)

    def step(self, now_seconds: float) -> None:
        """Asks once."""
        situation = self.situation
        self._monitor.blueprint = situation.blueprint(self._root)
        self._monitor.nodes = self._peers.among(list(situation.infrastructure.index))
        self.feed.add(self._monitor.samples(situation.plan, now_seconds))

    def _place(self, instance: Instance) -> str:
        return self.situation.stand_ins.get(instance.name, instance.node)

    def _is_concerned(self, instance: Instance) -> bool:
        return not self.concerns.isdisjoint(instance.operators)


class HostManagers:
    """Takes orders from whichever controller there is, and lets the managers work in a thread."""

    def __init__(self, node: NodePort, root: Path) -> None:
        self._node, self._root = node, root
        self._lock = threading.Lock()
        self._known = ""
        self._looking: Looking | None = None
        self._managers: LocalManagers | None = None
        self._thread: LoopThread | None = None

    def exchange(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Orders and, if they are about something new, what is to be known; gives the report.

        Without orders it only reports; whoever asks about something that is not known here is told so.
        """
        with self._lock:
            if "situation" in document:
                self._learn(document["situation"])
            managers, looking = self._managers, self._looking
            if "orders" not in document:
                return {"knows": managers is not None, **({} if managers is None else managers.report().to_plain())}
            if managers is None or looking is None or document["fingerprint"] != self._known:
                return {"knows": False}
            report = managers.take(Orders.from_plain(document["orders"]))
            looking.concerns = managers.operators
            return {"knows": True, **report.to_plain()}

    def _learn(self, plain: Mapping[str, Any]) -> None:
        """Managers stay who they are and remember what they know, unless they are to work otherwise."""
        known = AgentSnapshot.from_plain(plain, self._root / "nodes" / self._node.name)
        before = None if self._looking is None else self._looking.situation
        same = before is not None and (before.application, before.control, before.sample_seconds) == (
            known.application,
            known.control,
            known.sample_seconds,
        )
        if same and self._looking is not None:
            self._looking.situation = known
        else:
            self._begin(known)
        self._known = fingerprint(plain)

    def _begin(self, situation: AgentSnapshot) -> None:
        if self._thread is not None:
            self._thread.stop()
        self._looking = looking = Looking(self._node, self._root, situation)
        self._managers = managers = LocalManagers(
            self._node.name, situation.control, situation.application, looking.feed
        )
        self._thread = LoopThread("local managers", (looking, managers), SystemClock(), managers.complain)
        self._thread.start()

    def end(self) -> None:
        """The managers go home."""
        with self._lock:
            if self._thread is not None:
                self._thread.stop()
                self._thread = None
