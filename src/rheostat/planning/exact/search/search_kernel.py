"""Compiled loop of `search`: depth-first branch and bound over flat arrays.

It works off a budget of nodes and returns, so that its caller can look at the clock and report; all its state is in
`SearchState`, and the next call goes on where the last one stopped.
"""

import numba
import numpy as np

from rheostat.planning.exact.search.capacity_kernel import is_first, links_hold, multiset_size, nodes_hold, take
from rheostat.planning.exact.search.path_remainder import along_path, paid, steps
from rheostat.planning.exact.search.search_state import Scalars, SearchState, Tables


@numba.njit(cache=True)
def run(t: Tables, c: Scalars, s: SearchState, budget: int) -> bool:  # pragma: no cover - compiled
    """Explores up to `budget` nodes; returns whether nothing is left to explore."""
    depths = len(t.sizes)
    depth = s.cursor[0]
    explored = 0
    while depth >= 0:
        at = s.position[depth]
        limit = s.upper[0] - 1e-9 - c.gap * abs(s.upper[0] + c.constant)
        if at >= s.counts[depth] or s.bound[depth, at] >= limit:
            depth -= 1
            if depth >= 0:
                take(t, s, depth, -1.0)
            continue
        if explored >= budget:
            s.cursor[0] = depth
            s.cursor[1] += explored
            return False
        s.position[depth] += 1
        explored += 1
        s.chosen[depth] = s.candidate[depth, at]
        if not _enter(t, c, s, depth):
            continue
        take(t, s, depth, 1.0)
        if depth == depths - 1:
            _evaluate_complete(t, c, s)
            take(t, s, depth, -1.0)
            continue
        depth += 1
        _expand(t, c, s, depth)
    s.cursor[0] = -1
    s.cursor[1] += explored
    return True


@numba.njit(cache=True)
def expand_root(t: Tables, c: Scalars, s: SearchState) -> None:  # pragma: no cover - compiled
    """Lists the candidates of the first depth."""
    _expand(t, c, s, 0)
    s.cursor[0] = 0


@numba.njit(cache=True)
def _hop(t: Tables, c: Scalars, s: SearchState, depth: int, k: int) -> float:  # pragma: no cover - compiled
    """Price of an incoming stream for leaving its query; also sets the chain of the operator."""
    source = t.edge_source[depth, k]
    row, other = t.replicas[depth] + s.chosen[depth], t.replicas[source] + s.chosen[source]
    fused = t.edge_fusable[depth, k] == 1 and t.identity[row] == t.identity[other]
    if fused and t.edge_single[depth, k] == 1 and multiset_size(t, row) > 1:
        fused = False
    if fused and t.stateful[depth] == 1:
        routed = t.distinct[row] == 1 or t.routed[s.head[source], depth] == 1
        fused = s.has_state[source] == 0 and routed
    if not fused:
        return c.hop
    s.head[depth] = s.head[source]
    s.has_state[depth] = max(s.has_state[source], t.stateful[depth])
    return 0.0


@numba.njit(cache=True)
def _enter(t: Tables, c: Scalars, s: SearchState, depth: int) -> bool:  # pragma: no cover - compiled
    """Computes all exact values for the choice at this depth; False if it violates a bound or costs too much."""
    x = s.chosen[depth]
    own = t.data[t.latency[depth] + x]
    s.head[depth], s.has_state[depth] = depth, t.stateful[depth]
    arrival, length = 0.0, t.through[depth] * own
    price, log = 0.0, 0.0
    s.additive[depth] = t.data[t.term[depth] + x] + (s.additive[depth - 1] if depth > 0 else 0.0)
    for k in range(t.edges[depth]):
        source = t.edge_source[depth, k]
        cell = s.chosen[source] * t.sizes[depth] + x
        delay = t.data[t.edge_delay[depth, k] + cell]
        length += t.edge_flow[depth, k] * delay
        s.additive[depth] += t.data[t.edge_term[depth, k] + cell]
        if c.hop > 0 and t.edge_fusable[depth, k] == 1:
            # The table already contains the hop where the two ends differ.
            row, other = t.replicas[depth] + x, t.replicas[source] + s.chosen[source]
            if t.identity[row] == t.identity[other]:
                delay += _hop(t, c, s, depth, k)
        s.waited[depth, k] = delay
        arrival = max(arrival, s.finished[source] + delay)
        if c.watch_cost:
            price += t.data[t.edge_price[depth, k] + cell]
        if c.watch_log:
            log += t.data[t.edge_log[depth, k] + cell]
    s.finished[depth] = arrival + own
    if len(t.flow_order):
        for k in range(t.late_target.shape[1]):
            target = t.late_target[depth, k]
            if target < 0:
                break
            cell = x * t.sizes[target] + s.chosen[target]
            s.additive[depth] += t.data[t.late_term[depth, k] + cell]
            price += t.data[t.late_price[depth, k] + cell]
            log += t.data[t.late_log[depth, k] + cell]
    if s.finished[depth] + t.data[t.tail[depth] + x] > c.response_bound + 1e-9:
        return False
    return _weigh(t, c, s, depth, (length, price, log)) and links_hold(t, s, depth)


