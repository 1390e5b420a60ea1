"""Compiled loop of `local_search`: simulated annealing over multisets."""

from typing import NamedTuple

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Flags, Indices, Values


class Places(NamedTuple):
    """Nodes where replicas may go; separate from `Landscape`, since passing fewer tables takes less time."""

    least: Indices
    most: Indices
    allowed: Flags
    near: Indices
    """[u, rank]: the nodes nearest to u."""
    neighbour_start: Indices
    neighbours: Indices
    """Operators joined to operator i by a stream, as in `Landscape.edge_start`."""


class Landscape(NamedTuple):
    """Tables for the objective of a deployment; operators in the order of flow."""

    edge_start: Indices
    """Streams into operator i are edge_start[i] up to edge_start[i + 1]."""
    edge_source: Indices
    edge_rate: Values
    latencies: Values
    places: Places
    delay: Values
    speedup: Values
    resources: Values
    capacity: Values
    replica_terms: Values
    rate_terms: Values
    pair_terms: Values
    replica_prices: Values
    price: Values
    log_node: Values
    log_link: Values
    bandwidth: Values
    current: Indices
    """The current deployment, padded with -1; empty if there is none."""
    pause: Values
    """Estimated downtime of changing each operator, in seconds."""
    scalars: Values
    """Factors of response time and downtime, hop, and the bounds of response time, cost, log availability, downtime."""


@numba.njit(cache=True)
def objective_and_violation(
    w: Landscape, nodes: Indices, size: Indices
) -> tuple[float, float]:  # pragma: no cover - compiled
    """F without its constant, and the relative amount by which constraints are violated."""
    operators = len(size)
    finished = np.zeros(operators)
    used = np.zeros(len(w.capacity))
    total, cost, log, response, broken = 0.0, 0.0, 0.0, 0.0, 0.0
    limited = len(w.bandwidth) > 0
    load: Values = np.zeros(w.bandwidth.shape)
    for j in range(operators):
        start = 0.0
        for e in range(w.edge_start[j], w.edge_start[j + 1]):
            i = w.edge_source[e]
            slowest, mean, links, prices, logs = 0.0, 0.0, 0.0, 0.0, 0.0
            for a in range(size[i]):
                for b in range(size[j]):
                    u, v = nodes[i, a], nodes[j, b]
                    slowest = max(slowest, w.delay[u, v])
                    mean += w.rate_terms[u, v]
                    links += w.pair_terms[u, v]
                    prices += w.price[u, v]
                    logs += w.log_link[u, v]
                    if limited and u != v:
                        load[u, v] += w.edge_rate[e] / (size[i] * size[j])
            share = w.edge_rate[e] / (size[i] * size[j])
            total += share * mean + links
            cost += share * prices
            log += logs
            start = max(start, finished[i] + slowest + w.scalars[2])
        slowest_node = 1e30
        for b in range(size[j]):
            u = nodes[j, b]
            slowest_node = min(slowest_node, w.speedup[u])
            total += w.replica_terms[j, u]
            cost += w.replica_prices[j]
            log += w.log_node[u]
            used[u] += w.resources[j]
        waits = w.latencies[j, size[j]]
        if waits > 1e12:
            waits = 1e4
            broken += 1.0
        finished[j] = start + waits / slowest_node
        response = max(response, finished[j])
    broken += _overloaded(w, used, load)
    broken += _above(response, w.scalars[3]) + _above(cost, w.scalars[4])
    if log < w.scalars[5] - 1e-12:
        broken += 1.0
    pause = _pause(w, nodes, size)
    broken += _above(pause, w.scalars[6])
    return total + w.scalars[0] * response + w.scalars[1] * pause, broken


@numba.njit(cache=True)
def _overloaded(w: Landscape, used: Values, load: Values) -> float:  # pragma: no cover - compiled
    broken = 0.0
    for u in range(len(used)):
        if used[u] > w.capacity[u] + 1e-9:
            broken += used[u] - w.capacity[u]
    for u in range(len(load)):
        for v in range(len(load)):
            if load[u, v] > w.bandwidth[u, v] + 1e-9:
                broken += 1.0
    return broken


@numba.njit(cache=True)
def _above(value: float, bound: float) -> float:  # pragma: no cover - compiled
    return 0.0 if value <= bound + 1e-9 else 0.2 + (value - bound) / bound


