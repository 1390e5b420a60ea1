"""Supply of simulated nodes: requested nodes join, released nodes leave, some fail."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.membership import with_node, with_only
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.simulation.world.node_failures import Failure


@dataclass(frozen=True, slots=True)
class Supply:
    """Supply of further nodes."""

    kinds: tuple[Node, ...] = ()
    """Available kinds of nodes, as templates."""
    start_seconds: float = 30.0
    """Seconds from the request for a node until it is up."""
    stop_seconds: float = 5.0
    """Seconds from the release of a node until it is no longer paid."""
    most: int = 1000
    """Greatest number of nodes at once."""

    def __post_init__(self) -> None:
        """Rejects invalid times and limits."""
        if not all(isfinite(x) and x >= 0 for x in (self.start_seconds, self.stop_seconds)) or self.most < 1:
            raise ValueError(f"need times >= 0 and room for at least one node, got {self}")


class SimulatedNodes:
    """All nodes that ever existed, with their states."""

    def __init__(self, infrastructure: Infrastructure, supply: Supply, failures: Sequence[Failure] = ()) -> None:
        self._supply = supply
        self._original = self.known = infrastructure
        self._rented = set(infrastructure.index)
        self._starting: dict[str, float] = {}
        self._stopping: dict[str, float] = {}
        self._failures = sorted(failures)
        self._broken: dict[str, float] = {}
        self._started = 0
        if unknown := sorted({failure.node for failure in failures} - set(infrastructure.index)):
            raise ValueError(
                f"there is no node {unknown[0]!r} that could fail; {did_you_mean(unknown[0], self._rented)}"
            )
        self._view: Infrastructure | None = None

    @property
    def up(self) -> frozenset[str]:
        """Names of the nodes that are up."""
        return frozenset(self._rented - self._starting.keys() - self._broken.keys() - self._stopping.keys())

    @property
    def down(self) -> frozenset[str]:
        """Names of the nodes that are down."""
        return frozenset(self.known.index) - self.up

    @property
    def price_per_hour(self) -> float:
        """Price of all rented nodes, including those that are starting or stopping."""
        return sum(node.price_per_hour for node in self.known.nodes if node.name in self._rented)

    def next_event(self) -> float:
        """Time at which the next node joins, leaves, fails or comes back; infinite if there is no such event."""
        moments = [*self._starting.values(), *self._stopping.values(), *self._broken.values()]
        return min([*moments, self._failures[0].at_seconds if self._failures else inf], default=inf)

    def first_failure(self, nodes: frozenset[str], before_seconds: float) -> Failure | None:
        """The first failure of any of these nodes before a moment."""
        found = (f for f in self._failures if f.node in nodes and f.at_seconds < before_seconds)
        return next(found, None)

    def pass_time(self, now: float) -> list[str]:
        """Applies all node events due by now; returns them in words."""
        told = []
        for name in [name for name, moment in self._starting.items() if moment <= now]:
            del self._starting[name]
            told.append(f"node {name} is up")
        for name in [name for name, moment in self._stopping.items() if moment <= now]:
            del self._stopping[name]
            self._rented.discard(name)
        while self._failures and self._failures[0].at_seconds <= now:
            failure = self._failures.pop(0)
            if failure.node in self.up:
                self._broken[failure.node] = failure.until_seconds
                told.append(f"node {failure.node} is lost")
        for name in [name for name, moment in self._broken.items() if moment <= now]:
            del self._broken[name]
            told.append(f"node {name} is back")
        if told:
            self._view = None
        return told

    def view(self) -> Infrastructure:
        """The nodes that are up, and the network between them."""
        if self._view is None:
            self._view = with_only(self.known, self.up)
        return self._view

    def kinds(self) -> tuple[Node, ...]:
        """Available kinds of nodes."""
        return self._supply.kinds

    def start(self, kind: str, region: str, now: float) -> str:
        """Requests a node."""
        template = next((node for node in self._supply.kinds if node.name == kind), None)
        if template is None:
            raise ValueError(f"there is no kind of node {kind!r}: {did_you_mean(kind, [k.name for k in self.kinds()])}")
        if len(self._rented) >= self._supply.most:
            raise ValueError(f"node limit reached ({len(self._rented)} of {self._supply.most})")
        self._started += 1
        while (name := f"{kind}-{self._started}") in self.known.index:
            self._started += 1
        self.known = with_node(self.known, replace(template, name=name, region=region))
        self._rented.add(name)
        self._starting[name] = now + self._supply.start_seconds
        self._view = None
        return name

    def stop(self, node: str, now: float) -> None:
        """Releases a node; one that is still starting is released at once."""
        if node in self._rented and node not in self._stopping:
            self._starting.pop(node, None)
            self._stopping[node] = now + self._supply.stop_seconds
            self._view = None
