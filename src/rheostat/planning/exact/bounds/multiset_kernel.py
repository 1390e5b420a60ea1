"""Compiled loops of `multiset_bound`: one operator as whole multisets, all others as single stand-in nodes."""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.path_kernel import PathWay


class Whole(NamedTuple):
    """Multisets of the operator at one position of a path."""

    position: int
    nodes: Indices
    """Nodes, a row per multiset, padded with -1."""
    stand_in: Indices
    """Their choices at this position, counted from its first."""
    need: int
    """Units of resources of a replica."""
    weight: float
    """Weight of a millisecond."""


@numba.njit(cache=True)
def stand_ins(nodes: Indices, size: Indices, index: Indices, heavy: bool) -> Indices:  # pragma: no cover - compiled
    """For every replica of every multiset the choice that stands for it, -1 after the last.

    `index` is [node, replicas of the multiset, replicas on the node]: all or 1, if they are on several nodes. A heavy
    one has the most of its multiset: it stands for its own replicas, and the first of them for all that are elsewhere.
    """
    found = np.full(nodes.shape, -1, dtype=np.int64)
    for row in range(len(nodes)):
        m, first, most, here = size[row], 0, 0, 0
        for k in range(m):
            # Equal nodes are next to each other.
            here = here + 1 if k > 0 and nodes[row, k] == nodes[row, k - 1] else 1
            if here > most:
                first, most = nodes[row, k], here
        if not heavy:
            for k in range(m):
                found[row, k] = index[nodes[row, k], m, m if most == m else 1]
            continue
        for k in range(m):
            here = 0
            for other in range(m):
                here += nodes[row, other] == nodes[row, k]
            found[row, k] = index[nodes[row, k] if here == most else first, m, most]
    return found


@numba.njit(cache=True)
def farthest_member(delay: Values, nodes: Indices, stand_in: Indices, out: Values) -> None:  # pragma: no cover
    """out[w, choice]: least delay from w to the farthest replica, over the multisets that a choice stands for."""
    for w in range(len(delay)):
        for row in range(len(nodes)):
            far = 0.0
            for k in range(nodes.shape[1]):
                if nodes[row, k] < 0:
                    break
                far = max(far, delay[w, nodes[row, k]])
            for k in range(nodes.shape[1]):
                if stand_in[row, k] < 0:
                    break
                out[w, stand_in[row, k]] = min(out[w, stand_in[row, k]], far)


@numba.njit(cache=True)
def _edge(
    pair: Values, delay: Values, choices: Indices, other: int, weight: float
) -> float:  # pragma: no cover - compiled
    """Cost of a stream between a whole multiset and a stand-in: the farthest replica, and the mean of the rest."""
    far, total, count = 0.0, 0.0, 0
    for k in range(len(choices)):
        c = choices[k]
        if c < 0:
            break
        far = max(far, delay[c, other])
        total += pair[c, other]
        count += 1
    return total / count + weight * far


@numba.njit(cache=True)
def _seen_from(network: Values, whole: Whole, row: int, seen: Values) -> float:  # pragma: no cover - compiled
    """Sets the least weighed delay to every node, by the farthest replica, and returns the least of these."""
    nearest = 1e30
    for v in range(len(seen)):
        far = 0.0
        for k in range(whole.nodes.shape[1]):
            u = whole.nodes[row, k]
            if u < 0:
                break
            far = max(far, network[u, v])
        seen[v] = whole.weight * far
        nearest = min(nearest, seen[v])
    return nearest


@numba.njit(cache=True)
def _units(whole: Whole, row: int, node: int) -> int:  # pragma: no cover - compiled
    units = 0
    for k in range(whole.nodes.shape[1]):
        if whole.nodes[row, k] == node:
            units += whole.need
    return units


