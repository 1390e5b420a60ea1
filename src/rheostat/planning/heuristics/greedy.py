"""Greedy placement (ours): each replica on the currently best node, then more replicas while they improve F.

Operators are placed in the order of flow, judged by what is known then: their own terms, and the streams from what is
placed already. Afterwards replicas are added one by one, each time the one that helps most.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Outcome, PlanStatus, answer
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices, Values
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors
from rheostat.planning.heuristics.heuristic_answer import no_room, outcome_of


@dataclass(frozen=True, slots=True)
class Greedy:
    """Greedy planner; it never revises a decision."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """Places the fewest replicas one by one, then adds replicas as long as the objective improves."""
        problem = normalised(problem)
        clock = Deadline(problem.limits.seconds)
        outcome = outcome_of(problem, progress, self.place)
        if outcome.deployment is None:
            return outcome
        grown = _grown(problem, outcome.deployment, clock)
        effort = replace(outcome.effort, seconds=clock.seconds())
        outcome = replace(answer(problem, grown, None, effort), status=PlanStatus.FEASIBLE)
        progress.report(outcome.objective, None, inf)
        return outcome

    def place(self, executors: Executors, clock: Deadline) -> ExecutorPlacement | str:  # noqa: ARG002 - one pass takes no time
        """Places executors in the order of flow, pinned ones first."""
        instance, left = executors.instance, executors.capacities.copy()
        nodes = np.full(len(executors), -1, dtype=np.int64)
        for a in executors.pinned_first(np.arange(len(executors))):
            open_ = executors.open(a, left)
            if not open_.any():
                return no_room(executors, a)
            price = _added(instance, executors, nodes, int(a))
            nodes[a] = int(np.argmin(np.where(open_, price, inf)))
            left[nodes[a]] -= executors.needs[a]
        return ExecutorPlacement(nodes)


def _added(instance: EncodedProblem, executors: Executors, nodes: Indices, executor: int) -> Values:
    """Increase of F by an executor on every node, as far as known."""
    i, factors = executors.operator[executor], instance.coefficients
    at = instance.problem.infrastructure
    placed = np.nonzero(nodes >= 0)[0]
    degree = int((executors.operator == i).sum())
    price = instance.replica_terms[i] + factors.response * instance.latencies[i, degree] / at.speedups
    for b in placed[executors.exchanged[executor][placed] > 0]:
        there = nodes[b]
        sent, received = executors.traffic[executor, b], executors.traffic[b, executor]
        delay = at.network.delay_ms[there] if received > 0 else at.network.delay_ms[:, there]
        pair = instance.pair_terms[there] if received > 0 else instance.pair_terms[:, there]
        price = price + sent * instance.rate_terms[:, there] + received * instance.rate_terms[there] + pair
        price = price + factors.response * delay
    return np.asarray(price)


def _grown(problem: Problem, deployment: Deployment, clock: Deadline) -> Deployment:
    """Adds one replica at a time, the one that improves F most, until none does."""
    sign = -1.0 if problem.maximises else 1.0
    best = sign * problem.value_of(problem.evaluated(deployment))
    while not clock.is_over():
        found = [(value, new) for new in _larger(problem, deployment) if (value := _value(problem, new, sign)) < inf]
        value, new = min(found, default=(inf, deployment))
        if not value < best - 1e-12:
            break
        best, deployment = value, new
    return deployment


def _larger(problem: Problem, deployment: Deployment) -> list[Deployment]:
    nodes = [node.name for node in problem.infrastructure.nodes]
    return [
        deployment.having(operator.name, deployment[operator.name].plus(node))
        for operator in problem.application.operators
        if len(deployment[operator.name]) < operator.max_replicas
        for node in nodes
        if operator.may_run_on(node)
    ]


def _value(problem: Problem, deployment: Deployment, sign: float) -> float:
    evaluation = problem.evaluated(deployment)
    return inf if problem.broken_by(deployment, evaluation) else sign * problem.value_of(evaluation)
