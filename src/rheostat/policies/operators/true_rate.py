"""DS2 (Kalavri et al., OSDI 2018): replicas of all operators at once, in one step through the graph.

How fast an operator could be is measured as records per busy time, the true rate; what it will get follows from the
sources and the selectivities. One division per operator gives the replicas, without trying them out one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from rheostat.policies.contract.policy import Proposal, WithoutMemory, hold
from rheostat.policies.contract.policy_views import ApplicationView, OperatorView

TOLERANCE = 1e-9
"""Tolerance in rounding up: ceil(3 * 0.2 / 0.6) is 2 in floating point, and a rounding error must add no replica."""


@dataclass(frozen=True, slots=True)
class TrueRate(WithoutMemory):
    """Gives every operator as many replicas as the rates of the sources require."""

    name: ClassVar[str] = "true-rate"

    utilization: float = 0.8
    """Target utilization of a replica. DS2 itself takes 1, at which a queue never empties."""

    def __post_init__(self) -> None:
        """Rejects an invalid share."""
        if not 0 < self.utilization <= 1:
            raise ValueError(f"need 0 < utilization <= 1, got {self.utilization}")

    def decide_all(self, view: ApplicationView, memory: None) -> tuple[dict[str, Proposal], None]:
        """A proposal for every operator, from the rates that will arrive once all are scaled as wanted."""
        rates = target_rates(view)
        return {each.operator: self._proposal(each, rates[each.operator]) for each in view.operators}, memory

    def _proposal(self, view: OperatorView, rate_tps: float | None) -> Proposal:
        if rate_tps is None or not view.true_rate_tps:
            return hold(view, "the rate of the sources or its own true rate is not known")
        wanted = view.within_bounds(replicas_for(rate_tps, view.true_rate_tps * self.utilization))
        reason = f"{rate_tps:g} tuples/s will come, a replica takes {view.true_rate_tps:g} at most"
        return (
            hold(view, reason) if wanted == view.replicas else Proposal(wanted, distance(view.replicas, wanted), reason)
        )


def target_rates(view: ApplicationView) -> dict[str, float | None]:
    """Rate that every operator will receive if all before it keep up; None if a source's rate is unknown.

    A source is an operator without input streams; its rate is the external one.
    """
    inputs: dict[str, list[tuple[str, float]]] = {each.operator: [] for each in view.operators}
    for source, target, factor in view.selectivities:
        inputs[target].append((source, factor))
    rates: dict[str, float | None] = {}
    for each in view.operators:
        streams = inputs[each.operator]
        rates[each.operator] = _sum_of(streams, rates) if streams else each.input_rate_tps
    return rates


def _sum_of(streams: list[tuple[str, float]], rates: Mapping[str, float | None]) -> float | None:
    total = 0.0
    for source, factor in streams:
        rate = rates[source]
        if rate is None:
            return None
        total += rate * factor
    return total


def replicas_for(rate_tps: float, each_tps: float) -> int:
    """Number of replicas that carry a rate if each takes `each_tps`; at least 1.

    >>> replicas_for(0.6, 0.2), replicas_for(100, 30), replicas_for(0, 30)
    (3, 4, 1)
    """
    if each_tps <= 0 or rate_tps / each_tps > 1e9:
        return 10**9
    return max(1, ceil(rate_tps / each_tps - TOLERANCE))


def distance(replicas: int, wanted: int) -> float:
    """Relative distance of two numbers of replicas, from 0 to 1: the score of a larger step."""
    return abs(wanted - replicas) / max(wanted, replicas)
