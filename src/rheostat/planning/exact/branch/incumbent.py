"""Incumbent of `exact`: the best deployment so far, the lower bound, and the test for enough precision."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.elimination import HUGE


@dataclass(frozen=True)
class Incumbent:
    """State of a method when it stops; values are without the objective's constant."""

    deployment: Deployment | None
    upper: float
    lower: float
    """Lower bound of all deployments."""
    explored: int = 0
    generated: int = 0
    complete: bool = False
    """Whether all deployments were explored."""
    note: str = ""


Listener = Callable[[Incumbent], None]
"""Receives the incumbent whenever it changes."""


def internal_value(instance: EncodedProblem, deployment: Deployment | None) -> float:
    """F without its constant; inf without a deployment."""
    if deployment is None:
        return inf
    value = instance.problem.value_of(instance.problem.evaluated(deployment))
    return instance.own_terms(value) - instance.coefficients.constant


def enough(instance: EncodedProblem, upper: float) -> float:
    """The bound at which `upper` is proven optimal, or precise enough."""
    if upper >= HUGE / 2:
        return HUGE / 2
    return upper - 1e-9 - instance.problem.limits.gap * abs(upper + instance.coefficients.constant)
