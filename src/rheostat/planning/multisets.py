"""What does a multiset cost at least, taken whole, if everybody else on the path is one node that stands for theirs?

The mean over its nodes of what each says (`filtering`) forgets that neighbours wait for the farthest of them. Here a
multiset meets the stand-ins before and after it with all its replicas: the farthest counts, and all its room is taken.
"""

import itertools

import numpy as np

from rheostat.planning.candidates import Candidates
from rheostat.planning.elimination import HUGE
from rheostat.planning.instance import Instance, Values
from rheostat.planning.lagrangian import room
from rheostat.planning.levels import NodeLevel, Prices
from rheostat.planning.multiset_kernel import Whole, after_multisets, before_multisets
from rheostat.planning.path_bound import PathBound, units
from rheostat.planning.path_kernel import marginals


def worthwhile(level: NodeLevel, bound: PathBound, candidates: list[Candidates], goal: float) -> list[Candidates]:
    """The multisets with which F can be below the goal, downtime and constant not included."""
    instance, prices = level.instance, bound.prices
    spare = room(instance, prices) - float(bound.beside.sum())
    weight = float(instance.coefficients.response + prices.response)
    need = units(instance)[0]
    limit = goal + spare if goal < HUGE / 2 else HUGE
    _, so_far = marginals(bound.way, bound.carried, bound.after, limit)
    stream = {(i, j): e for e, (i, j) in enumerate(instance.edges.tolist())}
    ways = [stream[ends] for ends in itertools.pairwise(bound.path)]
    kept = list(candidates)
    for position, i in enumerate(bound.path):
        options = candidates[i]
        whole = Whole(position, options.nodes, level.choices_of(i, options), int(need[i]), weight)
        left = np.minimum(goal, HUGE / 2) + spare - _own(instance, i, options, prices)
        most, total = np.maximum(left, 0.0), np.zeros(len(options))
        if position + 1 < len(bound.path):
            tables = _tables(level, ways[position], turned=False)
            total = after_multisets(bound.way, bound.after, whole, tables, most)
        if position > 0:
            tables = _tables(level, ways[position - 1], turned=True)
            total = total + before_multisets(bound.way, so_far, whole, tables, most - total)
        kept[i] = options.rows(np.nonzero(total < left)[0])
    return kept


def _own(instance: Instance, operator: int, options: Candidates, prices: Prices) -> Values:
    """What a multiset costs by itself: R, replicas, and its room."""
    weight = instance.coefficients.response + prices.response
    price = np.where(options.nodes >= 0, prices.capacity[options.nodes], 0.0).sum(axis=1)
    return np.asarray(weight * options.latency + options.term + price * instance.resources[operator])


def _tables(level: NodeLevel, stream: int, *, turned: bool) -> tuple[Values, Values]:
    """What a stream adds to F and its delay, a row per choice of the end that is taken whole."""
    pair, delay = level.pair(stream), level.delay(stream)
    return (pair.T.copy(), delay.T.copy()) if turned else (pair.copy(), delay.copy())
