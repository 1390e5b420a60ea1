"""Compiled loops of `path_bound`: dynamic programming along one path, with the used capacity of nearby nodes.

A state is (position, node, code). The code holds, for the nodes in the neighbourhood of the current one, how much of
each the path has taken so far, as digits of a mixed-radix number; nodes outside the neighbourhood are forgotten (the
ng-routes of vehicle routing). Forgetting only relaxes the problem, so all values are lower bounds.
"""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Indices, Values

HUGE = 1e15


class PathWay(NamedTuple):
    """Path of operators with its costs and the layout of the memory."""

    start: Indices
    """Candidates of position p are start[p] up to start[p + 1] in `node`."""
    node: Indices
    own: Values
    """Cost of a candidate by itself."""
    between: Indices
    """Offset in `tables` of the costs from position p to p + 1, a row per candidate of p."""
    tables: Values
    need: Indices
    """Units of its node that a candidate takes."""
    room: Indices
    """Units of every node."""
    near: Indices
    """[u, slot]: the neighbourhood of u, itself first; -1 after the last."""
    radix: Indices
    """[u, slot]: number of values of a slot, room + 1."""
    stride: Indices
    codes: Indices
    """Number of codes of every node."""
    slot_of: Indices
    """[u, v]: slot of v in the neighbourhood of u, -1 if it is outside."""
    values: Indices
    """Offset of the values of a candidate, by its position in `node`."""


@numba.njit(cache=True)
def carried_codes(
    near: Indices, radix: Indices, stride: Indices, slot_of: Indices, codes: Indices
) -> Indices:  # pragma: no cover - compiled
    """[u, v, code]: memory at v after a code at u, tabulated because it is used very often."""
    size = len(near)
    table = np.zeros((size, size, codes.max()), dtype=np.int64)
    for u in range(size):
        for v in range(size):
            for g in range(near.shape[1]):
                if near[v, g] < 0:
                    break
                at = slot_of[u, near[v, g]]
                if at >= 0:
                    for code in range(codes[u]):
                        table[u, v, code] += ((code // stride[u, at]) % radix[u, at]) * stride[v, g]
    return table


@numba.njit(cache=True)
def code_after(w: PathWay, carried: Indices, u: int, code: int, j: int) -> int:  # pragma: no cover - compiled
    """The code at candidate j after the step from u; -1 if its node is full."""
    v = w.node[j]
    kept = carried[u, v, code]
    # A node is the first of its own neighbourhood, so its digit is the lowest.
    if kept % w.radix[v, 0] + w.need[j] > w.room[v]:
        return -1
    return int(kept + w.need[j])


_FIRST = 16
"""Number of most promising candidates that are tried first."""


@numba.njit(cache=True)
def backward(w: PathWay, carried: Indices) -> Values:  # pragma: no cover - compiled
    """Least cost after every state, without its own cost."""
    positions = len(w.start) - 1
    value = np.zeros(w.values[-1])
    for p in range(positions - 2, -1, -1):
        first, width = w.start[p + 1], w.start[p + 2] - w.start[p + 1]
        least = np.empty(width)
        for b in range(width):
            # More use never costs less, so the code of an empty neighbourhood has the least value.
            least[b] = w.own[first + b] + value[w.values[first + b]]
        for i in range(w.start[p], w.start[p + 1]):
            row = w.between[p] + (i - w.start[p]) * width
            _after_candidate(w, carried, value, (i, row, first), least + w.tables[row : row + width])
    return value


@numba.njit(cache=True)
def _after_candidate(
    w: PathWay, carried: Indices, value: Values, where: tuple[int, int, int], ahead: Values
) -> None:  # pragma: no cover - compiled
    """Computes the values of all codes of a candidate; `ahead` bounds the cost through each next candidate."""
    i, row, first = where
    width = len(ahead)
    limit = HUGE
    order = np.arange(width)
    if width > _FIRST:
        limit = np.partition(ahead, _FIRST)[_FIRST]
        order = np.nonzero(ahead <= limit)[0]
    order = order[np.argsort(ahead[order])]
    digits, need = w.radix[w.node[i], 0], w.need[i]
    for code in range(w.codes[w.node[i]]):
        # The candidate itself is on its node: with less use of it the rest costs as much as with its own need.
        if code % digits < need < digits:
            continue
        best = _best_next(w, (carried, value), (i, code, row, first), ahead, order)
        if best > limit and len(order) < width:
            best = _best_next(w, (carried, value), (i, code, row, first), ahead, np.argsort(ahead))
        value[w.values[i] + code] = best
    for code in range(w.codes[w.node[i]]):
        if code % digits < need < digits:
            value[w.values[i] + code] = value[w.values[i] + code - code % digits + need]


@numba.njit(cache=True)
def _best_next(
    w: PathWay, known: tuple[Indices, Values], state: tuple[int, int, int, int], ahead: Values, order: Indices
) -> float:  # pragma: no cover - compiled
    (carried, value), (i, code, row, first) = known, state
    best = HUGE
    for b in order:
        if ahead[b] >= best:
            break
        j = first + b
        after = code_after(w, carried, w.node[i], code, j)
        if after >= 0:
            best = min(best, w.tables[row + b] + w.own[j] + value[w.values[j] + after])
    return best


@numba.njit(cache=True)
def marginals(
    w: PathWay, carried: Indices, value: Values, limit: float
) -> tuple[Values, Values]:  # pragma: no cover - compiled
    """Least cost of a whole path through every candidate, and least cost up to every state, including its own.

    States that no path below the limit goes through are left out: their values are HUGE.
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
                    after = code_after(w, carried, u, code, j)
                    if after >= 0:
                        cell = w.values[j] + after
                        so_far[cell] = min(so_far[cell], here + w.tables[row + b] + w.own[j])
    return found, so_far


@numba.njit(cache=True)
def best_way(w: PathWay, carried: Indices, value: Values) -> tuple[float, Indices]:  # pragma: no cover - compiled
    """The least cost of a path and a candidate per position that attains it; HUGE if there is none."""
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
            after = code_after(w, carried, u, code, j)
            if after >= 0:
                here = w.tables[row + b] + w.own[j] + value[w.values[j] + after]
                if here < best:
                    best, next_code = here, after
                    chosen[p + 1] = j
        code = next_code
    return least, chosen
