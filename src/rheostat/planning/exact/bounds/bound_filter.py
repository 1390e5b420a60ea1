"""Filter of multisets by lower bounds: only those that can still improve on the incumbent are generated.

A multiset costs at least the mean over its nodes of their bounds in the node-level relaxation (`choice_levels`). Nodes
are taken in ascending order of that bound, so that whole branches of multisets are cut off before they are written
down. Along the path tighter bounds are known during generation (`multiset_generation`).
"""

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates, all_candidates, candidates_of_rows
from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import Bound, capacity_value
from rheostat.planning.exact.bounds.multiset_generation import PathCosts
from rheostat.planning.exact.bounds.path_bound import PathBound

MOST = 60_000
"""Limit on the multisets of one operator; beyond it the filter gives up."""


class TooMany(Exception):
    """Raised if more multisets remain than can be searched."""


def multisets_below(
    ground: PathCosts, values: list[Values], limit: float, most: int = MOST, clock: Deadline | None = None
) -> list[Candidates]:
    """For every operator the multisets whose bound is below the limit; raises TooMany if they are too many.

    `values[i][choice]` bounds F if operator i has a multiset in which the choice stands for one of the replicas.
    """
    found = []
    for i, table in enumerate(values):
        if clock is not None and clock.is_over():
            raise TooMany
        found.append(candidates_of_rows(ground.level.instance, i, _below(ground, i, table, (limit, most))))
    return found


def with_packed(level: NodeLevel, few: list[Candidates], values: list[Values], limit: float) -> list[Candidates]:
    """The given multisets, and all below a limit that use one node: with time alone weighed these are mostly best."""
    if not level.heavy or level.instance.problem.restriction:
        return few
    found = []
    for i, options in enumerate(few):
        rows = np.concatenate([options.nodes, _packed_below(level, i, values[i], limit)])
        found.append(candidates_of_rows(level.instance, i, np.unique(rows, axis=0)))
    return found


def _packed_below(level: NodeLevel, operator: int, values: Values, limit: float) -> Indices:
    packed = np.nonzero((values < limit) & ~level.spread[operator])[0]
    width = np.arange(level.instance.most_replicas)[None, :]
    nodes, replicas = level.nodes[operator][packed], level.replicas[operator][packed]
    return np.where(width < replicas[:, None], nodes[:, None], -1)


def graph_values(level: NodeLevel, bound: Bound) -> list[Values]:
    """Lower bound of F for every choice of every operator, by the messages under the prices."""
    spare = capacity_value(level.instance, bound.prices)
    return [marginal - spare for marginal in bound.messages.marginals()]


def path_values(level: NodeLevel, bound: PathBound, target: float) -> dict[int, Values]:
    """Lower bound of F for the choices of the operators on a path, by its dynamic program.

    Values at or above the target are only known to be so: nothing else may enter the mean over a multiset.
    """
    spare = capacity_value(level.instance, bound.prices) - float(bound.beside.sum())
    if target >= HUGE / 2:
        return {i: m - spare for i, m in zip(bound.path, bound.node_marginals(), strict=True)}
    found = bound.node_marginals(target + spare)
    return {i: np.minimum(m - spare, target) for i, m in zip(bound.path, found, strict=True)}


def _below(ground: PathCosts, operator: int, values: Values, within: tuple[float, int]) -> Indices:
    """Multisets below the limit: packed ones by their own choice, spread ones by their mean and by the path."""
    level, (limit, most) = ground.level, within
    instance, replicas = level.instance, level.replicas[operator]
    if instance.names[operator] in instance.problem.restriction:
        return _allowed_below(level, operator, values, limit)
    parts = [_packed_below(level, operator, values, limit)]
    for m in range(2, instance.most_replicas + 1):
        for here in range(1, m):
            kind = (replicas == m) & (level.here[operator] == here)
            at = np.nonzero(kind & (values < HUGE / 2))[0]
            if len(at):
                parts.append(_spread_below(ground, operator, (at, values[at], m), within))
        if sum(map(len, parts)) > most:
            raise TooMany
    rows = np.concatenate(parts)
    return np.asarray(rows[np.lexsort((*rows.T[::-1], (rows >= 0).sum(axis=1)))])


def _allowed_below(level: NodeLevel, operator: int, values: Values, limit: float) -> Indices:
    """Multisets below the limit if only a few are allowed, checked one by one; a removed choice is above any limit."""
    options = all_candidates(level.instance, operator)
    rows = level.choices_of(operator, options)
    bounds = np.where(rows >= 0, values[rows], np.inf) if len(values) else np.full(rows.shape, np.inf)
    mean = np.where(options.nodes >= 0, bounds, 0.0).sum(axis=1) / options.size
    return np.asarray(options.nodes[mean < limit])


def _spread_below(
    ground: PathCosts, operator: int, choices: tuple[Indices, Values, int], within: tuple[float, int]
) -> Indices:
    (_, _, m), (limit, most) = choices, within
    generate = ground.multisets_around if ground.level.heavy else ground.multisets_below
    rows = generate(operator, choices, min(limit, HUGE / 2), most)
    if len(rows) > most:
        raise TooMany
    found = np.sort(rows, axis=1)
    found = found[found[:, 0] != found[:, -1]]
    unused = ground.level.instance.most_replicas - m
    return np.hstack([found, np.full((len(found), unused), -1, dtype=np.int64)])
