"""Local search: a good deployment quickly, by simulated annealing from a greedy start with a seed.

It is a planner of its own only if chosen by name; `exact` uses it for a first deployment. During the moves the downtime
is estimated (by the typical cost of changing an operator); it is exact in the result.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cache
from math import inf

import numpy as np

from rheostat.model.graph.application import Application, Kind, Operator
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import Constant
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Effort, Outcome, PlanStatus, answer
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.candidates import downtimes, is_possible
from rheostat.planning.encoded.conflict import conflicts_without_search
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices, Values
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.solvers.annealing import Landscape, Places, anneal


@dataclass(frozen=True, slots=True)
class LocalSearch:
    """Planner by simulated annealing with restarts; proves nothing."""

    rounds: int = 40_000
    """Moves per restart; fewer on small problems."""
    restarts: int = 2
    seed: int = 0

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The best deployment found."""
        compile_annealing()
        clock = Deadline(problem.limits.seconds)
        instance = EncodedProblem(normalised(problem))
        if conflict := conflicts_without_search(instance):
            return Outcome(PlanStatus.INFEASIBLE, effort=Effort(clock.seconds()), conflict=conflict)
        found = best_by_annealing(instance, self, clock)
        effort = Effort(clock.seconds(), self.rounds * self.restarts)
        if found is None:
            return Outcome(PlanStatus.NO_ANSWER, effort=effort)
        outcome = answer(instance.problem, found, None, replace(effort, seconds=clock.seconds()))
        progress.report(outcome.objective, None, inf)
        return outcome


@cache
def compile_annealing() -> None:
    """Loads or compiles the annealing loop, so that no time limit has to include that."""
    operators = (Operator("o", Kind.SOURCE, latency=Constant(1.0), rate_tps=1.0),)
    problem = Problem(Application("one", operators), Infrastructure("one", (Node("n", resources=1.0),)))
    best_by_annealing(EncodedProblem(normalised(problem)), LocalSearch(rounds=1, restarts=1), Deadline())


def best_by_annealing(instance: EncodedProblem, settings: LocalSearch, clock: Deadline) -> Deployment | None:
    """The best feasible deployment of all restarts, the current one and the given start."""
    problem = instance.problem
    found = [d for d in (problem.start, problem.current) if d is not None]
    landscape = _landscape(instance)
    rounds = min(settings.rounds, 300 * int(instance.allowed.sum()))
    for number, around in zip(range(settings.restarts), itertools.cycle(_central(instance)), strict=False):
        start = _greedy(instance, around)
        if start is None or clock.is_over():
            break
        value, nodes, size = anneal(landscape, *start, rounds, settings.seed + number)
        if np.isfinite(value):
            chosen = [tuple(int(u) for u in row[:m]) for row, m in zip(nodes, size, strict=True)]
            found.append(instance.deployment(chosen))
    return best_of(problem, found)


def best_of(problem: Problem, deployments: list[Deployment]) -> Deployment | None:
    """The best of the feasible deployments; every value is computed anew."""
    best, best_value = None, inf
    for deployment in dict.fromkeys(deployments):
        evaluation = problem.evaluated(deployment)
        if not problem.broken_by(deployment, evaluation):
            value = problem.value_of(evaluation)
            value = -value if problem.maximises else value
            if value < best_value:
                best, best_value = deployment, value
    return best


def _central(instance: EncodedProblem) -> list[int]:
    """Start nodes for annealing: those whose nearest nodes, as many as needed, are closest on average, best first.

    Annealing moves replicas one by one, and hardly ever everything to another part of the network: so it starts in
    several parts.
    """
    delay, room = instance.problem.infrastructure.network.delay_ms, instance.problem.infrastructure.capacities
    needed = int(np.ceil(2 * instance.resources.sum() / max(float(room.mean()), 1e-9)))
    nearest = np.sort(delay + delay.T, axis=1)[:, : max(2, needed)]
    return [int(u) for u in np.argsort(nearest.mean(axis=1), kind="stable")]


