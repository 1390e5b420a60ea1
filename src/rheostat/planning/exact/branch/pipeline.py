"""Special method for pipelines with one replica per operator: ODP's sequential application.

Along a pipeline everything adds up, response time too. So two partial placements that end on the same node and leave
the same room everywhere differ only in their cost so far, and the cheaper one is enough. Placements are extended
position by position; those that cannot beat the incumbent are dropped (`path_bound` bounds the cost of the rest). If
too many are left, only the most promising are extended: then the answer may miss the optimum, and the cheapest
placement that was dropped gives the bound. Widths grow until nothing has to be dropped.
"""

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Flags, Indices, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import capacity_value, prices_along
from rheostat.planning.exact.bounds.path_bound import PathAscent, PathBound, affordable_slots, path_bound, unit_size
from rheostat.planning.exact.branch.incumbent import Incumbent, Listener, enough

_WIDTHS = (100, 1_000, 100_000)
_STEPS = 3_000_000


def is_pipeline(instance: EncodedProblem) -> bool:
    """Whether the method applies: pipeline shape, one replica each, resources in whole units, nothing else bounded."""
    problem, size = instance.problem, len(instance.names)
    bounds = problem.objective.bounds
    shape = sorted(map(tuple, instance.edges.tolist())) == [(i, i + 1) for i in range(size - 1)]
    in_units = instance.resources / unit_size(instance)
    free = (
        not isfinite(bounds.response_time_ms)
        and not isfinite(bounds.cost_per_hour)
        and bounds.availability == 0
        and not problem.hop_ms
        and not (problem.current and (instance.coefficients.downtime > 0 or isfinite(bounds.downtime_seconds)))
        and not np.isfinite(problem.infrastructure.network.bandwidth_tps).any()
    )
    return size > 2 and shape and instance.most_replicas == 1 and free and np.allclose(in_units, np.round(in_units))


@dataclass(frozen=True)
class _Ways:
    """Partial placements that end at the same position."""

    candidate: Indices
    """Candidate of the path at the end of each."""
    used: NDArray[np.int16]
    """Units taken of every node, a row per placement; small integers, since there are many."""
    cost: Values
    least: Values
    """Lower bound of the whole placement."""
    before: Indices
    """Row of the placement that it extends, at the position before."""
    key: Indices
    """Hash that is equal for placements with the same end and the same use of all nodes, and rarely for others."""


def solve_pipeline(instance: EncodedProblem, found: Incumbent, clock: Deadline, told: Listener) -> Incumbent:
    """Passes of increasing width, until nothing is dropped or time is over."""
    level, path = NodeLevel(instance), tuple(range(len(instance.names)))
    found = replace(found, note="pipeline", generated=sum(level.sizes()))
    if min(level.sizes()) == 0:
        return replace(found, lower=inf, complete=True)
    prices = prices_along(instance, list(path), np.zeros(len(instance.node_names)))
    climb = PathAscent(affordable_slots(level, path, _STEPS), 10, enough(instance, found.upper))
    bound = path_bound(level, path, prices, climb, clock)
    found = replace(found, lower=min(bound.value, found.upper))
    for number, width in enumerate(_WIDTHS):
        if bound.value >= enough(instance, found.upper):
            return replace(found, lower=min(max(found.lower, bound.value), found.upper), complete=True)
        if clock.is_over():
            return found
        found = _widened(instance, bound, width, found, clock)
        told(found)
        if found.complete or clock.is_over():
            return found
        bound = _sharpened(
            level,
            bound,
            PathAscent(0, 3 if number == 0 else 0, enough(instance, found.upper)),
            _STEPS * 2 ** (number + 1),
            clock,
        )
        found = replace(found, lower=min(max(found.lower, bound.value), found.upper))
    return found


def _sharpened(level: NodeLevel, bound: PathBound, climb: PathAscent, steps: int, clock: Deadline) -> PathBound:
    """The bound again, only with nodes that can improve on the incumbent, and with more of them remembered.

    With one replica each a node stands for itself, so leaving nodes out loses nothing.
    """
    spare = capacity_value(level.instance, bound.prices)
    for i, marginal in enumerate(bound.node_marginals()):
        level.keep(i, np.asarray(marginal - spare < climb.target))
    if min(level.sizes()) == 0:
        return replace(bound, value=climb.target)
    slots = affordable_slots(level, bound.path, steps)
    return path_bound(level, bound.path, bound.prices, replace(climb, slots=slots), clock)


def _widened(instance: EncodedProblem, bound: PathBound, width: int, found: Incumbent, clock: Deadline) -> Incumbent:
    """One pass that keeps at most `width` placements."""
    goal, dropped = enough(instance, found.upper), inf
    ways = _first(instance, bound, goal)
    # Of earlier positions only the back references are kept.
    layers = [(ways.candidate, ways.before)]
    for position in range(1, len(instance.names)):
        if clock.is_over():
            return found
        ways = _extended(bound, position, ways, goal)
        if len(ways.cost) > width:
            order = np.argsort(ways.least, kind="stable")
            dropped = min(dropped, float(ways.least[order[width]]))
            ways = _rows(ways, order[:width])
        layers.append((ways.candidate, ways.before))
        if not len(ways.cost):
            break
    found = replace(found, explored=found.explored + sum(len(candidate) for candidate, _ in layers))
    if len(layers) == len(instance.names) and len(ways.cost):
        values = _values(instance, bound, ways)
        best = int(np.argmin(values))
        if values[best] < found.upper - 1e-12:
            deployment = _traced(instance, bound, layers, best)
            found = replace(found, deployment=deployment, upper=float(values[best]))
    lower = min(max(found.lower, min(dropped, goal)), found.upper)
    return replace(found, lower=lower, complete=dropped >= enough(instance, found.upper))


