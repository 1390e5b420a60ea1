"""Compiled loops of `multiset_generation`: multisets grow replica by replica, each part with a path bound."""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Flags, Indices, Values


class Side(NamedTuple):
    """Stand-ins next to an operator on one side, cheapest first; empty at an end of the path."""

    least: Values
    """Cost of the path up to (or from) each stand-in, including its own."""
    delay: Values
    """[choice here, stand-in]: weighed delay of the stream between them."""
    pair: Values
    """[choice here, stand-in]: other terms of the stream."""
    least_pair: Values
    """[stand-in]: the least of these terms over all choices here."""


class SpreadChoices(NamedTuple):
    """Choices of an operator for spread multisets of one size, in ascending order of `values`."""

    values: Values
    """Known lower bound of F with each choice as a member; the mean over a multiset bounds it."""
    own: Values
    """Cost of each by itself."""
    fits: Indices
    """Number of replicas that fit on its node."""
    least: int
    """Least number of replicas on the node with most of them."""
    before: Side
    after: Side


@numba.njit(cache=True)
def _beside(side: Side, members: Indices, many: int, size: int, most: float) -> float:  # pragma: no cover - compiled
    """Least cost on one side of a multiset of which some members are known, or `most` if it is not below that."""
    best = most
    for a in range(len(side.least)):
        if side.least[a] >= best:
            break
        far, total = 0.0, (size - many) * side.least_pair[a]
        for k in range(many):
            far = max(far, side.delay[members[k], a])
            total += side.pair[members[k], a]
        best = min(best, side.least[a] + far + total / size)
    return best


@numba.njit(cache=True)
def _compatible_pairs(soil: SpreadChoices, size: int, dear: float) -> Flags:  # pragma: no cover - compiled
    """[choice, choice]: whether the path could afford a multiset with both. Most parts fail by a pair."""
    count, members = len(soil.own), np.zeros(2, dtype=np.int64)
    together = np.ones((count, count), dtype=np.bool_)
    least_own = soil.own.min() if count else 0.0
    for k in range(count):
        for other in range(k + 1):
            members[0], members[1] = k, other
            left = dear - (soil.own[k] + soil.own[other] + (size - 2) * least_own) / size
            if len(soil.before.least):
                left -= _beside(soil.before, members, 2, size, max(left, 0.0))
            fits = left > 0.0
            if fits and len(soil.after.least):
                fits = _beside(soil.after, members, 2, size, left) < left
            together[k, other] = together[other, k] = fits
    return together


@numba.njit(cache=True)
def _with_all(together: Flags, pick: Indices, depth: int) -> bool:  # pragma: no cover - compiled
    """Whether the last of the picked choices can be combined with each before it."""
    fits = True
    for before in range(depth):
        fits = fits and together[pick[before], pick[depth]]
    return fits


class Near(NamedTuple):
    """Stand-ins on one side that a partial multiset can still afford, a row per number of members."""

    at: Indices
    far: Values
    """Weighed delay to the farthest member."""
    pair: Values
    """Other terms of the streams of all members."""
    left: Indices
    """Number of stand-ins."""


@numba.njit(cache=True)
def _all_near(side: Side, size: int) -> Near:  # pragma: no cover - compiled
    """State of a side before any node is a member."""
    shape = (size + 1, len(side.least))
    near = Near(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape), np.zeros(size + 1, dtype=np.int64))
    near.at[0, :] = np.arange(len(side.least))
    near.left[0] = len(side.least)
    return near


@numba.njit(cache=True)
def _with_member(
    side: Side, near: Near, member: tuple[int, int], size: int, most: float
) -> float:  # pragma: no cover - compiled
    """Least cost on one side with one more member, `most` if not below that; too distant stand-ins are dropped.

    The cost of a stand-in never falls while a multiset grows, and `most` never rises.
    """
    (k, many), best, count = member, most, 0
    for r in range(near.left[many - 1]):
        a = near.at[many - 1, r]
        if side.least[a] >= most:
            break
        far, pair = max(near.far[many - 1, r], side.delay[k, a]), near.pair[many - 1, r] + side.pair[k, a]
        cost = side.least[a] + far + (pair + (size - many) * side.least_pair[a]) / size
        if cost < most:
            near.at[many, count], near.far[many, count], near.pair[many, count] = a, far, pair
            count += 1
            best = min(best, cost)
    near.left[many] = count
    return best


@numba.njit(cache=True)
def generate_below(
    soil: SpreadChoices, size: int, limits: tuple[float, float], most: int
) -> Indices:  # pragma: no cover - compiled
    """All multisets of choices, in ascending order, that are below both limits; at most `most` + 1 of them.

    The limits apply to the mean over `values`, and to the cost of the path. The delay of a part never exceeds that of
    the whole: a part that costs too much stays so, however it grows.
    """
    limit, dear = limits
    together = _compatible_pairs(soil, size, dear)
    rows = np.empty((64, size), dtype=np.int64)
    count, depth = 0, 0
    pick = np.zeros(size, dtype=np.int64)
    total, own, after = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    before_near, after_near = _all_near(soil.before, size), _all_near(soil.after, size)
    heaviest = np.zeros(size + 1, dtype=np.int64)
    least_own = soil.own.min() if len(soil.own) else 0.0
    pick[0] = -1
    while depth >= 0 and count <= most:
        pick[depth] += 1
        k = pick[depth]
        if k >= len(soil.values) or (total[depth] + soil.values[k] * (size - depth)) / size >= limit:
            depth -= 1
            continue
        repeated = 1
        while repeated <= depth and pick[depth - repeated] == k:
            repeated += 1
        many = depth + 1
        heaviest[many] = max(heaviest[depth], repeated)
        # The last choice can still be repeated.
        if max(heaviest[many], repeated + size - many) < soil.least:
            continue
        if repeated > soil.fits[k] or not _with_all(together, pick, depth):
            continue
        own[many] = own[depth] + soil.own[k]
        left = dear - (own[many] + (size - many) * least_own) / size
        before = 0.0
        if len(soil.before.least):
            before = _with_member(soil.before, before_near, (k, many), size, left - after[depth])
        after[many] = 0.0
        if len(soil.after.least) and before + after[depth] < left:
            after[many] = _with_member(soil.after, after_near, (k, many), size, left - before)
        if before + max(after[many], after[depth]) >= left:
            continue
        total[many] = total[depth] + soil.values[k]
        if many == size:
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