def _greedy(instance: EncodedProblem, around: int) -> tuple[Indices, Indices] | None:
    """The fewest replicas that are not saturated, each as near to its inputs as there is room; None if impossible.

    An operator without placed inputs goes near the node `around`.
    """
    capacity = instance.problem.infrastructure.capacities.copy()
    delay = instance.problem.infrastructure.network.delay_ms
    nodes = np.zeros((len(instance.names), instance.most_replicas), dtype=np.int64)
    size = np.zeros(len(instance.names), dtype=np.int64)
    for i in np.argsort(instance.allowed.sum(axis=1) > 1, kind="stable"):
        possible = np.nonzero(np.isfinite(instance.latencies[i]))[0]
        if not len(possible) or not instance.allowed[i].any():
            return None
        size[i] = possible[0]
        inputs = [int(s) for s, t in instance.edges if t == i and size[s]]
        far = sum((delay[nodes[s, 0]] for s in inputs), np.zeros(len(delay))) if inputs else delay[around]
        for k in range(size[i]):
            full = capacity < instance.resources[i] - 1e-9
            u = int(np.argmin(np.where(instance.allowed[i], far + 1e6 * full, inf)))
            nodes[i, k] = u
            capacity[u] -= instance.resources[i]
    return nodes, size


def _landscape(instance: EncodedProblem) -> Landscape:
    operators, edges = len(instance.names), instance.edges
    described = [instance.problem.application.by_name[name] for name in instance.names]
    by_target = np.argsort(edges[:, 1], kind="stable") if len(edges) else np.empty(0, dtype=np.int64)
    near = [sorted({int(i + j - o) for i, j in edges if o in (i, j)}) for o in range(operators)]
    at = instance.problem.infrastructure
    bounds, factors = instance.problem.objective.bounds, instance.coefficients
    limited = np.isfinite(at.network.bandwidth_tps).any()
    closest = np.argsort(at.network.delay_ms + at.network.delay_ms.T, axis=1, kind="stable")[:, :12]
    scalars = [factors.response, factors.downtime, instance.problem.hop_ms, bounds.response_time_ms]
    scalars += [bounds.cost_per_hour, instance.log_availability_bound, bounds.downtime_seconds]
    return Landscape(
        edge_start=np.searchsorted(edges[by_target, 1], np.arange(operators + 1)),
        edge_source=np.ascontiguousarray(edges[by_target, 0]),
        edge_rate=instance.rates[by_target],
        latencies=np.minimum(instance.latencies, 1e15),
        places=Places(
            least=np.array([operator.min_replicas for operator in described]),
            most=np.array([operator.max_replicas for operator in described]),
            allowed=instance.allowed,
            near=np.ascontiguousarray(closest),
            neighbour_start=np.cumsum([0, *(len(o) for o in near)]),
            neighbours=np.array([i for o in near for i in o], dtype=np.int64),
        ),
        delay=np.array(at.network.delay_ms),
        speedup=at.speedups,
        resources=instance.resources,
        capacity=at.capacities.astype(float),
        replica_terms=instance.replica_terms,
        rate_terms=instance.rate_terms,
        pair_terms=instance.pair_terms,
        replica_prices=instance.replica_prices,
        price=np.array(at.network.price),
        log_node=at.log_availabilities,
        log_link=instance.log_links,
        bandwidth=np.array(at.network.bandwidth_tps) if limited else np.empty((0, 0)),
        current=_padded(instance),
        pause=_usual_pauses(instance),
        scalars=np.array(scalars),
    )


def _padded(instance: EncodedProblem) -> Indices:
    current = instance.current or []
    table = np.full((len(current), instance.most_replicas), -1, dtype=np.int64)
    for row, nodes in zip(table, current, strict=True):
        row[: len(nodes)] = nodes
    return table


def _usual_pauses(instance: EncodedProblem) -> Values:
    """Typical downtime of moving one replica of each operator, the median of a few moves."""
    if instance.current is None:
        return np.zeros(len(instance.names))
    pauses = np.zeros(len(instance.names))
    for i, current in enumerate(instance.current):
        moved = [tuple(sorted((u, *current[1:]))) for u in np.nonzero(instance.allowed[i])[0][:5].tolist()]
        moved = [nodes for nodes in moved if nodes != current and is_possible(instance, i, nodes)]
        if moved:
            pauses[i] = max(float(np.median(downtimes(instance, i, moved))), instance.restart_seconds)
    return pauses
