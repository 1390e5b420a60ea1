"""Provider of local nodes: starts one when a manager asks for it, and ends it when it is released.

`start` gives a name at once and brings the node up in the background; it is there when the runtime's infrastructure has
it. A node that does not come up is reported as a failure and forgotten: its manager asks again, for another.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

from rheostat.errors import RuntimeFault
from rheostat.logs import room_logger
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Node as ModelNode
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.reconfigure.runtime import Runtime

LOG = room_logger("controller")

BringUp = Callable[[ModelNode], NodePort]
"""Starts a node and waits until it answers."""
TakeDown = Callable[[str], None]
"""Ends a node; one that is gone has ended already."""


class LocalProvider:
    """Nodes of a few kinds, embedded or as processes: that is what `bring_up` and `take_down` decide."""

    def __init__(
        self,
        runtime: Runtime,
        kinds: Sequence[ModelNode],
        bring_up: BringUp,
        take_down: TakeDown,
        most: int = 16,
    ) -> None:
        self._runtime, self._kinds, self._most = runtime, tuple(kinds), most
        self._bring_up, self._take_down = bring_up, take_down
        self._coming: set[str] = set()
        self._cancelled: set[str] = set()
        self._lock = Lock()
        self._started = 0
        self._threads = ThreadPoolExecutor(2, "nodes")
        self._failures: dict[str, str] = {}
        """Reasons why nodes did not come up."""

    def kinds(self) -> Sequence[ModelNode]:
        """Kinds of nodes that can be started."""
        return self._kinds

    def start(self, kind: str, region: str) -> str:
        """Asks for a node."""
        template = next((node for node in self._kinds if node.name == kind), None)
        if template is None:
            raise ValueError(f"there is no kind of node {kind!r}: {did_you_mean(kind, [k.name for k in self._kinds])}")
        with self._lock:
            known = self._runtime.blueprint.infrastructure.index
            if len(known) + len(self._coming) >= self._most:
                raise ValueError(f"node limit reached ({len(known) + len(self._coming)} of {self._most})")
            self._started += 1
            while (name := f"{kind}-{self._started}") in known:
                self._started += 1
            self._coming.add(name)
        self._threads.submit(self._come, replace(template, name=name, region=region))
        return name

    def failure(self, node: str) -> str | None:
        """Reason why a node did not come up; None if it has, or still may."""
        return self._failures.get(node)

    def stop(self, node: str) -> None:
        """Releases a node; one that is on its way is not waited for."""
        with self._lock:
            if node in self._coming:
                self._cancelled.add(node)
                return
        # Refused by the runtime if anything is there; only then may its process end.
        self._runtime.leave(node)
        self._take_down(node)
        LOG.info("node %s was released", node)

    def close(self) -> None:
        """Waits for what is on its way, so that nothing is left behind."""
        with self._lock:
            self._cancelled |= self._coming
        self._threads.shutdown(wait=True)

    def _come(self, described: ModelNode) -> None:
        name, failed = described.name, False
        try:
            node = self._bring_up(described)
            if name not in self._cancelled:
                self._runtime.join(described, node)
                LOG.info("node %s has joined", name)
        except (RuntimeFault, ValueError, OSError) as failure:
            self._failures[name] = str(failure)
            LOG.warning("node %s did not come up: %s", name, failure)
            failed = True
        # Counted as coming until it is there: there are never more than may be, and it is never unknown to `stop`.
        with self._lock:
            self._coming.discard(name)
            cancelled = name in self._cancelled
            self._cancelled.discard(name)
        if cancelled:
            self._runtime.leave(name)
        if cancelled or failed:
            self._take_down(name)
