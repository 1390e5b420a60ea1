"""ElasticityManager of Elastic Storm IV: one more executor per overloaded one, half of them if all are idle.

It decides on a whole application at once, and then makes no decision during a cool-down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.policies.contract.policy import Proposal, hold
from rheostat.policies.contract.policy_views import ApplicationView, OperatorView, Plain


@dataclass(frozen=True, slots=True)
class CoolDownLeft:
    """Remaining cool-down of the application."""

    invocations: int = 0
    """Number of invocations left."""
    replicas: tuple[tuple[str, int], ...] = ()
    """Replicas at the last invocation."""


@dataclass(frozen=True, slots=True)
class Doubling:
    """Doubles at most, halves at least, with thresholds far enough apart to prevent oscillation."""

    name: ClassVar[str] = "doubling"

    scale_out: float = 0.7
    """ScaleOutThr: an executor above this utilization is overloaded."""
    scale_in: float = 0.2
    """ScaleInThr: an operator whose executors are all below it has too many."""
    gap: float = 0.0
    """S: additional distance between the thresholds; larger is more conservative."""
    cooldown_invocations: int = 12
    """EM_cld: number of invocations of the cool-down after a change."""

    def __post_init__(self) -> None:
        """Rejects thresholds that would oscillate."""
        if not (0 <= self.scale_in < self.scale_out <= 1 and 0 <= self.gap <= 1 and self.cooldown_invocations >= 0):
            raise ValueError(f"need 0 <= scale_in < scale_out <= 1, 0 <= gap <= 1 and a cool-down >= 0, got {self}")
        if not prevents_oscillation(self.scale_out, self.scale_in, self.gap):
            raise ValueError(
                f"thresholds would oscillate: need scale_out > 2 x scale_in + gap, "
                f"got {self.scale_out} <= 2 x {self.scale_in} + {self.gap}"
            )

    def begin(self) -> CoolDownLeft:
        """No cool-down before the first change."""
        return CoolDownLeft()

    def decide_all(self, view: ApplicationView, memory: CoolDownLeft) -> tuple[dict[str, Proposal], CoolDownLeft]:
        """Scale-outs first, then scale-ins of the others; holds during the cool-down."""
        replicas = tuple((operator.operator, operator.replicas) for operator in view.operators)
        left = self.cooldown_invocations if memory.replicas and memory.replicas != replicas else memory.invocations
        if left > 0:
            reason = f"cool-down, {left} more invocations"
            return {each.operator: hold(each, reason) for each in view.operators}, CoolDownLeft(left - 1, replicas)
        return {each.operator: self._proposal(each) for each in view.operators}, CoolDownLeft(0, replicas)

    def _proposal(self, view: OperatorView) -> Proposal:
        if not view.utilizations:
            return hold(view, "the utilization is not known")
        busy = overloaded_executors(view.utilizations, self.scale_out)
        # The bounds may have changed since: a scale-out never removes replicas, a scale-in never adds any.
        more = min(view.max_replicas, view.replicas + busy)
        if more > view.replicas:
            reason = f"{busy} of {view.replicas} executors are more than {self.scale_out:.0%} busy"
            return Proposal(view.within_bounds(more), busy / view.replicas, reason)
        fewer = max(view.min_replicas, halved(view.replicas))
        if busy == 0 and fewer < view.replicas and all_underloaded(view.utilizations, self.scale_in):
            reason = f"all {view.replicas} executors are less than {self.scale_in:.0%} busy"
            score = 1 - max(view.utilizations) / self.scale_in
            return Proposal(view.within_bounds(fewer), score, reason)
        return hold(view, f"the busiest executor is {max(view.utilizations):.0%} busy")

    def saved(self, memory: CoolDownLeft) -> Plain:
        """The remaining cool-down as plain data."""
        return {"invocations": memory.invocations, "replicas": [list(pair) for pair in memory.replicas]}

    def loaded(self, plain: Any) -> CoolDownLeft:
        """The remaining cool-down from plain data."""
        return CoolDownLeft(plain["invocations"], tuple((name, count) for name, count in plain["replicas"]))


def overloaded_executors(utilizations: Sequence[float], scale_out: float) -> int:
    """Number of e ∈ E(op) with U_e > ScaleOutThr: one new executor for each [STORM_IV_B, eq. 1]."""
    return sum(utilization > scale_out for utilization in utilizations)


def all_underloaded(utilizations: Sequence[float], scale_in: float) -> bool:
    """U_e < ScaleInThr for all e ∈ E(op) [STORM_IV_B, eq. 2]."""
    return all(utilization < scale_in for utilization in utilizations)


def prevents_oscillation(scale_out: float, scale_in: float, gap: float) -> bool:
    """ScaleOutThr > 2 x ScaleInThr + S: after a halving no executor is overloaded [STORM_IV_B, eq. 3]."""
    return scale_out > 2 * scale_in + gap


def halved(executors: int) -> int:
    """Half of the executors, rounded up: rounded down, the load of one could more than double, against the gap."""
    return -(-executors // 2)
