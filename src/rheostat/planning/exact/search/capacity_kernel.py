"""Compiled capacity checks of the search: the use of nodes and links by the present choices."""

import numba

from rheostat.planning.exact.search.search_state import SearchState, Tables


@numba.njit(cache=True)
def take(t: Tables, s: SearchState, depth: int, sign: float) -> None:  # pragma: no cover - compiled
    """Adds (or subtracts) the use of nodes and links by the choice at a depth."""
    row = t.replicas[depth] + s.chosen[depth]
    for k in range(t.nodes.shape[1]):
        u = t.nodes[row, k]
        if u < 0:
            break
        s.used[u] += sign * t.resources[depth]
    if len(t.bandwidth):
        _carry(t, s, depth, sign)


@numba.njit(cache=True)
def _carry(t: Tables, s: SearchState, depth: int, sign: float) -> None:  # pragma: no cover - compiled
    row = t.replicas[depth] + s.chosen[depth]
    for k in range(t.edges[depth]):
        source = t.edge_source[depth, k]
        other = t.replicas[source] + s.chosen[source]
        before, after = multiset_size(t, other), multiset_size(t, row)
        share = sign * t.edge_rate[depth, k] / (before * after)
        for a in range(before):
            for b in range(after):
                u, v = t.nodes[other, a], t.nodes[row, b]
                if u != v:
                    s.load[u, v] += share


@numba.njit(cache=True)
def multiset_size(t: Tables, row: int) -> int:  # pragma: no cover - compiled
    """The number of replicas in a multiset."""
    size = 0
    while size < t.nodes.shape[1] and t.nodes[row, size] >= 0:
        size += 1
    return size


@numba.njit(cache=True)
def links_hold(t: Tables, s: SearchState, depth: int) -> bool:  # pragma: no cover - compiled
    """Whether no link of the choice at this depth is overloaded, including the choice itself."""
    if not len(t.bandwidth):
        return True
    _carry(t, s, depth, 1.0)
    row, fits = t.replicas[depth] + s.chosen[depth], True
    for k in range(t.edges[depth]):
        source = t.edge_source[depth, k]
        other = t.replicas[source] + s.chosen[source]
        for a in range(multiset_size(t, other)):
            for b in range(multiset_size(t, row)):
                u, v = t.nodes[other, a], t.nodes[row, b]
                if u != v and s.load[u, v] > t.bandwidth[u, v] + 1e-9:
                    fits = False
    _carry(t, s, depth, -1.0)
    return fits


@numba.njit(cache=True)
def nodes_hold(t: Tables, s: SearchState, depth: int, x: int) -> bool:  # pragma: no cover - compiled
    """Whether no node of a choice is overloaded, including the choice itself."""
    row, fits, taken = t.replicas[depth] + x, True, 0
    for k in range(t.nodes.shape[1]):
        u = t.nodes[row, k]
        if u < 0:
            break
        s.used[u] += t.resources[depth]
        taken += 1
        if s.used[u] > t.capacity[u] + 1e-9:
            fits = False
            break
    for k in range(taken):
        s.used[t.nodes[row, k]] -= t.resources[depth]
    return fits


@numba.njit(cache=True)
def is_first(t: Tables, s: SearchState, depth: int, x: int) -> bool:  # pragma: no cover - compiled
    """Whether every empty node of a choice is the first empty one of its class, apart from the choice's other nodes."""
    row = t.replicas[depth] + x
    for k in range(t.nodes.shape[1]):
        u = t.nodes[row, k]
        if u < 0:
            break
        if s.used[u] > 0:
            continue
        for v in range(u):
            if t.node_class[v] == t.node_class[u] and s.used[v] <= 0:
                taken = False
                for other in range(t.nodes.shape[1]):
                    taken = taken or t.nodes[row, other] == v
                if not taken:
                    return False
    return True
