"""Compiled loops of `OptionLevel`: costs between all pairs of multisets of two operators.

Multisets have a few replicas each, so that sums over them take less than products of matrices over all nodes; nor do
these loops take more than one thread, as such products do.
"""

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Flags, Indices, Values


@numba.njit(cache=True)
def farthest_pairs(delay: Values, before: Indices, after: Indices) -> Values:  # pragma: no cover - compiled
    """[a, b]: longest delay from a node of multiset a to one of multiset b; rows of nodes are padded with -1."""
    out = np.zeros((len(before), len(after)))
    reach = np.empty(len(delay))
    for a in range(len(before)):
        reach[:] = 0.0
        for k in range(before.shape[1]):
            u = before[a, k]
            if u < 0:
                break
            for v in range(len(delay)):
                reach[v] = max(reach[v], delay[u, v])
        for b in range(len(after)):
            far = 0.0
            for k in range(after.shape[1]):
                v = after[b, k]
                if v < 0:
                    break
                far = max(far, reach[v])
            out[a, b] = far
    return out


@numba.njit(cache=True)
def summed_pairs(matrix: Values, before: Indices, after: Indices) -> Values:  # pragma: no cover - compiled
    """[a, b]: sum over all pairs of a replica of multiset a and one of multiset b."""
    out = np.zeros((len(before), len(after)))
    if not matrix.any():
        return out
    reach = np.empty(len(matrix))
    for a in range(len(before)):
        reach[:] = 0.0
        for k in range(before.shape[1]):
            u = before[a, k]
            if u < 0:
                break
            for v in range(len(matrix)):
                reach[v] += matrix[u, v]
        for b in range(len(after)):
            total = 0.0
            for k in range(after.shape[1]):
                v = after[b, k]
                if v < 0:
                    break
                total += reach[v]
            out[a, b] = total
    return out


@numba.njit(cache=True)
def overfull_pairs(
    capacity: Values, ends: tuple[Indices, Indices], needs: tuple[float, float]
) -> Flags:  # pragma: no cover - compiled
    """[a, b]: whether two multisets together exceed the capacity of some node."""
    before, after = ends
    out = np.zeros((len(before), len(after)), dtype=np.bool_)
    left = np.empty(len(capacity))
    for a in range(len(before)):
        left[:] = capacity
        for k in range(before.shape[1]):
            if before[a, k] < 0:
                break
            left[before[a, k]] -= needs[0]
        for b in range(len(after)):
            count = 0
            for k in range(after.shape[1]):
                v = after[b, k]
                if v < 0:
                    break
                # Replicas on one node are next to each other.
                count = count + 1 if k > 0 and after[b, k - 1] == v else 1
                if count * needs[1] > left[v]:
                    out[a, b] = True
                    break
    return out