def _values(instance: EncodedProblem, bound: PathBound, ways: _Ways) -> Values:
    """F of complete placements: the value of unused capacity is added again."""
    spare = instance.problem.infrastructure.capacities[None, :] - ways.used * unit_size(instance)
    return np.asarray(ways.cost + spare @ bound.prices.capacity)


def _factors(bound: PathBound) -> Indices:
    """Random factors of the keys: one per node, and one for the last candidate."""
    return np.random.default_rng(0).integers(1, 2**40, len(bound.way.room) + 1)


def _first(instance: EncodedProblem, bound: PathBound, goal: float) -> _Ways:
    way, factors = bound.way, _factors(bound)
    candidate = np.arange(way.start[0], way.start[1])
    nodes, need = way.node[candidate], way.need[candidate]
    used = np.zeros((len(candidate), len(instance.node_names)), dtype=np.int16)
    used[np.arange(len(candidate)), nodes] = need
    cost = way.own[candidate] - capacity_value(instance, bound.prices)
    codes = need * way.stride[nodes, 0]
    least = cost + np.where(need <= way.room[nodes], bound.after[way.values[candidate] + codes], HUGE)
    ways = _Ways(candidate, used, cost, least, np.full(len(candidate), -1), factors[nodes] * need)
    return _rows(ways, np.nonzero(ways.least < goal)[0])


def _extended(bound: PathBound, position: int, ways: _Ways, goal: float) -> _Ways:
    """Extends every placement by every next candidate with room; of equal ones the cheapest remains."""
    way, factors = bound.way, _factors(bound)
    width = way.start[position + 1] - way.start[position]
    rows = way.between[position - 1] + (ways.candidate - way.start[position - 1]) * width
    parts = []
    for k in range(width):
        j = int(way.start[position] + k)
        v, need = int(way.node[j]), int(way.need[j])
        open_ = np.nonzero(ways.used[:, v] + need <= way.room[v])[0]
        cost = ways.cost[open_] + way.tables[rows[open_] + k] + way.own[j]
        # The rest costs least if nothing is taken: placements that cost too much even then are dropped at once.
        open_, cost = _cheap(cost + bound.after[way.values[j]] < goal, open_, cost)
        near = way.near[v][way.near[v] >= 0]
        digits = ways.used[open_[:, None], near[None, :]].astype(np.int64)
        digits[:, 0] += need
        code = np.minimum(digits, way.radix[v, : len(near)] - 1) @ way.stride[v, : len(near)]
        least = cost + bound.after[way.values[j] + code]
        open_, cost, least = _cheap(least < min(goal, HUGE / 2), open_, cost, least)
        used = ways.used[open_]
        used[:, v] += need
        parts.append(_Ways(np.full(len(open_), j), used, cost, least, open_, ways.key[open_] + factors[v] * need))
    joined = _Ways(
        np.concatenate([part.candidate for part in parts]),
        np.concatenate([part.used for part in parts]),
        np.concatenate([part.cost for part in parts]),
        np.concatenate([part.least for part in parts]),
        np.concatenate([part.before for part in parts]),
        np.concatenate([part.key for part in parts]),
    )
    return _cheapest_of_equals(joined, int(factors[-1]))


def _cheap(keep: Flags, *columns: Any) -> tuple[Any, ...]:
    """The selected rows of all columns."""
    return tuple(column[keep] for column in columns)


def _cheapest_of_equals(ways: _Ways, factor: int) -> _Ways:
    """The cheapest of the placements with the same end and the same use of all nodes."""
    key = ways.key + ways.candidate * factor
    order = np.lexsort((ways.cost, key))
    key = key[order]
    at = np.nonzero(key[1:] == key[:-1])[0]
    # Equal keys are only a hint: a placement is dropped only if it really is equal.
    same = (ways.candidate[order[at]] == ways.candidate[order[at + 1]]) & (
        ways.used[order[at]] == ways.used[order[at + 1]]
    ).all(axis=1)
    keep = np.ones(len(order), dtype=bool)
    keep[at[same] + 1] = False
    return _rows(ways, order[keep])


def _rows(ways: _Ways, rows: Indices) -> _Ways:
    return _Ways(
        ways.candidate[rows], ways.used[rows], ways.cost[rows], ways.least[rows], ways.before[rows], ways.key[rows]
    )


def _traced(instance: EncodedProblem, bound: PathBound, layers: list[tuple[Indices, Indices]], row: int) -> Deployment:
    """The deployment of a placement, traced back from its end."""
    chosen: list[tuple[int, ...]] = []
    for candidate, before in reversed(layers):
        chosen.insert(0, (int(bound.way.node[candidate[row]]),))
        row = int(before[row])
    return instance.deployment(chosen)