@numba.njit(cache=True)
def _stays(w: Landscape, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Whether an operator keeps its current replicas, in any order."""
    for k in range(nodes.shape[1]):
        if (w.current[i, k] >= 0) != (k < size[i]):
            return False
    for k in range(size[i]):
        excess = 0
        for other in range(size[i]):
            excess += int(nodes[i, other] == nodes[i, k]) - int(w.current[i, other] == nodes[i, k])
        if excess != 0:
            return False
    return True


@numba.njit(cache=True)
def _pause(w: Landscape, nodes: Indices, size: Indices) -> float:  # pragma: no cover - compiled
    longest = 0.0
    for i in range(len(w.current)):
        if w.pause[i] > longest and not _stays(w, nodes, size, i):
            longest = w.pause[i]
    return longest


@numba.njit(cache=True)
def _picked(at: Places, nodes: Indices, size: Indices, i: int) -> int:  # pragma: no cover - compiled
    """A random node for a replica: that of a neighbour, one near it, or any."""
    dice = np.random.randint(10)
    if dice < 9 and at.neighbour_start[i + 1] > at.neighbour_start[i]:
        o = at.neighbours[np.random.randint(at.neighbour_start[i], at.neighbour_start[i + 1])]
        u = nodes[o, np.random.randint(size[o])]
        return int(u) if dice < 4 else int(at.near[u, np.random.randint(at.near.shape[1])])
    return np.random.randint(at.allowed.shape[1])


@numba.njit(cache=True)
def anneal(
    w: Landscape, nodes: Indices, size: Indices, rounds: int, seed: int
) -> tuple[float, Indices, Indices]:  # pragma: no cover - compiled
    """The best feasible deployment found, inf if none; `nodes` and `size` are the start."""
    np.random.seed(seed)
    nodes, size = nodes.copy(), size.copy()
    value, broken = objective_and_violation(w, nodes, size)
    weight = 0.3 * max(abs(value), 1e-6)
    now = value + weight * broken
    best = value if broken == 0.0 else np.inf
    best_nodes, best_size = nodes.copy(), size.copy()
    hot, cold = 0.05 * max(abs(value), 1e-6), 0.05e-3 * max(abs(value), 1e-6)
    operators = len(size)
    old_nodes, old_size = nodes.copy(), size.copy()
    for r in range(rounds):
        heat = hot * (cold / hot) ** ((r % (rounds // 2 + 1)) / (rounds // 2 + 1))
        old_nodes[:], old_size[:] = nodes, size
        i = np.random.randint(operators)
        if not _changed(w.places, nodes, size, i):
            continue
        value, broken = objective_and_violation(w, nodes, size)
        then = value + weight * broken
        if then <= now or np.random.random() < np.exp((now - then) / heat):
            now = then
            if broken == 0.0 and value < best - 1e-12:
                best = value
                best_nodes[:], best_size[:] = nodes, size
        else:
            nodes[:], size[:] = old_nodes, old_size
    return best, best_nodes, best_size


@numba.njit(cache=True)
def _changed(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Makes a random move; False if it is not possible, then nothing has changed."""
    move = np.random.randint(100)
    if move < 40:
        u = _picked(at, nodes, size, i)
        if at.allowed[i, u]:
            nodes[i, np.random.randint(size[i])] = u
        return bool(at.allowed[i, u])
    if move < 55:
        return _swapped(at, nodes, size, i)
    if move < 65:
        return _moved_together(at, nodes, size, i)
    if move < 73:
        return _changed_places(at, nodes, size, i)
    return _resized(at, nodes, size, i) if move < 87 else _exchanged(at, nodes, size, i)


@numba.njit(cache=True)
def _swapped(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Exchanges the nodes of two replicas."""
    j = np.random.randint(len(size))
    a, b = np.random.randint(size[i]), np.random.randint(size[j])
    u, v = nodes[i, a], nodes[j, b]
    if u == v or not at.allowed[i, v] or not at.allowed[j, u]:
        return False
    nodes[i, a], nodes[j, b] = v, u
    return True


@numba.njit(cache=True)
def _resized(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Adds or removes one replica."""
    if np.random.random() < 0.5:
        u = _picked(at, nodes, size, i)
        if size[i] >= at.most[i] or not at.allowed[i, u]:
            return False
        nodes[i, size[i]] = u
        size[i] += 1
        return True
    if size[i] <= at.least[i]:
        return False
    size[i] -= 1
    nodes[i, np.random.randint(size[i] + 1)] = nodes[i, size[i]]
    return True


@numba.njit(cache=True)
def _exchanged(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Exchanges all replicas of two nodes, as far as they may move."""
    u = nodes[i, np.random.randint(size[i])]
    v = at.near[u, np.random.randint(at.near.shape[1])] if np.random.random() < 0.5 else _picked(at, nodes, size, i)
    if u == v:
        return False
    for o in range(len(size)):
        if at.allowed[o, u] and at.allowed[o, v]:
            for k in range(size[o]):
                if nodes[o, k] == u:
                    nodes[o, k] = v
                elif nodes[o, k] == v:
                    nodes[o, k] = u
    return True


@numba.njit(cache=True)
def _moved_together(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Moves all replicas of an operator on one node to another."""
    u, v = nodes[i, np.random.randint(size[i])], _picked(at, nodes, size, i)
    if u == v or not at.allowed[i, v]:
        return False
    for k in range(size[i]):
        if nodes[i, k] == u:
            nodes[i, k] = v
    return True


@numba.njit(cache=True)
def _changed_places(at: Places, nodes: Indices, size: Indices, i: int) -> bool:  # pragma: no cover - compiled
    """Exchanges the nodes and the numbers of replicas of two operators."""
    j = np.random.randint(len(size))
    if i == j or size[i] > at.most[j] or size[j] > at.most[i] or size[i] < at.least[j] or size[j] < at.least[i]:
        return False
    for k in range(nodes.shape[1]):
        if (k < size[i] and not at.allowed[j, nodes[i, k]]) or (k < size[j] and not at.allowed[i, nodes[j, k]]):
            return False
    for k in range(nodes.shape[1]):
        nodes[i, k], nodes[j, k] = nodes[j, k], nodes[i, k]
    size[i], size[j] = size[j], size[i]
    return True