@numba.njit(cache=True)
def _fits_after(w: PathWay, i: int, code: int, whole: Whole, row: int) -> bool:  # pragma: no cover - compiled
    """Whether a multiset has room beside the remembered use of a stand-in before it."""
    u = w.node[i]
    for k in range(whole.nodes.shape[1]):
        v = whole.nodes[row, k]
        if v < 0:
            break
        at = w.slot_of[u, v]
        if at >= 0:
            taken = (code // w.stride[u, at]) % w.radix[u, at]
            if taken + _units(whole, row, v) > w.room[v]:
                return False
    return True


@numba.njit(cache=True)
def before_multisets(
    w: PathWay, so_far: Values, whole: Whole, tables: tuple[Values, Values, Values], most: Values
) -> Values:  # pragma: no cover - compiled
    """Least cost up to every multiset, without its own, or `most` if not below that.

    `tables` are the terms of a stream and its delay, [choice here, choice before], and the delay between nodes, [here,
    before].
    """
    pair, delay, network = tables
    first, last = w.start[whole.position - 1], w.start[whole.position]
    least = np.empty(last - first)
    base = w.values[first]
    ascending = np.empty(w.values[last] - base, dtype=np.int64)
    for i in range(first, last):
        codes = np.argsort(so_far[w.values[i] : w.values[i + 1]])
        ascending[w.values[i] - base : w.values[i + 1] - base] = codes
        least[i - first] = so_far[w.values[i] + codes[0]]
    order = np.argsort(least)
    found, seen = most.copy(), np.empty(len(w.room))
    for row in range(len(whole.nodes)):
        best = most[row]
        nearest = _seen_from(network, whole, row, seen)
        for b in order:
            if least[b] + nearest >= best:
                break
            i = first + b
            if least[b] + seen[w.node[i]] >= best:
                continue
            edge = max(seen[w.node[i]], _edge(pair, delay, whole.stand_in[row], b, whole.weight))
            if least[b] + edge >= best:
                continue
            for at in range(w.values[i] - base, w.values[i + 1] - base):
                here = so_far[w.values[i] + ascending[at]] + edge
                if here >= best:
                    break
                if _fits_after(w, i, ascending[at], whole, row):
                    best = here
        found[row] = best
    return found


@numba.njit(cache=True)
def after_multisets(
    w: PathWay, value: Values, whole: Whole, tables: tuple[Values, Values, Values], most: Values
) -> Values:  # pragma: no cover - compiled
    """Least cost after every multiset; `tables` are [here, next]."""
    pair, delay, network = tables
    first, last = w.start[whole.position + 1], w.start[whole.position + 2]
    least = np.empty(last - first)
    for j in range(first, last):
        least[j - first] = w.own[j] + value[w.values[j]]
    order = np.argsort(least)
    found, seen = most.copy(), np.empty(len(w.room))
    used = np.zeros(len(w.room), dtype=np.int64)
    for row in range(len(whole.nodes)):
        best = most[row]
        nearest = _seen_from(network, whole, row, seen)
        _counted(whole, row, used, whole.need)
        for b in order:
            if least[b] + nearest >= best:
                break
            j = first + b
            v = w.node[j]
            if least[b] + seen[v] >= best:
                continue
            edge = max(seen[v], _edge(pair, delay, whole.stand_in[row], b, whole.weight))
            if least[b] + edge >= best or w.need[j] + used[v] > w.room[v]:
                continue
            code = 0
            for g in range(w.near.shape[1]):
                x = w.near[v, g]
                if x < 0:
                    break
                taken = used[x] + (w.need[j] if g == 0 else 0)
                code += min(taken, w.radix[v, g] - 1) * w.stride[v, g]
            best = min(best, w.own[j] + edge + value[w.values[j] + code])
        _counted(whole, row, used, -whole.need)
        found[row] = best
    return found


@numba.njit(cache=True)
def _counted(whole: Whole, row: int, used: Indices, units: int) -> None:  # pragma: no cover - compiled
    """Adds the resources of a multiset to the use of its nodes, or subtracts them."""
    for k in range(whole.nodes.shape[1]):
        u = whole.nodes[row, k]
        if u < 0:
            break
        used[u] += units
