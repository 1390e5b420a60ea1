"""Migration away from overloaded nodes: the node manager's policy of EDF 6, sender-initiated, with a threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from rheostat.policies.contract.policy import decision_random
from rheostat.policies.contract.policy_views import NodeView, Plain, known
from rheostat.policies.replicas.placement import NearerIsLikelier, Placement


@dataclass(frozen=True, slots=True)
class HostView:
    """View of a node, for its own manager: its replicas and its neighbours."""

    node: str
    at_seconds: float
    utilization: float | None = None
    """U_h of the node."""
    hosted: tuple[tuple[str, int], ...] = ()
    """Operators with their replicas here, restricted to those that may run elsewhere."""
    neighbours: tuple[NodeView, ...] = ()
    """Known nodes, without itself."""

    def __post_init__(self) -> None:
        """Makes an unusable figure unknown."""
        object.__setattr__(self, "utilization", known(self.utilization))

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {
            "node": self.node,
            "at_seconds": self.at_seconds,
            "utilization": self.utilization,
            "hosted": [list(pair) for pair in self.hosted],
            "neighbours": [node.to_plain() for node in self.neighbours],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The view from plain data."""
        hosted = tuple((operator, count) for operator, count in plain["hosted"])
        neighbours = tuple(NodeView.from_plain(node) for node in plain["neighbours"])
        return cls(plain["node"], plain["at_seconds"], plain["utilization"], hosted, neighbours)


@dataclass(frozen=True, slots=True)
class ReplicaMove:
    """Proposed move of one replica, or none, with the reason."""

    operator: str | None = None
    target: str | None = None
    score: float = 0.0
    reason: str = ""

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {"operator": self.operator, "target": self.target, "score": self.score, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class NodeMigration:
    """Moves a random replica from an overloaded node to a neighbour that is not overloaded."""

    name: ClassVar[str] = "node-migration"

    threshold: float = 0.8
    """U_mig. The paper gives no value: its experiments switch migrations off."""
    placement: Placement = NearerIsLikelier()
    seed: int = 0

    def __post_init__(self) -> None:
        """Rejects a threshold outside 0 to 1."""
        if not 0 < self.threshold < 1:
            raise ValueError(f"need 0 < threshold < 1, got {self.threshold}")

    def decide(self, view: HostView) -> ReplicaMove:
        """The proposed move. Random numbers depend on node and time only, so there is no memory."""
        if view.utilization is None:
            return ReplicaMove(reason="the utilization is not known")
        if not is_overloaded(view.utilization, self.threshold):
            return ReplicaMove(reason=f"it is {view.utilization:.0%} busy")
        if not view.hosted:
            return ReplicaMove(reason=f"it is {view.utilization:.0%} busy, but holds nothing that could move")
        random = decision_random(self.seed, view.node, repr(view.at_seconds))
        operators, counts = zip(*view.hosted, strict=True)
        operator = random.choices(operators, weights=counts)[0]
        quiet = [
            node
            for node in view.neighbours
            if node.utilization is None or not is_overloaded(node.utilization, self.threshold)
        ]
        target = self.placement.target(quiet, random)
        if target is None:
            return ReplicaMove(reason=f"it is {view.utilization:.0%} busy, but no neighbour has room")
        reason = f"{view.node} is {view.utilization:.0%} busy, more than {self.threshold:.0%}"
        return ReplicaMove(operator, target, migration_score(view.utilization, self.threshold), reason)


def is_overloaded(utilization: float, threshold: float) -> bool:
    """U_h > U_mig [EDF_6, eq. 1]."""
    return utilization > threshold


def migration_score(utilization: float, threshold: float) -> float:
    """score_mig = (U_h - U_mig) / (1 - U_mig) [EDF_6, eq. 2].

    Differs: cut off at 1, since a measured utilization can exceed 1.
    """
    return min(1.0, (utilization - threshold) / (1 - threshold))
