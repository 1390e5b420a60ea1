"""Linear policy: a weighted sum of the view's figures, the smallest target for an external learning algorithm.

Its only parameters are four numbers: plain data that can be written down, read and set by hand. They may come from any
search over simulated runs; `examples/learned_policy` finds them with an evolution strategy.
"""

from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from rheostat.policies.contract.policy import Proposal, WithoutMemory, hold
from rheostat.policies.contract.policy_views import OperatorView

FEATURES = ("one", "share of the replicas it may have", "utilization", "input rate by what its most replicas serve")
"""Features to be weighted; the last three as the Gymnasium environment observes them."""


@dataclass(frozen=True, slots=True)
class Linear(WithoutMemory):
    """Adds a replica if the sum is above 1, removes one if it is below -1."""

    name: ClassVar[str] = "linear"

    coefficients: tuple[float, ...] = (-2.5, 0.0, 5.0, 0.0)
    """One coefficient per feature. By default it scales out above 70 % utilization and in below 30 %."""

    def __post_init__(self) -> None:
        """Rejects anything but four numbers; accepts a list, too, as documents contain."""
        object.__setattr__(self, "coefficients", tuple(self.coefficients))
        if len(self.coefficients) != len(FEATURES) or not all(map(isfinite, self.coefficients)):
            raise ValueError(f"need {len(FEATURES)} finite coefficients, got {self.coefficients}")

    def weighted_sum(self, replicas: float, utilization: float, rate: float) -> float:
        """The weighted sum: positive for more replicas, negative for fewer."""
        features = (1.0, replicas, utilization, rate)
        return sum(weight * value for weight, value in zip(self.coefficients, features, strict=True))

    def step(self, replicas: float, utilization: float, rate: float) -> int:
        """Change of the number of replicas: 1, -1 or 0."""
        weighted_sum = self.weighted_sum(replicas, utilization, rate)
        return (weighted_sum > 1) - (weighted_sum < -1)

    def decide(self, view: OperatorView, memory: None) -> tuple[Proposal, None]:
        """Proposes a step, within the bounds."""
        seen = _features(view)
        if seen is None:
            return hold(view, "utilization, input rate or true rate is not known"), memory
        weighted_sum = self.weighted_sum(*seen)
        wanted = view.within_bounds(view.replicas + self.step(*seen))
        told = f"the weighted sum is {weighted_sum:.2f}"
        if wanted == view.replicas:
            return hold(view, told), memory
        return Proposal(wanted, min(1.0, max(0.0, abs(weighted_sum) - 1)), told), memory


def _features(view: OperatorView) -> tuple[float, float, float] | None:
    rate, able = view.input_rate_tps, view.true_rate_tps
    if not view.utilizations or rate is None or not able:
        return None
    busy = sum(view.utilizations) / len(view.utilizations)
    return view.replicas / view.max_replicas, busy, min(rate / (able * view.max_replicas), 1.0)
