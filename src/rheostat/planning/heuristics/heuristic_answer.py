"""Outcome of a heuristic: a feasible deployment without a bound, or the reason why it found none.

A constraint that a heuristic ignores still holds: an answer that breaks a bound or a link is rejected. Only a conflict
that needs no search (`conflict.conflicts_without_search`) is reported as infeasible, since that is a proof.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Effort, Outcome, PlanStatus, answer
from rheostat.planning.contract.planner import Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.conflict import conflicts_without_search
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors

Place = Callable[[Executors, Deadline], ExecutorPlacement | str]
"""Function that places all executors, or returns the reason why it cannot."""


def outcome_of(problem: Problem, progress: Progress, place: Place) -> Outcome:
    """The outcome of a heuristic on a problem."""
    clock = Deadline(problem.limits.seconds)
    instance = EncodedProblem(normalised(problem))
    if conflict := conflicts_without_search(instance):
        return Outcome(PlanStatus.INFEASIBLE, effort=Effort(clock.seconds()), conflict=conflict)
    executors = Executors.of(instance)
    placement = place(executors, clock)
    effort = Effort(clock.seconds(), deployments_generated=len(executors))
    if isinstance(placement, str):
        return Outcome(PlanStatus.NO_ANSWER, effort=effort, conflict=(placement,))
    effort = replace(effort, reassignments=placement.reassignments, note=placement.note)
    deployment = executors.deployment(placement.nodes)
    if broken := instance.problem.broken_by(deployment, instance.problem.evaluated(deployment)):
        return Outcome(PlanStatus.NO_ANSWER, effort=effort, conflict=broken)
    outcome = replace(answer(instance.problem, deployment, None, effort), status=PlanStatus.FEASIBLE)
    progress.report(outcome.objective, None, inf)
    return outcome


def no_room(executors: Executors, executor: int) -> str:
    """The reason for giving up on an executor, in words."""
    name = executors.instance.names[executors.operator[executor]]
    return f"no room was left for operator {name} where it may run"
