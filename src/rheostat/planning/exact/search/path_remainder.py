"""Compiled bounds of the search along a path: the exact cost so far, and the least cost of the rest."""

import numba
import numpy as np

from rheostat.planning.exact.search.search_state import Scalars, SearchState, Tables


@numba.njit(cache=True)
def paid(t: Tables, s: SearchState, depth: int, row: int) -> float:  # pragma: no cover - compiled
    """Price of the room used by the present choices, including a choice at this depth."""
    total = s.paid[depth - 1] if depth > 0 else 0.0
    for k in range(t.nodes.shape[1]):
        u = t.nodes[row, k]
        if u < 0:
            break
        total += t.path_price[u] * t.resources[depth]
    return float(total)


@numba.njit(cache=True)
def along_path(
    t: Tables, c: Scalars, s: SearchState, choice: tuple[int, int], limit: float
) -> float:  # pragma: no cover - compiled
    """Exact cost of the present choices, plus a lower bound for the rest of the path with the remaining room."""
    depth, x = choice
    row = t.replicas[depth] + x
    at = t.on_path[depth]
    if at < 0:
        return -1e30
    additive = t.data[t.term[depth] + x] + (s.additive[depth - 1] if depth > 0 else 0.0)
    arrival = 0.0
    for k in range(t.edges[depth]):
        source = t.edge_source[depth, k]
        cell = s.chosen[source] * t.sizes[depth] + x
        additive += t.data[t.edge_term[depth, k] + cell]
        arrival = max(arrival, s.finished[source] + t.data[t.edge_delay[depth, k] + cell])
    finished = arrival + t.data[t.latency[depth] + x]
    place = row if at == depth else t.replicas[at] + s.chosen[at]
    finished = finished if at == depth else s.finished[at]
    known = additive + c.path_weight * finished + t.rest_beside[depth] + paid(t, s, depth, row) - c.path_room
    if known + t.rest[place] >= limit:
        return float(known + t.rest[place])
    for k in range(t.nodes.shape[1]):
        if t.nodes[row, k] >= 0:
            s.used[t.nodes[row, k]] += t.resources[depth]
    rest = _remembered(t, s, place)
    for k in range(t.nodes.shape[1]):
        if t.nodes[row, k] >= 0:
            s.used[t.nodes[row, k]] -= t.resources[depth]
    return float(known + max(rest, t.rest[place]))


@numba.njit(cache=True)
def _remembered(t: Tables, s: SearchState, place: int) -> float:  # pragma: no cover - compiled
    """Lower bound of the path after a multiset, by its stand-ins, with the remaining room."""
    rest, count = 0.0, 0
    for k in range(t.nodes.shape[1]):
        if t.nodes[place, k] < 0:
            break
        count += 1
        # The stand-in of a replica may be another one (`choice_levels`).
        u, code = t.way.node[t.stand_in[place, k]], 0
        for g in range(t.way.near.shape[1]):
            v = t.way.near[u, g]
            if v < 0:
                break
            units = int(s.used[v] / t.unit[0] + 1e-6)
            code += min(units, t.way.radix[u, g] - 1) * t.way.stride[u, g]
        rest += t.after[t.way.values[t.stand_in[place, k]] + code]
    return rest / count


@numba.njit(cache=True)
def steps(t: Tables, c: Scalars, s: SearchState, depth: int) -> int:  # pragma: no cover - compiled
    """Offset of the steps to this depth from the choice before it on the path, in ascending order of cost.

    Rows are computed when they are first needed: most never are.
    """
    k = t.step_edge[depth]
    source = t.edge_source[depth, k]
    row, size = s.chosen[source], t.sizes[depth]
    start = t.step[depth] + row * size
    if s.step_known[t.step_row[depth] + row]:
        return int(start)
    cost = np.empty(size)
    for x in range(size):
        cell, place = row * size + x, t.replicas[depth] + x
        cost[x] = t.data[t.edge_delay[depth, k] + cell] + t.data[t.latency[depth] + x]
        cost[x] = c.path_weight * cost[x] + t.data[t.edge_term[depth, k] + cell] + t.data[t.term[depth] + x]
        cost[x] += t.rest[place]
        for r in range(t.nodes.shape[1]):
            if t.nodes[place, r] >= 0:
                cost[x] += t.path_price[t.nodes[place, r]] * t.resources[depth]
    order = np.argsort(cost)
    for r in range(size):
        s.step_cost[start + r] = cost[order[r]]
        s.step_choice[start + r] = order[r]
    s.step_known[t.step_row[depth] + row] = 1
    return int(start)
