"""Outcome of planning: a deployment with its figures and bound, or the reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf, isinf

from rheostat.model.graph.deployment import Deployment
from rheostat.model.quality.evaluation import Evaluation
from rheostat.planning.contract.problem import Problem

PROVEN = 1e-7
"""Objective and bound within this distance, absolute and relative, count as equal."""


class PlanStatus(StrEnum):
    """Status of an outcome: what is proven about it."""

    OPTIMAL = "optimal"
    """No deployment is better; proven."""
    FEASIBLE = "feasible"
    """All constraints hold; the gap says how much better another deployment could be."""
    INFEASIBLE = "infeasible"
    """No deployment keeps all constraints; proven."""
    NO_ANSWER = "no answer"
    """No deployment was found in time; there may be one."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Effort spent on an outcome."""

    seconds: float = 0.0
    nodes_explored: int = 0
    """Partial deployments that the search examined."""
    deployments_generated: int = 0
    """Multisets of nodes that were considered, all operators together."""
    note: str = ""
    """Method that gave the answer, if a planner has several."""
    reassignments: int | None = None
    """Number of replacements until nothing moved any more; None if the planner does not work iteratively."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a planner, in the objective's own units."""

    status: PlanStatus
    deployment: Deployment | None = None
    evaluation: Evaluation | None = None
    """Every metric of the deployment."""
    objective: float | None = None
    """ODP's utility or EDRP's cost of the deployment."""
    bound: float | None = None
    """Proven limit that no deployment can beat; None if nothing is known."""
    effort: Effort = Effort()
    conflict: tuple[str, ...] = ()
    """Constraints that cannot hold together, in words; empty unless infeasible."""

    @property
    def gap(self) -> float:
        """Distance of objective and bound, relative to the objective; 0 if optimal, inf if there is no bound."""
        if self.objective is None or self.bound is None or isinf(self.bound):
            return inf
        return relative_gap(self.objective, self.bound)


def relative_gap(objective: float, bound: float) -> float:
    """|objective - bound| / |objective|; 0 if they count as equal."""
    distance = abs(objective - bound)
    if distance <= PROVEN * max(1.0, abs(objective)):
        return 0.0
    return distance / max(abs(objective), 1e-9)


def answer(problem: Problem, deployment: Deployment, bound: float | None, effort: Effort) -> Outcome:
    """The outcome for a deployment that a planner has found; its metrics and objective are computed anew.

    `bound` is in the objective's own units. A bound on the wrong side by rounding is moved to the objective.
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
