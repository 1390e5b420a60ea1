"""Incumbent of `exact`: the best deployment so far, the lower bound, and the test for enough precision."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.elimination import HUGE


@dataclass(frozen=True)
class Incumbent:
    """What a method knows when it stops; values are without the objective's constant."""

    deployment: Deployment | None
    upper: float
    lower: float
    """Nothing is below this."""
    explored: int = 0
    generated: int = 0
    complete: bool = False
    """Whether everything was explored."""
    note: str = ""


Told = Callable[[Incumbent], None]
"""Hears what is known while a method works."""


def internal_value(instance: EncodedProblem, deployment: Deployment | None) -> float:
    """F without its constant; inf for none."""
    if deployment is None:
        return inf
    value = instance.problem.value_of(instance.problem.evaluated(deployment))
    return instance.own_terms(value) - instance.coefficients.constant


def enough(instance: EncodedProblem, upper: float) -> float:
    """A bound from which on `upper` is proven, or good enough."""
    if upper >= HUGE / 2:
        return HUGE / 2
    return upper - 1e-9 - instance.problem.limits.gap * abs(upper + instance.coefficients.constant)
