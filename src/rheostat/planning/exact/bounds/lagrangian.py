"""Lagrangian lower bound of the objective: prices for coupling constraints, raised where these are violated.

Three things keep the problem from being one dynamic program: nodes that several operators share, paths that run side by
side, and bounds. Capacity gets a price per node; of the paths a convex combination counts (a unit flow from sources to
sinks), since the longest is at least as long as any mean. Both are lower bounds for any prices, so the search for good
prices can stop at any time.
"""

import itertools
from dataclasses import dataclass
from math import isfinite

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Values
from rheostat.planning.exact.bounds.choice_levels import Level, Prices
from rheostat.planning.exact.bounds.elimination import HUGE, Eliminated, Structure, eliminate


@dataclass(frozen=True)
class Bound:
    """Messages under the best prices found, with the bound they prove."""

    prices: Prices
    messages: Eliminated
    value: float
    """Lower bound of F of every feasible deployment, without downtime and constant."""


def prices_along(instance: EncodedProblem, path: list[int], capacity: Values, response: float = 0.0) -> Prices:
    """Prices with the whole flow on one path."""
    flow, through = np.zeros(len(instance.edges)), np.zeros(len(instance.names))
    for e, (i, j) in enumerate(instance.edges.tolist()):
        flow[e] = float(any(a == i and b == j for a, b in itertools.pairwise(path)))
    through[path] = 1.0
    return Prices(flow, through, capacity, response)


def capacity_value(instance: EncodedProblem, prices: Prices) -> float:
    """Value of the available capacity at the prices: only resources beyond it cost anything."""
    given = float(prices.capacity @ instance.problem.infrastructure.capacities)
    bound = instance.problem.objective.bounds.response_time_ms
    return given + (prices.response * bound if prices.response else 0.0)


def bound_with(level: Level, structure: Structure, prices: Prices) -> Bound:
    """The bound that the given prices prove."""
    instance = level.instance
    unary = [level.unary(i, prices) for i in range(len(instance.names))]
    rank = {i: p for p, i in enumerate(structure.order)}
    factor = instance.coefficients.response + prices.response
    pair: dict[tuple[int, int], Values] = {}
    for e, (i, j) in enumerate(instance.edges.tolist()):
        table = level.pair(e) + (factor * prices.flow[e]) * level.delay(e) if prices.flow[e] else level.pair(e)
        pair[(i, j) if rank[i] < rank[j] else (j, i)] = table if rank[i] < rank[j] else np.ascontiguousarray(table.T)
    messages = eliminate(structure, unary, pair)
    return Bound(prices, messages, messages.value - capacity_value(instance, prices))


@dataclass(frozen=True, slots=True)
class Ascent:
    """Limits of the search for better prices."""

    rounds: int = 60
    patience: int = 12
    """Rounds without progress before it stops."""
    target: float = HUGE
    """Bound at which the search may stop; also scales the steps."""


def best_bound(level: Level, structure: Structure, start: Prices, ascent: Ascent, clock: Deadline) -> Bound:
    """Subgradient ascent on the prices; returns the best bound found."""
    instance = level.instance
    best = bound_with(level, structure, start)
    now, step, stalled, mark, since = best, 1.0, 0, best.value, 0
    for round_ in range(ascent.rounds):
        if best.value >= min(ascent.target, HUGE / 2) or since >= ascent.patience or clock.is_over():
            break
        excess, late, path = _violations(level, now)
        norm = float(excess @ excess) + late**2
        goal = ascent.target if ascent.target < HUGE else best.value + 0.05 * abs(best.value) + 1e-9
        stride = step * max(goal - now.value, 1e-12) / norm if norm > 0 else 0.0
        capacity = np.maximum(0.0, now.prices.capacity + stride * excess)
        response = max(0.0, now.prices.response + stride * late / _most_response(instance))
        prices = _blended(now.prices, prices_along(instance, path, capacity, response), 1.0 / (round_ + 3))
        if norm == 0 and np.array_equal(prices.through, now.prices.through):
            break
        now = bound_with(level, structure, prices)
        if now.value > best.value + 1e-12:
            best, stalled = now, 0
        else:
            stalled += 1
            if stalled >= 4:
                step, stalled, now = step * 0.6, 0, best
        if best.value > mark + 2e-4 * abs(mark):
            mark, since = best.value, 0
        else:
            since += 1
    return best


def _most_response(instance: EncodedProblem) -> float:
    bound = instance.problem.objective.bounds.response_time_ms
    return bound if isfinite(bound) else 1.0


def _violations(level: Level, bound: Bound) -> tuple[Values, float, list[int]]:
    """Excess use of every node by the relaxed solution, its relative excess of response time, its longest path."""
    instance = level.instance
    chosen = bound.messages.decoded()
    use = np.zeros(len(instance.node_names))
    for i, choice in enumerate(chosen):
        nodes, taken = level.use(i, choice)
        use[nodes] += taken
    excess = use - instance.problem.infrastructure.capacities
    excess[(excess < 0) & (bound.prices.capacity <= 0)] = 0.0
    path, length = _longest(level, chosen)
    most = instance.problem.objective.bounds.response_time_ms
    late = length / most - 1.0 if isfinite(most) else 0.0
    return excess, 0.0 if late < 0 and bound.prices.response <= 0 else late, path


def _longest(level: Level, chosen: list[int]) -> tuple[list[int], float]:
    instance = level.instance
    finished, before = np.zeros(len(chosen)), [-1] * len(chosen)
    for i, choice in enumerate(chosen):
        for e, (source, target) in enumerate(instance.edges.tolist()):
            if target == i:
                arrival = finished[source] + level.delay(e)[chosen[source], choice]
                if before[i] < 0 or arrival > finished[i]:
                    finished[i], before[i] = arrival, source
        finished[i] += level.latency(i, choice)
    path = [int(np.argmax(finished))]
    while before[path[0]] >= 0:
        path.insert(0, before[path[0]])
    return path, float(finished.max())


def _blended(old: Prices, new: Prices, share: float) -> Prices:
    flow = (1 - share) * old.flow + share * new.flow
    through = (1 - share) * old.through + share * new.through
    return Prices(flow, through, new.capacity, new.response)
