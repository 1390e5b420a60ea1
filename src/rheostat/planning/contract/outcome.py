"""Outcome of planning: a deployment with its figures and bound, or the reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf, isinf

from rheostat.model.graph.deployment import Deployment
from rheostat.model.quality.evaluation import Evaluation
from rheostat.planning.contract.problem import Problem

PROVEN = 1e-7
"""Objective and bound this close to each other, absolutely and relatively, are the same number."""


class PlanStatus(StrEnum):
    """How much is known."""

    OPTIMAL = "optimal"
    """Nothing is better, and that is proven."""
    FEASIBLE = "feasible"
    """Keeps all constraints; the gap says how much better another could be."""
    INFEASIBLE = "infeasible"
    """There is no deployment that keeps all constraints, and that is proven."""
    NO_ANSWER = "no answer"
    """None was found in time; there may be one."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What the answer took."""

    seconds: float = 0.0
    nodes_explored: int = 0
    """Partial deployments that the search looked at."""
    deployments_generated: int = 0
    """Multisets of nodes that were considered, all operators together."""
    note: str = ""
    """Which method gave the answer, if a planner has several."""
    reassignments: int | None = None
    """How often something was placed anew before nothing moved any more; None if a planner does not work so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A planner's answer, in the objective's own terms."""

    status: PlanStatus
    deployment: Deployment | None = None
    evaluation: Evaluation | None = None
    """Every metric of the deployment."""
    objective: float | None = None
    """ODP's utility or EDRP's cost of the deployment."""
    bound: float | None = None
    """No deployment is better than this; proven. None if nothing is known."""
    effort: Effort = Effort()
    conflict: tuple[str, ...] = ()
    """When infeasible: constraints that cannot be kept together, in words."""

    @property
    def gap(self) -> float:
        """Distance between objective and bound, relative to the objective; 0 if optimal, inf if nothing is known."""
        if self.objective is None or self.bound is None or isinf(self.bound):
            return inf
        return relative_gap(self.objective, self.bound)


def relative_gap(objective: float, bound: float) -> float:
    """|objective - bound| / |objective|, 0 for what is proven."""
    distance = abs(objective - bound)
    if distance <= PROVEN * max(1.0, abs(objective)):
        return 0.0
    return distance / max(abs(objective), 1e-9)


def answer(problem: Problem, deployment: Deployment, bound: float | None, effort: Effort) -> Outcome:
    """The outcome for a deployment that a planner has found; its value is computed afresh, not believed.

    `bound` is in the objective's own terms. One on the wrong side by rounding is moved to the objective.
    """
    evaluation = problem.evaluated(deployment)
    if broken := problem.broken_by(deployment, evaluation):
        raise RuntimeError(f"a planner answered with an infeasible deployment: {'; '.join(broken)}")
    value = problem.value_of(evaluation)
    if bound is not None:
        bound = max(bound, value) if problem.maximises else min(bound, value)
    proven = bound is not None and relative_gap(value, bound) == 0.0
    status = PlanStatus.OPTIMAL if proven else PlanStatus.FEASIBLE
    return Outcome(status, deployment, evaluation, value, bound, effort)
