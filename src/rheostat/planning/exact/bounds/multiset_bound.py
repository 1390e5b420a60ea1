"""Lower bound of a whole multiset, with single nodes standing in for the other operators on the path.

The mean over its nodes (`bound_filter`) ignores that neighbours wait for the farthest of them. Here a multiset meets
the stand-ins before and after it with all its replicas: the farthest counts, and all its room is taken.
"""

import itertools

import numpy as np

from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import capacity_value
from rheostat.planning.exact.bounds.multiset_kernel import Whole, after_multisets, before_multisets
from rheostat.planning.exact.bounds.path_bound import PathBound, units
from rheostat.planning.exact.bounds.path_kernel import marginals
from rheostat.planning.exact.bounds.whole_path import Remaining, own_costs


def promising_multisets(level: NodeLevel, bound: PathBound, candidates: list[Candidates], goal: float) -> Remaining:
    """The multisets with which F can be below the goal, without downtime and constant."""
    instance, prices = level.instance, bound.prices
    spare = capacity_value(instance, prices) - float(bound.beside.sum())
    weight = float(instance.coefficients.response + prices.response)
    need = units(instance)[0]
    limit = goal + spare if goal < HUGE / 2 else HUGE
    _, so_far = marginals(bound.way, bound.carried, bound.after, limit)
    stream = {(i, j): e for e, (i, j) in enumerate(instance.edges.tolist())}
    ways = [stream[ends] for ends in itertools.pairwise(bound.path)]
    # Least cost before a stand-in; HUGE if no path through it is below the limit.
    reached = np.minimum.reduceat(so_far, bound.way.values[:-1]) - bound.way.own
    known = Remaining.unknown(list(candidates))
    for position, i in enumerate(bound.path):
        left = np.minimum(goal, HUGE / 2) + spare - own_costs(instance, i, candidates[i], prices)
        if position + 1 < len(bound.path):
            rows = level.choices_of(i, candidates[i])
            most = np.maximum(left - _mean(reached[bound.way.start[position] :], rows), 0.0)
            whole = Whole(position, candidates[i].nodes, rows, int(need[i]), weight)
            tables = _tables(level, ways[position], turned=False)
            known.after[i] = after_multisets(bound.way, bound.after, whole, tables, most)
            left = left[known.after[i] < most]
            known.keep(i, known.after[i], most)
        if position > 0:
            options = known.candidates[i]
            whole = Whole(position, options.nodes, level.choices_of(i, options), int(need[i]), weight)
            tables = _tables(level, ways[position - 1], turned=True)
            most = np.maximum(left - known.after[i], 0.0)
            known.before[i] = before_multisets(bound.way, so_far, whole, tables, most)
            known.keep(i, known.before[i], most)
    return known


def _mean(values: Values, rows: Indices) -> Values:
    """Mean of the stand-ins' values over the replicas of every multiset."""
    present = rows >= 0
    return np.asarray(np.where(present, values[rows], 0.0).sum(axis=1) / np.maximum(present.sum(axis=1), 1))


def _tables(level: NodeLevel, stream: int, *, turned: bool) -> tuple[Values, Values, Values]:
    """Terms and delays of a stream, a row per choice of the whole multiset's end; then the network's delays."""
    pair, delay = level.pair(stream), level.delay(stream)
    network = level.instance.problem.infrastructure.network.delay_ms
    found = (pair.T, delay.T, network.T) if turned else (pair, delay, network)
    return np.array(found[0], order="C"), np.array(found[1], order="C"), np.array(found[2], order="C")
