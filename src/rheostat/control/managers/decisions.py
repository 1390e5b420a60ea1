"""Decisions of application managers: values that are journaled, explained and replayed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rheostat.control.loop.effects import DONE, effect_parts
from rheostat.control.loop.ports import Effect, Json
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.policies.contract.policy_views import plain_fields
from rheostat.policies.contract.requests import Refusal, Request
from rheostat.policies.grants.grants import Granted, GrantSituation

DECISION, EFFECT, MEASURED = "decision", "effect", "measured"
BY_HAND = "by hand"
"""A change that a person has requested."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: the situation, the requests, and which of them were granted or refused, with reasons."""

    by: str
    seen: GrantSituation
    requests: tuple[Request, ...] = ()
    granted: tuple[Request, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @classmethod
    def of(
        cls, by: str, seen: GrantSituation, requests: Sequence[Request], conflicts: Sequence[Refusal], granted: Granted
    ) -> Self:
        """Put together from the three steps of an application manager."""
        return cls(by, seen, tuple(requests), granted.requests, (*conflicts, *granted.refusals))

    @property
    def change(self) -> Reconfiguration:
        """All granted requests as one change."""
        changes = sorted((request.change for request in self.granted), key=lambda change: change.operator)
        return Reconfiguration(tuple(changes))

    def facts(self) -> dict[str, Json]:
        """Facts for the journal."""
        return {
            "by": self.by,
            "seen": plain_fields(self.seen),
            "requests": [request.to_plain() for request in self.requests],
            "granted": [request.to_plain() for request in self.granted],
            "refusals": [refusal.to_plain() for refusal in self.refusals],
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The decision that was journaled."""
        return cls(
            facts["by"],
            GrantSituation(**facts["seen"]),
            tuple(Request.from_plain(request) for request in facts["requests"]),
            tuple(Request.from_plain(request) for request in facts["granted"]),
            tuple(Refusal.from_plain(refusal) for refusal in facts["refusals"]),
        )


def effect_facts(by: str, change: Reconfiguration, effect: Effect, predicted: Mapping[str, Json]) -> dict[str, Json]:
    """An effect as facts of the journal, with what was predicted."""
    facts: dict[str, Json] = {"by": by, "change": str(change), "predicted": dict(predicted)}
    parts = effect_parts(effect)
    if parts.outcome == DONE:
        return {**facts, "outcome": DONE, "downtime_seconds": parts.downtime_seconds}
    return {**facts, "outcome": parts.outcome, "reasons": list(parts.reasons)}


@dataclass(frozen=True, slots=True)
class Expectation:
    """Prediction of the outcome of a change, to be compared with the measured outcome."""

    change: str
    utilizations: tuple[tuple[str, float], ...]
    """Expected utilization of every changed operator: the same work, spread over the new number of replicas."""
    response_before_ms: float | None
    """Response time before the change."""
    response_ms: float | None = None
    """Expected response time; None if it was not predicted."""

    def to_plain(self) -> dict[str, Json]:
        """Facts for the journal."""
        plain: dict[str, Json] = {
            "utilization": dict(self.utilizations),
            "response_before_ms": self.response_before_ms,
        }
        return plain if self.response_ms is None else {**plain, "response_ms": self.response_ms}


def expected_utilization(utilizations: Sequence[float], replicas: int) -> float:
    """Σ U_r / k': all work of the operator, spread evenly over another number of replicas."""
    return sum(utilizations) / replicas
