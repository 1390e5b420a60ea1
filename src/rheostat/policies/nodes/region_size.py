"""Local policy of a region manager: the number of nodes that a region needs, E2DF 4.1.

Room for new replicas is kept free at all times; unused nodes beyond that are released.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar, Self

from rheostat.policies.contract.policy_views import Plain, known, plain_fields


@dataclass(frozen=True, slots=True)
class RentedNode:
    """A node of the region, for the region's manager."""

    name: str
    capacity: int
    """C_n: replicas it can hold."""
    assigned: int = 0
    """A_n: replicas it holds."""
    utilization: float | None = None
    """U_n; None if unknown, for example on a node that is just starting."""
    leaving: bool = False
    """Whether the node is cordoned: no new replica is placed there."""

    def __post_init__(self) -> None:
        """Makes an unusable figure unknown."""
        object.__setattr__(self, "utilization", known(self.utilization))

    @property
    def free(self) -> int:
        """C_n - A_n; 0 while the node is leaving."""
        return 0 if self.leaving else self.capacity - self.assigned


@dataclass(frozen=True, slots=True)
class RegionView:
    """View of a region at a moment."""

    region: str
    at_seconds: float
    nodes: tuple[RentedNode, ...] = ()
    """Nodes, including those that were requested and are not up yet, so that they are not requested again."""
    kinds: tuple[tuple[str, int], ...] = ()
    """Available kinds of nodes with their C_n."""

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {
            "region": self.region,
            "at_seconds": self.at_seconds,
            "nodes": [plain_fields(node) for node in self.nodes],
            "kinds": [list(kind) for kind in self.kinds],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The view from plain data."""
        nodes = tuple(RentedNode(**node) for node in plain["nodes"])
        return cls(plain["region"], plain["at_seconds"], nodes, tuple((name, size) for name, size in plain["kinds"]))


@dataclass(frozen=True, slots=True)
class RegionProposal:
    """Request of a region manager to the infrastructure manager."""

    kind: str | None = None
    """Kind of node to start."""
    start: int = 0
    """Number of nodes to start."""
    stop: tuple[str, ...] = ()
    """Empty nodes to stop."""
    vacate: tuple[str, ...] = ()
    """Under-used nodes to vacate before they can be stopped."""
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.start or self.stop or self.vacate)

    def __str__(self) -> str:
        wants = [f"start {self.start} {self.kind}"] if self.start else []
        wants += [f"stop {', '.join(self.stop)}"] if self.stop else []
        wants += [f"vacate {', '.join(self.vacate)}"] if self.vacate else []
        return " and ".join(wants) or "change nothing"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The proposal from plain data."""
        return cls(plain["kind"], plain["start"], tuple(plain["stop"]), tuple(plain["vacate"]), plain["reason"])

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {**plain_fields(self), "stop": list(self.stop), "vacate": list(self.vacate)}


@dataclass(frozen=True, slots=True)
class TargetCapacity:
    """Keeps room for `free` replicas, with nodes as small as possible."""

    name: ClassVar[str] = "target-capacity"

    free: int = 5
    """C_r: number of replicas that could be added at any time."""
    low: float = 0.1
    """U_low,r: a node with at most this utilization is under-used."""

    def __post_init__(self) -> None:
        """Rejects an invalid target."""
        if self.free < 0 or not 0 <= self.low < 1:
            raise ValueError(f"need free >= 0 and 0 <= low < 1, got {self}")

    def decide(self, view: RegionView) -> RegionProposal:
        """More nodes if there is too little room; else fewer, empty ones first."""
        room = free_capacity(view.nodes)
        if not has_room(view.nodes, self.free):
            return self._more(view, room)
        stop, rest = self._unused(view.nodes)
        vacate = self._under_used(rest)
        if stop or vacate:
            reason = f"room for {room} replicas, {self.free} are enough"
            return RegionProposal(stop=stop, vacate=vacate, reason=reason)
        return RegionProposal(reason=f"room for {room} replicas, {self.free} are wanted")

    def _more(self, view: RegionView, room: int) -> RegionProposal:
        usable = [(capacity, name) for name, capacity in view.kinds if capacity > 0]
        if not usable:
            return RegionProposal(reason=f"room for {room} replicas of {self.free}, but no nodes can be had")
        capacity, kind = min(usable)
        count = ceil((self.free - room) / capacity)
        return RegionProposal(kind, count, reason=f"room for {room} replicas, {self.free} are wanted")

    def _unused(self, nodes: Sequence[RentedNode]) -> tuple[tuple[str, ...], list[RentedNode]]:
        """Empty nodes that can be released without breaking the target, the largest first, and the nodes left.

        The paper turns off any node without replicas while there is more room than wanted. Differs: only as long as
        there is still enough afterwards, else the next step would start it again.
        """
        rest = list(nodes)
        # A node that is leaving already is listed again only when it is empty; the newest names go first.
        empty = sorted((node for node in nodes if node.assigned == 0), key=lambda n: (n.capacity, n.name), reverse=True)
        stop = []
        for node in empty:
            others = [other for other in rest if other.name != node.name]
            # A node without figures is just starting: it was requested because it is needed.
            if node.utilization is not None and has_room(others, self.free):
                stop.append(node.name)
                rest = others
        return tuple(stop), rest

    def _under_used(self, nodes: Sequence[RentedNode]) -> tuple[str, ...]:
        """Nodes worth vacating, the least used first: their replicas must fit elsewhere, and the target must hold."""
        rest, found = list(nodes), []
        candidates = [n for n in nodes if n.assigned > 0 and not n.leaving and is_under_used(n.utilization, self.low)]
        for node in sorted(candidates, key=lambda n: (n.utilization or 0.0, n.name)):
            others = [replace(other, leaving=True) if other.name == node.name else other for other in rest]
            if has_room(others, self.free + node.assigned):
                found.append(node.name)
                rest = others
        return tuple(found)


def free_capacity(nodes: Sequence[RentedNode]) -> int:
    """Σ_n (C_n - A_n) over the nodes of a region that stay."""
    return sum(node.free for node in nodes)


def has_room(nodes: Sequence[RentedNode], wanted: int) -> bool:
    """Σ_{n ∈ Nodes(r)} (C_n - A_n) >= C_r [E2DF_4_1, eq. 1]."""
    return free_capacity(nodes) >= wanted


def is_under_used(utilization: float | None, low: float) -> bool:
    """U_n <= U_low,r; an unknown utilization does not count as under-used [E2DF_4_1, eq. 2]."""
    return utilization is not None and utilization <= low
