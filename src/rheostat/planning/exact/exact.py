"""Exact planner: the proven optimum of ODP and EDRP on any graph, or the best found with a proven bound.

1. `local_search` gives a feasible deployment to begin with; it is checked like any other.
2. `lagrangian` bounds what single nodes can reach (`choice_levels` says why that bounds the multisets, too).
3. `bound_filter` generates only the multisets that could be part of a better deployment.
4. `search` explores these by branch and bound. It is exact however weak the bounds are: they only decide how long
   it takes. Node capacity, links, all bounds, downtime and the price of a hop are computed exactly on the way.
"""

from dataclasses import dataclass, field, replace
from math import inf, isfinite

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Effort, Outcome, PlanStatus, answer, relative_gap
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.conflict import conflict_of
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.branch.branch_and_bound import branch_and_bound
from rheostat.planning.exact.branch.incumbent import Incumbent
from rheostat.planning.exact.jit_warm_up import warm_up
from rheostat.planning.solvers.local_search import LocalSearch, best_by_annealing


@dataclass(frozen=True, slots=True)
class Exact:
    """Planner that finds the optimum and proves it, within its time limit."""

    beginning: LocalSearch = field(default_factory=lambda: LocalSearch(rounds=6_000, restarts=12))
    """Planner of the first feasible deployment."""
    explains: bool = True
    """Whether it explains the conflict in an infeasible problem."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The optimum, or the best deployment in time with its gap, or the conflict."""
        warm_up(progress)
        clock = Deadline(problem.limits.seconds)
        instance = EncodedProblem(normalised(problem))
        if not _has_choices(instance):
            return self._infeasible(instance, Effort(clock.seconds()))
        first = best_by_annealing(instance, _shortened(self.beginning, instance), clock)
        if first is not None:
            progress.report(_value(instance, first), None, inf)
        found = branch_and_bound(instance, first, clock, lambda now: _report(instance, now, progress))
        effort = Effort(clock.seconds(), found.explored, found.generated, found.note)
        if found.deployment is None and found.complete:
            return self._infeasible(instance, effort)
        bound = instance.own_terms(found.lower + instance.coefficients.constant) if isfinite(found.lower) else None
        if found.deployment is None:
            return Outcome(PlanStatus.NO_ANSWER, bound=bound, effort=effort)
        _report(instance, found, progress)
        return answer(instance.problem, found.deployment, bound, effort)

    def _infeasible(self, instance: EncodedProblem, effort: Effort) -> Outcome:
        conflict = conflict_of(instance.problem, replace(self, explains=False)) if self.explains else ()
        return Outcome(PlanStatus.INFEASIBLE, effort=effort, conflict=conflict)


_ROUNDS_PER_PLACE = 30
"""Annealing moves per operator and allowed node: small problems need only a few."""


def _shortened(beginning: LocalSearch, instance: EncodedProblem) -> LocalSearch:
    """The local search, shortened for a small problem."""
    return replace(beginning, rounds=min(beginning.rounds, _ROUNDS_PER_PLACE * int(instance.allowed.sum())))


def _has_choices(instance: EncodedProblem) -> bool:
    """Whether every operator has a node and a number of replicas that does not saturate it."""
    return bool(instance.allowed.any(axis=1).all() and np.isfinite(instance.latencies).any(axis=1).all())


def _value(instance: EncodedProblem, deployment: Deployment) -> float:
    return instance.problem.value_of(instance.problem.evaluated(deployment))


def _report(instance: EncodedProblem, found: Incumbent, progress: Progress) -> None:
    """Reports the incumbent and the bound in the objective's own units."""
    constant = instance.coefficients.constant
    incumbent = instance.own_terms(found.upper + constant) if found.deployment is not None else None
    bound = instance.own_terms(found.lower + constant) if isfinite(found.lower) else None
    gap = inf if incumbent is None or bound is None else relative_gap(incumbent, bound)
    progress.report(incumbent, bound, gap)
