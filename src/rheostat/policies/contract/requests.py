"""Requests of local managers, and the choice of those that can be done together: EDF 4 and 7.

A request is "add a replica to op on r", "remove a replica of op from r" or "move a replica of op from r to s", with a
score; here it is a change of one operator, so that a policy may ask for several replicas at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change, ChangeKind
from rheostat.policies.contract.policy_views import Plain

KINDS = (ChangeKind.SCALE_OUT, ChangeKind.MIGRATION, ChangeKind.SCALE_IN)
"""Order among equal scores: changes that add resources come first."""


@dataclass(frozen=True, slots=True)
class Request:
    """A change that a local manager asks for, with the benefit that it expects."""

    change: Change
    score: float
    """Score from 0 to 1."""
    by: str
    """Name of the requesting manager."""
    reason: str = ""
    """Reason in words, with the figures."""
    urgent: bool = False
    """Whether an operator does not run until this is done; then no limit on the number of changes applies."""
    placed_together: bool = False
    """Whether the requester has counted the room for all of its requests at once: they may want the same node."""

    def __post_init__(self) -> None:
        """Rejects a score outside 0 to 1."""
        if not 0 <= self.score <= 1:
            raise ValueError(f"a score goes from 0 to 1, got {self.score} from {self.by}")

    @property
    def kind(self) -> ChangeKind:
        """Scale-out, scale-in or migration."""
        return self.change.kind

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {
            "operator": self.change.operator,
            "before": dict(self.change.before.counts),
            "after": dict(self.change.after.counts),
            "score": self.score,
            "by": self.by,
            "reason": self.reason,
            "urgent": self.urgent,
            "placed_together": self.placed_together,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The request from plain data."""
        change = Change(plain["operator"], Replicas.of(plain["before"]), Replicas.of(plain["after"]))
        together = plain.get("placed_together", False)
        return cls(change, plain["score"], plain["by"], plain["reason"], plain["urgent"], together)

    def __str__(self) -> str:
        return f"{self.change} (score {self.score:.2f}, {self.by})"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was not granted, with the refusing part and its reason."""

    request: Request
    by: str
    reason: str

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {"request": self.request.to_plain(), "by": self.by, "reason": self.reason}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The refusal from plain data."""
        return cls(Request.from_plain(plain["request"]), plain["by"], plain["reason"])


def prioritised(requests: Sequence[Request]) -> list[Request]:
    """Requests by decreasing score; among equals by kind, then by operator. Within each kind this is EDF's order.

    Urgent requests come first.
    """

    def rank(request: Request) -> tuple[bool, float, int, str]:
        return not request.urgent, -request.score, KINDS.index(request.kind), request.change.operator

    return sorted(requests, key=rank)


def without_conflicts(requests: Sequence[Request]) -> tuple[list[Request], list[Refusal]]:
    """Requests without conflicts, in order of priority: of two in conflict, the one with the lower score is refused.

    Two requests conflict if they want the same node for a new or a moved replica [EDF 7]. Differs: two for the same
    operator conflict, too, since a scale-in and a migration of one replica cannot both be done; and two of a manager
    that has placed them together do not: all replicas that have to leave a node leave it in one change.
    """
    kept: list[Request] = []
    refused = []
    operators: dict[str, Request] = {}
    nodes: dict[str, Request] = {}
    for request in prioritised(requests):
        operator, targets = request.change.operator, request.change.added
        taken = next((node for node in targets if node in nodes and not _together(request, nodes[node])), None)
        if operator in operators:
            refused.append(Refusal(request, "conflicts", f"wants the same operator as {operators[operator]}"))
        elif taken is not None:
            refused.append(Refusal(request, "conflicts", f"wants the same node as {nodes[taken]}"))
        else:
            kept.append(request)
            operators[operator] = request
            nodes.update(dict.fromkeys(targets, request))
    return kept, refused


def _together(one: Request, other: Request) -> bool:
    return one.placed_together and other.placed_together
