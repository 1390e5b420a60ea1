"""Which multisets can still be part of something better? Only these are ever generated.

A multiset costs at least the mean over its nodes of what the node-level relaxation says of each (`levels`). Nodes are
taken in ascending order of that, so that whole branches of multisets are cut off before they are written down.
"""

import numba
import numpy as np

from rheostat.planning.candidates import Candidates, all_candidates, of_rows
from rheostat.planning.elimination import HUGE
from rheostat.planning.instance import Indices, Values
from rheostat.planning.lagrangian import Bound, room
from rheostat.planning.levels import NodeLevel
from rheostat.planning.path_bound import PathBound

MOST = 60_000
"""Multisets of one operator beyond which the search for them is given up."""


class TooMany(Exception):
    """More multisets survive than can be searched."""


def surviving(level: NodeLevel, values: list[Values], limit: float, most: int = MOST) -> list[Candidates]:
    """For every operator the multisets whose bound is below the limit; raises TooMany if they are too many.

    `values[i][choice]` bounds F if operator i has a multiset for one of whose replicas the choice stands.
    """
    chosen = [_below(level, i, table, (limit, most)) for i, table in enumerate(values)]
    return [of_rows(level.instance, i, rows) for i, rows in enumerate(chosen)]


def graph_values(level: NodeLevel, bound: Bound) -> list[Values]:
    """F at least, for every choice of every operator, by the prices' messages."""
    spare = room(level.instance, bound.prices)
    return [marginal - spare for marginal in bound.messages.marginals()]


def path_values(level: NodeLevel, bound: PathBound, target: float) -> dict[int, Values]:
    """The same for the operators on a path, by its dynamic program.

    Of what is not below the target no more is known than that: nothing else may enter the mean over a multiset.
    """
    spare = room(level.instance, bound.prices) - float(bound.beside.sum())
    if target >= HUGE / 2:
        return {i: m - spare for i, m in zip(bound.path, bound.node_marginals(), strict=True)}
    found = bound.node_marginals(target + spare)
    return {i: np.minimum(m - spare, target) for i, m in zip(bound.path, found, strict=True)}


def _below(level: NodeLevel, operator: int, values: Values, within: tuple[float, int]) -> Indices:
    """Packed multisets by their own choice, spread ones by the mean over their nodes."""
    instance, nodes, replicas = level.instance, level.nodes[operator], level.replicas[operator]
    limit, most = within
    if instance.names[operator] in instance.problem.restriction:
        return _allowed_below(level, operator, values, limit)
    packed = np.nonzero((values < limit) & ~level.spread[operator])[0]
    width = np.arange(instance.most_replicas)[None, :]
    parts = [np.where(width < replicas[packed][:, None], nodes[packed][:, None], -1)]
    for m in range(2, instance.most_replicas + 1):
        at = np.nonzero(level.spread[operator] & (replicas == m) & (values < HUGE / 2))[0]
        if len(at):
            parts.append(_spread_below(level, operator, (nodes[at], values[at], m), within))
        if sum(map(len, parts)) > most:
            raise TooMany
    rows = np.concatenate(parts)
    return np.asarray(rows[np.lexsort((*rows.T[::-1], (rows >= 0).sum(axis=1)))])


def _allowed_below(level: NodeLevel, operator: int, values: Values, limit: float) -> Indices:
    """Where only a few multisets are allowed, these are asked one by one; a choice that is gone is above any limit."""
    options = all_candidates(level.instance, operator)
    rows = level.choices_of(operator, options)
    bounds = np.where(rows >= 0, values[rows], np.inf) if len(values) else np.full(rows.shape, np.inf)
    mean = np.where(options.nodes >= 0, bounds, 0.0).sum(axis=1) / options.size
    return np.asarray(options.nodes[mean < limit])


def _spread_below(
    level: NodeLevel, operator: int, choices: tuple[Indices, Values, int], within: tuple[float, int]
) -> Indices:
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
    found = np.sort(nodes[order[rows]], axis=1)
    found = found[found[:, 0] != found[:, -1]]
    return np.hstack([found, np.full((len(found), instance.most_replicas - m), -1, dtype=np.int64)])


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
