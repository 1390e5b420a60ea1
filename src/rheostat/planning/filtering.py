"""Which multisets can still be part of something better? Only these are ever generated.

A multiset costs at least the mean over its nodes of what the node-level relaxation says of each (`levels`). Nodes are
taken in ascending order of that, so that whole branches of multisets are cut off before they are written down.
"""

from math import inf

import numba
import numpy as np

from rheostat.planning.candidates import Candidates, described, multisets
from rheostat.planning.elimination import HUGE
from rheostat.planning.instance import Indices, Values
from rheostat.planning.lagrangian import Bound, room
from rheostat.planning.levels import NodeLevel, Prices
from rheostat.planning.path_bound import PathBound

MOST = 60_000
"""Multisets of one operator beyond which the search for them is given up."""


class TooMany(Exception):
    """More multisets survive than can be searched."""


def surviving(level: NodeLevel, values: list[Values], limit: float, most: int = MOST) -> list[Candidates]:
    """For every operator the multisets whose bound is below the limit; raises TooMany if they are too many.

    `values[i][m, choice]` bounds F if operator i has m replicas of which the choice stands for one.
    """
    chosen = [_below(level, i, table, (limit, most)) for i, table in enumerate(values)]
    return [described(level.instance, i, multisets) for i, multisets in enumerate(chosen)]


def values_by_size(level: NodeLevel, bound: Bound) -> list[Values]:
    """F at least, for every number of replicas and every choice of every operator, by the prices' messages."""
    spare = room(level.instance, bound.prices)
    return [
        _instead(level, (i, bound.prices), marginal - spare) for i, marginal in enumerate(bound.messages.marginals())
    ]


def _instead(level: NodeLevel, of: tuple[int, Prices], marginal: Values) -> Values:
    """Bounds with the best number of replicas turned into bounds for every number."""
    by_size, best = level.by_size(*of), level.unary(*of)
    return np.where(by_size < HUGE / 2, (marginal - best)[None, :] + by_size, inf)


def path_values_by_size(level: NodeLevel, bound: PathBound) -> dict[int, Values]:
    """The same for the operators on a path, by its dynamic program."""
    spare = room(level.instance, bound.prices) - float(bound.beside.sum())
    return {
        i: _instead(level, (i, bound.prices), marginal - spare)
        for i, marginal in zip(bound.path, bound.node_marginals(), strict=True)
    }


def _below(level: NodeLevel, operator: int, values: Values, within: tuple[float, int]) -> list[tuple[int, ...]]:
    """Packed multisets by their own choice, spread ones by the mean over their nodes."""
    instance, nodes, packed = level.instance, level.nodes[operator], level.packed[operator]
    limit, most = within
    if instance.names[operator] in instance.problem.restriction:
        return _allowed_below(level, operator, values, limit)
    rows, columns = np.nonzero((values < limit) & (packed[None, :] > 0))
    chosen = {(int(nodes[c]),) * int(m) for m, c in zip(rows, columns, strict=True)}
    spread = np.nonzero(packed == 0)[0]
    for m in range(2, len(values)):
        at = spread[values[m, spread] < HUGE / 2]
        if len(at):
            chosen |= _spread_below(level, operator, (nodes[at], values[m, at], m), within)
        if len(chosen) > most:
            raise TooMany
    return sorted(chosen, key=lambda u: (len(u), u))


def _allowed_below(level: NodeLevel, operator: int, values: Values, limit: float) -> list[tuple[int, ...]]:
    """Where only a few multisets are allowed, these are asked one by one; a choice that is gone is above any limit."""
    kinds = zip(level.nodes[operator].tolist(), level.packed[operator].tolist(), strict=True)
    column = {choice: c for c, choice in enumerate(kinds)}
    found = []
    for chosen in multisets(level.instance, operator):
        kind = len(chosen) if chosen[0] == chosen[-1] else 0
        columns = [column.get((u, kind)) for u in chosen]
        bounds = [inf if c is None else float(values[len(chosen), c]) for c in columns]
        if sum(bounds) / len(bounds) < limit:
            found.append(chosen)
    return found


def _spread_below(
    level: NodeLevel, operator: int, choices: tuple[Indices, Values, int], within: tuple[float, int]
) -> set[tuple[int, ...]]:
    (nodes, values, m), (limit, most) = choices, within
    instance = level.instance
    need = instance.resources[operator]
    fits = np.full(len(nodes), m, dtype=np.int64)
    if need > 0:
        capacities = instance.problem.infrastructure.capacities[nodes]
        fits = np.minimum(fits, np.floor((capacities + 1e-9) / need).astype(np.int64))
    order = np.argsort(values, kind="stable")
    rows = enumerate_below(np.ascontiguousarray(values[order]), fits[order], m, min(limit, HUGE / 2), most)
    if len(rows) > most:
        raise TooMany
    found = {tuple(sorted(int(nodes[order[k]]) for k in row)) for row in rows}
    return {row for row in found if row[0] != row[-1]}


@numba.njit(cache=True)
def enumerate_below(
    values: Values, fits: Indices, size: int, limit: float, most: int
) -> Indices:  # pragma: no cover - compiled
    """All multisets of positions, not decreasing, whose mean value is below the limit; at most `most` + 1 of them."""
    rows = np.empty((64, size), dtype=np.int64)
    count = 0
    pick = np.zeros(size, dtype=np.int64)
    total = np.zeros(size + 1)
    depth = 0
    pick[0] = -1
    while depth >= 0 and count <= most:
        pick[depth] += 1
        k = pick[depth]
        if k >= len(values) or (total[depth] + values[k] * (size - depth)) / size >= limit:
            depth -= 1
            continue
        repeated = 1
        while repeated <= depth and pick[depth - repeated] == k:
            repeated += 1
        if repeated > fits[k]:
            continue
        total[depth + 1] = total[depth] + values[k]
        if depth == size - 1:
            if count == len(rows):
                larger = np.empty((2 * len(rows), size), dtype=np.int64)
                larger[:count] = rows
                rows = larger
            rows[count] = pick
            count += 1
        else:
            depth += 1
            pick[depth] = k - 1
    return rows[:count]
