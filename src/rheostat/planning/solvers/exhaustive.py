"""Exhaustive search over every deployment, for tiny problems and for checking the other planners."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Effort, Outcome, PlanStatus, answer
from rheostat.planning.contract.planner import SILENT, Progress, Unsuited
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.candidates import Candidates, all_candidates
from rheostat.planning.encoded.conflict import conflict_of
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Flags, Indices, Values
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.encoded.stream_tables import StreamTable, stream_table

_CHUNK = 100_000


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Planner that tries every deployment in the order of the candidates; of equals the first wins."""

    most: int = 5_000_000
    """Largest number of combinations; larger problems are rejected."""
    explains: bool = True
    """Whether it explains the conflict in an infeasible problem."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The optimum, by examining all deployments."""
        clock = Deadline(problem.limits.seconds)
        problem = normalised(problem)
        instance = EncodedProblem(problem)
        candidates = [all_candidates(instance, i) for i in range(len(instance.names))]
        total = prod(len(options) for options in candidates)
        generated = sum(len(options) for options in candidates)
        if total > self.most:
            raise Unsuited(f"{total} combinations are too many to try, the limit is {self.most}")
        if problem.hop_ms:
            best, value, seen = _best_by_model(instance, candidates, clock)
        else:
            best, value, seen = _best_by_tables(instance, candidates, clock)
        effort = Effort(clock.seconds(), seen, generated)
        if best is None:
            if seen < total:
                return Outcome(PlanStatus.NO_ANSWER, effort=effort)
            conflict = conflict_of(problem, replace(self, explains=False)) if self.explains else ()
            return Outcome(PlanStatus.INFEASIBLE, effort=effort, conflict=conflict)
        bound = instance.own_terms(value) if seen == total else None
        progress.report(instance.own_terms(value), bound, 0.0 if seen == total else float("inf"))
        return answer(problem, best, bound, effort)


_Found = tuple[Deployment | None, float, int]
"""The best deployment, its internal value, and the number of deployments examined."""


def _best_by_model(instance: EncodedProblem, candidates: list[Candidates], clock: Deadline) -> _Found:
    """Search with the model's own formulas, one by one: the price of a hop needs the whole deployment."""
    best, value, seen = None, inf, 0
    for rows in product(*(range(len(options)) for options in candidates)):
        if clock.is_over():
            break
        seen += 1
        chosen = [options.chosen(row) for options, row in zip(candidates, rows, strict=True)]
        deployment = instance.deployment(chosen)
        evaluation = instance.problem.evaluated(deployment)
        if not instance.problem.broken_by(deployment, evaluation):
            here = instance.problem.value_of(evaluation)
            here = -here if instance.problem.maximises else here
            if here < value:
                best, value = deployment, here
    return best, value, seen


def _best_by_tables(instance: EncodedProblem, candidates: list[Candidates], clock: Deadline) -> _Found:
    """Search with tables, many deployments at once."""
    tables = [
        stream_table(instance, e, candidates[i], candidates[j]) for e, (i, j) in enumerate(instance.edges.tolist())
    ]
    best, value, seen = None, inf, 0
    for rows in _combinations([len(options) for options in candidates]):
        if clock.is_over():
            break
        seen += rows.shape[1]
        values = _values(instance, candidates, tables, rows)
        first = int(np.argmin(values))
        if values[first] < value:
            value = float(values[first])
            chosen = [options.chosen(int(row)) for options, row in zip(candidates, rows[:, first], strict=True)]
            best = instance.deployment(chosen)
    return best, value, seen


def _combinations(sizes: list[int]) -> Iterator[Indices]:
    """All combinations of rows, a column each, in chunks."""
    total = prod(sizes)
    for start in range(0, total, _CHUNK):
        flat = np.arange(start, min(start + _CHUNK, total))
        yield np.array(np.unravel_index(flat, sizes), dtype=np.int64)


def _values(instance: EncodedProblem, candidates: list[Candidates], tables: list[StreamTable], rows: Indices) -> Values:
    """F of every column, inf for infeasible ones."""
    factors, bounds = instance.coefficients, instance.problem.objective.bounds
    response, downtime = _response_times(instance, candidates, tables, rows), _downtimes(instance, candidates, rows)
    terms = sum(options.term[row] for options, row in zip(candidates, rows, strict=True))
    price = sum(
        options.size[row] * instance.replica_prices[i]
        for i, (options, row) in enumerate(zip(candidates, rows, strict=True))
    )
    logs = instance.problem.infrastructure.log_availabilities
    availability = sum((options.counts(len(logs)) @ logs)[row] for options, row in zip(candidates, rows, strict=True))
    for table, (i, j) in zip(tables, instance.edges.tolist(), strict=True):
        terms = terms + table.term[rows[i], rows[j]]
        price = price + table.price[rows[i], rows[j]]
        availability = availability + table.log_availability[rows[i], rows[j]]
    feasible = _fits(instance, candidates, rows)
    feasible &= response <= bounds.response_time_ms + TOLERANCE
    feasible &= price <= bounds.cost_per_hour + TOLERANCE
    feasible &= downtime <= bounds.downtime_seconds + TOLERANCE
    feasible &= availability >= instance.log_availability_bound
    value = factors.response * response + terms + factors.downtime * downtime + factors.constant
    return np.where(feasible, value, inf)


def _response_times(
    instance: EncodedProblem, candidates: list[Candidates], tables: list[StreamTable], rows: Indices
) -> Values:
    finished = np.zeros(rows.shape)
    for i, options in enumerate(candidates):
        arrival = np.zeros(rows.shape[1])
        for table, (source, target) in zip(tables, instance.edges.tolist(), strict=True):
            if target == i:
                arrival = np.maximum(arrival, finished[source] + table.delay[rows[source], rows[i]])
        finished[i] = arrival + options.latency[rows[i]]
    return np.asarray(finished.max(axis=0))


def _downtimes(instance: EncodedProblem, candidates: list[Candidates], rows: Indices) -> Values:
    if instance.current is None:
        return np.zeros(rows.shape[1])
    pause = np.zeros(rows.shape[1])
    changed = np.zeros(rows.shape[1], dtype=bool)
    for options, row, current in zip(candidates, rows, instance.current, strict=True):
        pause = np.maximum(pause, options.downtime[row])
        stays = np.array([options.chosen(r) == current for r in range(len(options))])
        changed |= ~stays[row]
    return np.where(changed, np.maximum(pause, instance.restart_seconds), 0.0)


def _fits(instance: EncodedProblem, candidates: list[Candidates], rows: Indices) -> Flags:
    """Whether no node and no link is overloaded."""
    capacity = instance.problem.infrastructure.capacities
    counts = [options.counts(len(capacity)) for options in candidates]
    use = np.zeros((rows.shape[1], len(capacity)))
    for i, row in enumerate(rows):
        use += counts[i][row] * instance.resources[i]
    fits = np.asarray((use <= capacity + TOLERANCE).all(axis=1))
    limits = instance.problem.infrastructure.network.bandwidth_tps
    for u, v in np.argwhere(np.isfinite(limits)):
        load = np.zeros(rows.shape[1])
        for rate, (i, j) in zip(instance.rates, instance.edges.tolist(), strict=True):
            load += (
                rate * (counts[i][:, u] / candidates[i].size)[rows[i]] * (counts[j][:, v] / candidates[j].size)[rows[j]]
            )
        fits &= load <= limits[u, v] + TOLERANCE
    return fits
