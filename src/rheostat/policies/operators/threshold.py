"""Threshold policy of EDF 5.1 and E2DF 4.2: one replica more if any is too busy, one less if the rest suffice.

Both papers have the same rule; they differ in the choice of the replica to stop (`victims`) and of the node for a new
one (`placement`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rheostat.policies.contract.policy import Proposal, WithoutMemory, hold
from rheostat.policies.contract.policy_views import OperatorView


@dataclass(frozen=True, slots=True)
class Threshold(WithoutMemory):
    """Keeps every replica below a utilization, with the fewest replicas."""

    name: ClassVar[str] = "threshold"

    scale_out: float = 0.7
    """U_s-out (S_s-out in E2DF): a replica above this utilization is overloaded."""
    slack: float = 0.75
    """c: after a scale-in the mean utilization must stay below this share of `scale_out`."""

    def __post_init__(self) -> None:
        """Rejects thresholds that would oscillate: with c >= 1 a scale-in could cause a scale-out at once."""
        if not 0 < self.scale_out < 1 or not 0 < self.slack < 1:
            raise ValueError(f"need 0 < scale_out < 1 and 0 < slack < 1, got {self}")

    def decide(self, view: OperatorView, memory: None) -> tuple[Proposal, None]:
        """Scale-out first; then scale-in; else hold."""
        return self._proposal(view), memory

    def _proposal(self, view: OperatorView) -> Proposal:
        if not view.utilizations:
            return hold(view, "the utilization is not known")
        busiest = max(view.utilizations)
        if is_overloaded(view.utilizations, self.scale_out):
            if view.replicas >= view.max_replicas:
                return hold(
                    view, f"a replica is {busiest:.0%} busy, but the limit of {view.max_replicas} replicas is reached"
                )
            reason = f"a replica is {busiest:.0%} busy, more than {self.scale_out:.0%}"
            return Proposal(view.within_bounds(view.replicas + 1), scale_out_score(busiest, self.scale_out), reason)
        if view.replicas > view.min_replicas and is_underloaded(view.utilizations, self.scale_out, self.slack):
            rest = utilization_of_the_rest(view.utilizations)
            reason = f"one less would be {rest:.0%} busy, below {self.slack * self.scale_out:.0%}"
            score = scale_in_score(view.utilizations, self.scale_out, self.slack)
            return Proposal(view.within_bounds(view.replicas - 1), score, reason)
        return hold(view, f"the busiest replica is {busiest:.0%} busy")


def is_overloaded(utilizations: Sequence[float], scale_out: float) -> bool:
    """U_r > U_s-out for any replica r [EDF_5_1, eq. 1; E2DF_4_2, eq. 1]."""
    return any(utilization > scale_out for utilization in utilizations)


def utilization_of_the_rest(utilizations: Sequence[float]) -> float:
    """Σ_r U_r / (n - 1): utilization of n - 1 replicas; undefined for the last one."""
    if len(utilizations) < 2:
        raise ValueError(f"one replica of {len(utilizations)} cannot be spared")
    return sum(utilizations) / (len(utilizations) - 1)


def is_underloaded(utilizations: Sequence[float], scale_out: float, slack: float) -> bool:
    """Σ_r U_r / (n - 1) < c U_s-out, with at least two replicas [EDF_5_1, eq. 2; E2DF_4_2, eq. 2]."""
    return len(utilizations) > 1 and utilization_of_the_rest(utilizations) < slack * scale_out


def scale_out_score(utilization: float, scale_out: float) -> float:
    """score_s-out = (U_r - U_s-out) / (1 - U_s-out) of the busiest replica [EDF_5_1, eq. 3].

    Differs: cut off at 1, since a measured utilization can exceed 1.
    """
    return min(1.0, (utilization - scale_out) / (1 - scale_out))


def scale_in_score(utilizations: Sequence[float], scale_out: float, slack: float) -> float:
    """score_s-in = [c U_s-out - Σ_r U_r / (n - 1)] / (c U_s-out) [EDF_5_1, eq. 4]."""
    return (slack * scale_out - utilization_of_the_rest(utilizations)) / (slack * scale_out)
