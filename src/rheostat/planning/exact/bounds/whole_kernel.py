"""Compiled loops of `whole_path`: dynamic programming along one path from multiset to multiset.

Neighbours on the path meet with all their replicas: the farthest pair counts, and both must have room. The part beyond
the neighbour has two bounds, its own value and the stand-ins' memory of full nodes; the greater counts.
"""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.path_kernel import PathWay


class Links(NamedTuple):
    """Costs between two nodes."""

    delay: Values
    """Delay times the weight of a millisecond."""
    rate_terms: Values
    pair_terms: Values


class MultisetChain(NamedTuple):
    """Multisets of all positions of a path, one position after the other."""

    start: Indices
    """Multisets of position p are start[p] up to start[p + 1]."""
    nodes: Indices
    """Nodes, a row per multiset, padded with -1."""
    size: Indices
    own: Values
    """Cost of a multiset by itself."""
    stand_in: Indices
    """[row, replica]: the path's candidate that stands for it."""
    need: Indices
    """Units of resources of a replica, by position."""
    rate: Values
    """Rate of the stream that leaves a position."""
    hop: Values
    """[position, 0 or 1]: milliseconds of a hop to the next position, with other nodes or with the same."""
    links: Links
    weight: float
    """Weight of a millisecond."""


@numba.njit(cache=True)
def _seen_from(
    c: MultisetChain, row: int, position: int, forward: bool, seen: Values
) -> float:  # pragma: no cover - compiled
    """Sets seen[0, v] to the farthest replica's delay, [1, v] to the mean tuple cost, [2, v] to links; their least."""
    least = 1e30
    for v in range(seen.shape[1]):
        far, total, log = 0.0, 0.0, 0.0
        for k in range(c.size[row]):
            u = c.nodes[row, k]
            a, b = (u, v) if forward else (v, u)
            far = max(far, c.links.delay[a, b])
            total += c.links.rate_terms[a, b]
            log += c.links.pair_terms[a, b]
        seen[0, v], seen[1, v], seen[2, v] = far, c.rate[position] * total / c.size[row], log
        least = min(least, far + seen[1, v] + min(log, 0.0) * c.nodes.shape[1])
    return least


@numba.njit(cache=True)
def _between(
    c: MultisetChain, rows: tuple[int, int], position: int, seen: Values
) -> float:  # pragma: no cover - compiled
    """Cost of a stream between the multiset described by `seen` and another one."""
    row, other = rows
    far, total, log = 0.0, 0.0, 0.0
    same = c.size[row] == c.size[other]
    for k in range(c.size[other]):
        v = c.nodes[other, k]
        far = max(far, seen[0, v])
        total += seen[1, v]
        log += seen[2, v]
        same = same and c.nodes[row, k] == v
    hop = c.hop[position, 1] if same else c.hop[position, 0]
    return float(far + total / c.size[other] + log + c.weight * hop)


@numba.njit(cache=True)
def _farthest(c: MultisetChain, other: int, seen: Values) -> float:  # pragma: no cover - compiled
    """Delay of the farthest replica of another multiset: most pairs are already excluded by it."""
    far = 0.0
    for k in range(c.size[other]):
        far = max(far, seen[0, c.nodes[other, k]])
    return far


@numba.njit(cache=True)
def _has_room(w: PathWay, c: MultisetChain, row: int, need: int, used: Indices) -> bool:  # pragma: no cover - compiled
    """Whether a multiset fits beside the present use; adds its resources to the use in any case."""
    fits = True
    for k in range(c.size[row]):
        u = c.nodes[row, k]
        used[u] += need
        fits = fits and used[u] <= w.room[u]
    return fits


@numba.njit(cache=True)
def _freed(c: MultisetChain, row: int, need: int, used: Indices) -> None:  # pragma: no cover - compiled
    for k in range(c.size[row]):
        used[c.nodes[row, k]] -= need


@numba.njit(cache=True)
def _remembered(
    w: PathWay, after: Values, c: MultisetChain, row: int, used: Indices
) -> float:  # pragma: no cover - compiled
    """Lower bound of the cost after a multiset, by its stand-ins, given the use of the nodes nearby."""
    rest = 0.0
    for k in range(c.size[row]):
        u, code = w.node[c.stand_in[row, k]], 0
        for g in range(w.near.shape[1]):
            v = w.near[u, g]
            if v < 0:
                break
            code += min(used[v], w.radix[u, g] - 1) * w.stride[u, g]
        rest += after[w.values[c.stand_in[row, k]] + code]
    return float(rest / c.size[row])


@numba.njit(cache=True)
def _lowest_besides_delay(c: MultisetChain) -> float:  # pragma: no cover - compiled
    """Lower bound of a stream's terms without its delay; 0 unless some term is negative."""
    pairs = c.nodes.shape[1] * c.nodes.shape[1]
    return float(min(0.0, c.links.pair_terms.min()) * pairs + min(0.0, c.links.rate_terms.min() * c.rate.max()))


@numba.njit(cache=True)
def rest_of_multisets(
    w: PathWay, after: Values, c: MultisetChain, position: int, known: tuple[Values, Values]
) -> Values:  # pragma: no cover - compiled
    """Least cost after every multiset of a position, or `most` if not below that."""
    later, most = known
    first, last = c.start[position + 1], c.start[position + 2]
    base = c.own[first:last] + later
    order = np.argsort(base)
    seen, used, found = np.empty((3, len(w.room))), np.zeros(len(w.room), dtype=np.int64), most.copy()
    lowest = _lowest_besides_delay(c)
    for at in range(len(most)):
        row, best = c.start[position] + at, most[at]
        least = _seen_from(c, row, position, True, seen)
        _has_room(w, c, row, c.need[position], used)
        for b in order:
            if base[b] + least >= best:
                break
            other = first + b
            if base[b] + _farthest(c, other, seen) + lowest >= best:
                continue
            cost = c.own[other] + _between(c, (row, other), position, seen)
            if cost + later[b] >= best:
                continue
            if _has_room(w, c, other, c.need[position + 1], used):
                best = min(best, cost + max(later[b], _remembered(w, after, c, other, used)))
            _freed(c, other, c.need[position + 1], used)
        _freed(c, row, c.need[position], used)
        found[at] = best
    return found


@numba.njit(cache=True)
def cost_up_to_multisets(
    w: PathWay, c: MultisetChain, position: int, known: tuple[Values, Values]
) -> Values:  # pragma: no cover - compiled
    """Least cost up to every multiset of a position, without its own, or `most` if not below that."""
    before, most = known
    first, last = c.start[position - 1], c.start[position]
    base = c.own[first:last] + before
    order = np.argsort(base)
    seen, used, found = np.empty((3, len(w.room))), np.zeros(len(w.room), dtype=np.int64), most.copy()
    lowest = _lowest_besides_delay(c)
    for at in range(len(most)):
        row, best = c.start[position] + at, most[at]
        least = _seen_from(c, row, position - 1, False, seen)
        _has_room(w, c, row, c.need[position], used)
        for b in order:
            if base[b] + least >= best:
                break
            other = first + b
            if base[b] + _farthest(c, other, seen) + lowest >= best:
                continue
            cost = base[b] + _between(c, (row, other), position - 1, seen)
            if cost >= best:
                continue
            if _has_room(w, c, other, c.need[position - 1], used):
                best = cost
            _freed(c, other, c.need[position - 1], used)
        _freed(c, row, c.need[position], used)
        found[at] = best
    return found
