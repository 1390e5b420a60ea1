"""The hot loops of `path_bound`: dynamic programming along one path that remembers how full the nodes nearby are.

A state is (position, node, code). The code holds, for the nodes in the neighbourhood of the current one, how much of
each the path has taken so far, as digits of a mixed-radix number; what lies outside the neighbourhood is forgotten
(the ng-routes of vehicle routing). Forgetting only helps, so that all values are lower bounds.
"""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.instance import Indices, Values

HUGE = 1e15


class Way(NamedTuple):
    """A path of operators, its costs, and what is remembered."""

    start: Indices
    """Candidates of position p are start[p] up to start[p + 1] in `node`."""
    node: Indices
    own: Values
    """Cost of a candidate by itself."""
    between: Indices
    """Where the table of costs from position p to p + 1 starts in `tables`, a row per candidate of p."""
    tables: Values
    need: Indices
    """Units of its node that a candidate takes."""
    room: Indices
    """Units of every node."""
    near: Indices
    """[u, slot]: the neighbourhood of u, itself first; -1 after the last."""
    radix: Indices
    """[u, slot]: digits of a slot, room + 1."""
    stride: Indices
    codes: Indices
    """Number of codes of every node."""
    slot_of: Indices
    """[u, v]: slot of v in the neighbourhood of u, -1 if it is outside."""
    values: Indices
    """Where the values of a candidate start, by its position in `node`."""


@numba.njit(cache=True)
def moved(w: Way, u: int, code: int, v: int, need: int) -> int:  # pragma: no cover - compiled
    """The code at v after going there from u; -1 if v is full."""
    at = w.slot_of[u, v]
    taken = need
    if at >= 0:
        taken += (code // w.stride[u, at]) % w.radix[u, at]
    if taken > w.room[v]:
        return -1
    result = taken * w.stride[v, 0]
    for g in range(1, w.near.shape[1]):
        x = w.near[v, g]
        if x < 0:
            break
        at = w.slot_of[u, x]
        if at >= 0:
            result += ((code // w.stride[u, at]) % w.radix[u, at]) * w.stride[v, g]
    return int(result)


_FIRST = 16
"""Candidates that are tried first, the most promising ones."""


@numba.njit(cache=True)
def backward(w: Way) -> Values:  # pragma: no cover - compiled
    """Least cost after every state, its own cost not included."""
    positions = len(w.start) - 1
    value = np.zeros(w.values[-1])
    for p in range(positions - 2, -1, -1):
        first, width = w.start[p + 1], w.start[p + 2] - w.start[p + 1]
        least = np.empty(width)
        for b in range(width):
            # More taken never costs less, so the code of an empty neighbourhood is the least of all.
            least[b] = w.own[first + b] + value[w.values[first + b]]
        for i in range(w.start[p], w.start[p + 1]):
            row = w.between[p] + (i - w.start[p]) * width
            _after_candidate(w, value, i, (row, first), least + w.tables[row : row + width])
    return value


@numba.njit(cache=True)
def _after_candidate(
    w: Way, value: Values, i: int, where: tuple[int, int], ahead: Values
) -> None:  # pragma: no cover - compiled
    """Values of all codes of a candidate; `ahead` bounds the cost by way of each candidate next."""
    row, first = where
    width = len(ahead)
    limit = HUGE
    order = np.arange(width)
    if width > _FIRST:
        limit = np.partition(ahead, _FIRST)[_FIRST]
        order = np.nonzero(ahead <= limit)[0]
    order = order[np.argsort(ahead[order])]
    for code in range(w.codes[w.node[i]]):
        best = _best_next(w, value, (i, code, row, first), ahead, order)
        if best > limit and len(order) < width:
            best = _best_next(w, value, (i, code, row, first), ahead, np.argsort(ahead))
        value[w.values[i] + code] = best


@numba.njit(cache=True)
def _best_next(
    w: Way, value: Values, state: tuple[int, int, int, int], ahead: Values, order: Indices
) -> float:  # pragma: no cover - compiled
    i, code, row, first = state
    best = HUGE
    for b in order:
        if ahead[b] >= best:
            break
        j = first + b
        after = moved(w, w.node[i], code, w.node[j], w.need[j])
        if after >= 0:
            best = min(best, w.tables[row + b] + w.own[j] + value[w.values[j] + after])
    return best


@numba.njit(cache=True)
def marginals(w: Way, value: Values, limit: float) -> tuple[Values, Values]:  # pragma: no cover - compiled
    """Least cost of a whole path through every candidate, and least cost up to every state, its own included.

    States through which no path is below the limit are left out: theirs is HUGE.
    """
    positions = len(w.start) - 1
    so_far = np.full(len(value), HUGE)
    found = np.full(len(w.node), HUGE)
    for i in range(w.start[0], w.start[1]):
        u = w.node[i]
        if w.need[i] <= w.room[u]:
            so_far[w.values[i] + w.need[i] * w.stride[u, 0]] = w.own[i]
    for p in range(positions):
        for i in range(w.start[p], w.start[p + 1]):
            u = w.node[i]
            for code in range(w.codes[u]):
                here = so_far[w.values[i] + code]
                if here + value[w.values[i] + code] >= limit:
                    continue
                found[i] = min(found[i], here + value[w.values[i] + code])
                if p == positions - 1:
                    continue
                width = w.start[p + 2] - w.start[p + 1]
                row = w.between[p] + (i - w.start[p]) * width
                for b in range(width):
                    j = w.start[p + 1] + b
                    after = moved(w, u, code, w.node[j], w.need[j])
                    if after >= 0:
                        cell = w.values[j] + after
                        so_far[cell] = min(so_far[cell], here + w.tables[row + b] + w.own[j])
    return found, so_far


@numba.njit(cache=True)
def best_way(w: Way, value: Values) -> tuple[float, Indices]:  # pragma: no cover - compiled
    """The least cost of a path, and a candidate per position that attains it; HUGE if there is none."""
    positions = len(w.start) - 1
    chosen = np.full(positions, -1, dtype=np.int64)
    least, code = HUGE, 0
    for i in range(w.start[0], w.start[1]):
        u = w.node[i]
        if w.need[i] <= w.room[u]:
            first = w.need[i] * w.stride[u, 0]
            if w.own[i] + value[w.values[i] + first] < least:
                least, code = w.own[i] + value[w.values[i] + first], first
                chosen[0] = i
    if least >= HUGE:
        return HUGE, chosen
    for p in range(positions - 1):
        i = chosen[p]
        u = w.node[i]
        width = w.start[p + 2] - w.start[p + 1]
        row = w.between[p] + (i - w.start[p]) * width
        best, next_code = HUGE, -1
        for b in range(width):
            j = w.start[p + 1] + b
            after = moved(w, u, code, w.node[j], w.need[j])
            if after >= 0:
                here = w.tables[row + b] + w.own[j] + value[w.values[j] + after]
                if here < best:
                    best, next_code = here, after
                    chosen[p + 1] = j
        code = next_code
    return least, chosen