@numba.njit(cache=True)
def _weigh(
    t: Tables, c: Scalars, s: SearchState, depth: int, sums: tuple[float, float, float]
) -> bool:  # pragma: no cover - compiled
    """Computes the sums up to this depth; returns whether they can still lead to a better deployment."""
    x = s.chosen[depth]
    length, price, log = sums
    row = t.replicas[depth] + x
    before = depth - 1
    s.pause[depth] = t.data[t.downtime[depth] + x]
    s.fixed[depth] = _relaxed(t, s, depth, x, _message(t, s, depth))
    s.length[depth] = length
    slack = 0.0
    start = s.finished[depth] - t.data[t.latency[depth] + x]
    for k in range(t.edges[depth]):
        source = t.edge_source[depth, k]
        delay = t.data[t.edge_delay[depth, k] + s.chosen[source] * t.sizes[depth] + x]
        slack += t.edge_flow[depth, k] * (start - s.finished[source] - delay)
    s.slack[depth] = slack
    s.price[depth], s.log[depth] = price, log
    s.paid[depth] = paid(t, s, depth, row) if len(t.after) else 0.0
    if c.watch_cost or c.watch_log:
        for k in range(t.nodes.shape[1]):
            u = t.nodes[row, k]
            if u < 0:
                break
            s.price[depth] += t.replica_price[depth]
            s.log[depth] += t.log_node[u]
    if before >= 0:
        s.pause[depth] = max(s.pause[depth], s.pause[before])
        s.length[depth] += s.length[before]
        s.slack[depth] += s.slack[before]
        s.price[depth] += s.price[before]
        s.log[depth] += s.log[before]
    if s.pause[depth] > c.downtime_bound + 1e-9:
        return False
    if c.watch_cost and s.price[depth] + t.rest_price[depth] > c.cost_bound + 1e-9:
        return False
    if c.watch_log and s.log[depth] + t.rest_log[depth] < c.log_bound - 1e-12:
        return False
    limit = s.upper[0] - 1e-9 - c.gap * abs(s.upper[0] + c.constant)
    return bool(_total(c, s, depth) < limit)


@numba.njit(cache=True)
def _total(c: Scalars, s: SearchState, depth: int) -> float:  # pragma: no cover - compiled
    """The lower bound of all completions of the present choices."""
    pause = max(s.pause[depth], c.downtime_floor)
    return float(s.fixed[depth] - c.room + c.weight * s.slack[depth] + c.downtime * pause)


@numba.njit(cache=True)
def _message(t: Tables, s: SearchState, depth: int) -> float:  # pragma: no cover - compiled
    """Estimate of the relaxation for this depth."""
    total = 0.0
    for g in range(t.groups[depth]):
        a, b = t.group_first[depth, g], t.group_second[depth, g]
        cell = 0
        if a >= 0:
            cell = s.chosen[a]
            if b >= 0:
                cell = cell * t.sizes[b] + s.chosen[b]
        total += t.data[t.message[depth, g] + cell]
    return total


