"""rEDRP: the best deployment if every operator changes by one replica at most. Fast, since these are few.

One replica more, one less, or one moved to another node, per operator [EDRP 7.2, "Scalability"]. What it finds is
optimal among these changes only, so that it never claims more than feasible.

Differs: the printed set is garbled; the prose is taken.
"""

from dataclasses import dataclass, field, replace

from rheostat.model.graph.application import Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import SILENT, Planner, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.conflict import conflict_of
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.exact import Exact


@dataclass(frozen=True, slots=True)
class Restricted:
    """Planner of single changes of the current deployment; without one it plans like the planner it holds."""

    planner: Planner = field(default_factory=lambda: Exact(explains=False))
    """Planner of the restricted problem."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The best of the single changes, or no answer if none of them is feasible."""
        if problem.current is None:
            return self._unrestricted(problem, progress)
        few = restricted(normalised(problem))
        outcome = self.planner.plan(replace(few, start=few.start or _mended(few)), progress)
        if outcome.deployment is None:
            words = ("no single change of each operator is feasible",)
            found = words if outcome.status is PlanStatus.INFEASIBLE else outcome.conflict
            return Outcome(PlanStatus.NO_ANSWER, effort=outcome.effort, conflict=found)
        note = (
            "optimal among single changes" if outcome.status is PlanStatus.OPTIMAL else "best found of single changes"
        )
        effort = replace(outcome.effort, note=note)
        return replace(outcome, status=PlanStatus.FEASIBLE, bound=None, effort=effort)

    def _unrestricted(self, problem: Problem, progress: Progress) -> Outcome:
        outcome = self.planner.plan(problem, progress)
        if outcome.status is PlanStatus.INFEASIBLE and not outcome.conflict:
            return replace(outcome, conflict=conflict_of(normalised(problem), self.planner))
        return outcome


def _mended(problem: Problem) -> Deployment | None:
    """The current deployment with its saturated operators improved, as a start for the search."""
    deployment = problem.current
    if deployment is None:
        return None
    for name in problem.evaluated(deployment).saturated:
        changed = [deployment.having(name, replicas) for replicas in problem.restriction[name]]
        deployment = min([deployment, *changed], key=lambda one: _rank(problem, one))
    return deployment


def _rank(problem: Problem, deployment: Deployment) -> tuple[int, float]:
    """Rank of a deployment, less is better: violated constraints first, then the objective."""
    evaluation = problem.evaluated(deployment)
    value = problem.value_of(evaluation)
    return len(problem.broken_by(deployment, evaluation)), -value if problem.maximises else value


def restricted(problem: Problem) -> Problem:
    """The problem with 𝒫(V_res^i; k_i; 𝒰_{i,0}) instead of 𝒫(V_res^i; k_i)."""
    if problem.current is None:
        return problem
    nodes = [node.name for node in problem.infrastructure.nodes]
    options: dict[str, tuple[Replicas, ...]] = {}
    for operator in problem.application.operators:
        allowed = [node for node in nodes if operator.may_run_on(node)]
        near = single_changes(operator, problem.current[operator.name], allowed)
        known = problem.restriction.get(operator.name)
        options[operator.name] = tuple(r for r in near if known is None or r in known)
    return replace(problem, restriction=options)


def single_changes(operator: Operator, current: Replicas, nodes: list[str]) -> tuple[Replicas, ...]:
    """Replicas of an operator after one more, one fewer or one moved replica, including the current ones."""
    more = {current.plus(node) for node in nodes}
    fewer = {current.plus(node, -1) for node in current} if len(current) > 1 else set()
    moved = {current.plus(there).plus(here, -1) for here in current for there in nodes if there != here}
    sizes = range(operator.min_replicas, operator.max_replicas + 1)
    return tuple(sorted(r for r in {current} | more | fewer | moved if len(r) in sizes))