@numba.njit(cache=True)
def _relaxed(t: Tables, s: SearchState, depth: int, x: int, message: float) -> float:  # pragma: no cover - compiled
    """Value of the relaxation with this choice, given those before and the previous estimate for this depth."""
    value = t.data[t.unary[depth] + x] - message
    for g in range(t.groups[depth]):
        a, b = t.group_first[depth, g], t.group_second[depth, g]
        if a >= 0:
            value += t.data[t.group_table_first[depth, g] + s.chosen[a] * t.sizes[depth] + x]
        if b >= 0:
            value += t.data[t.group_table_second[depth, g] + s.chosen[b] * t.sizes[depth] + x]
    return float(value + (s.fixed[depth - 1] if depth > 0 else s.fixed[len(t.sizes)]))


@numba.njit(cache=True)
def _expand(t: Tables, c: Scalars, s: SearchState, depth: int) -> None:  # pragma: no cover - compiled
    """Lists the choices of a depth that can lead to a better deployment, the most promising first."""
    limit = s.upper[0] - 1e-9 - c.gap * abs(s.upper[0] + c.constant)
    slack, pause = 0.0, c.downtime_floor
    if depth > 0:
        slack, pause = s.slack[depth - 1], max(pause, s.pause[depth - 1])
    base, message = -c.room + c.weight * slack, _message(t, s, depth)
    on_path, start, so_far = t.step_edge[depth] >= 0, 0, 0.0
    if on_path:
        start = steps(t, c, s, depth)
        so_far = s.additive[depth - 1] + c.path_weight * s.finished[t.edge_source[depth, t.step_edge[depth]]]
        so_far += t.rest_beside[depth] + s.paid[depth - 1] - c.path_room
    count = 0
    for r in range(t.sizes[depth]):
        x = s.step_choice[start + r] if on_path else r
        if on_path and so_far + s.step_cost[start + r] + c.downtime * pause >= limit:
            break
        own = max(pause, t.data[t.downtime[depth] + x])
        value = base + _relaxed(t, s, depth, x, message) + c.downtime * own
        if value < limit and nodes_hold(t, s, depth, x):
            if len(t.node_class) and not is_first(t, s, depth, x):
                continue
            if len(t.after):
                value = max(value, along_path(t, c, s, (depth, x), limit - c.downtime * own) + c.downtime * own)
                if value >= limit:
                    continue
            s.candidate[depth, count] = x
            s.bound[depth, count] = value
            count += 1
    order = np.argsort(s.bound[depth, :count])
    s.candidate[depth, :count] = s.candidate[depth, :count][order]
    s.bound[depth, :count] = s.bound[depth, :count][order]
    s.counts[depth] = count
    s.position[depth] = 0


@numba.njit(cache=True)
def _response(t: Tables, s: SearchState) -> float:  # pragma: no cover - compiled
    """Response time of a complete deployment, including streams from operators decided last."""
    if not len(t.flow_order):
        return float(s.finished.max())
    start, finished, response = np.zeros(len(t.sizes)), np.zeros(len(t.sizes)), 0.0
    for depth in t.flow_order:
        x = s.chosen[depth]
        for k in range(t.edges[depth]):
            start[depth] = max(start[depth], finished[t.edge_source[depth, k]] + s.waited[depth, k])
        finished[depth] = start[depth] + t.data[t.latency[depth] + x]
        response = max(response, finished[depth])
        for k in range(t.late_target.shape[1]):
            target = t.late_target[depth, k]
            if target < 0:
                break
            delay = t.data[t.late_delay[depth, k] + x * t.sizes[target] + s.chosen[target]]
            start[target] = max(start[target], finished[depth] + delay)
    return response


@numba.njit(cache=True)
def _evaluate_complete(t: Tables, c: Scalars, s: SearchState) -> None:  # pragma: no cover - compiled
    """Evaluates a complete deployment and stores it if it is the best so far."""
    last = len(t.sizes) - 1
    response = _response(t, s)
    if response > c.response_bound + 1e-9:
        return
    additive = s.additive[last]
    value = additive + c.response * response + c.downtime * s.pause[last]
    if value < s.upper[0] - 1e-12:
        s.upper[0] = value
        s.best[:] = s.chosen
