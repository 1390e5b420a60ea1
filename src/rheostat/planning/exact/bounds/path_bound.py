"""Lower bound along the longest chain of operators, taking node capacity into account.

Prices alone say little where nothing is pinned: a mixture of deployments, each with everything on one node, keeps all
capacities on average. A dynamic program along one path that remembers what it has taken of the nodes nearby excludes
such mixtures. Operators beside the path count with their least possible cost.
"""

import itertools
from dataclasses import dataclass
from functools import reduce
from math import gcd

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, Prices
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import capacity_value, prices_along
from rheostat.planning.exact.bounds.path_kernel import PathWay, backward, best_way, carried_codes, marginals

_TRIED = 12
"""Approximate number of successors tried per state: the most promising come first, and mostly one of them is best."""
_MOST_CARRIED = 1e7
"""Limit on the entries of `carried_codes`."""
_WORTH = 15
"""Factor on the step limit up to three remembered nodes if stand-ins are heavy: their weight needs the memory."""
_MEMORY = 0.6
"""Share of the previous direction kept in the next."""
_MOST_UNITS = 12
"""Finest division of a node's capacity in the memory."""


@dataclass(frozen=True)
class PathBound:
    """Values of the dynamic program under the best prices found."""

    path: tuple[int, ...]
    prices: Prices
    way: PathWay
    carried: Indices
    """Memory carried from node to node."""
    after: Values
    """Least cost after every state."""
    beside: Values
    """Least cost of every operator beside the path, 0 for those on it."""
    value: float
    """Lower bound of F of every feasible deployment, without downtime and constant."""
    taken: Indices
    """Relaxed solution: a candidate per position."""

    def node_marginals(self, limit: float = HUGE) -> list[Values]:
        """Least cost with each candidate, per position, in the order of the level's nodes.

        Values not below the limit are HUGE: they are not computed.
        """
        found, _ = marginals(self.way, self.carried, self.after, limit)
        return [found[a:b] for a, b in zip(self.way.start, self.way.start[1:], strict=False)]


def longest_chain(instance: EncodedProblem) -> tuple[int, ...]:
    """The path with the most operators; among equal ones that with the longest latencies."""
    waits = np.where(np.isfinite(instance.latencies), instance.latencies, np.inf).min(axis=1)
    best: list[tuple[int, float, tuple[int, ...]]] = []
    for i in range(len(instance.names)):
        ways = [best[s] for s, t in instance.edges.tolist() if t == i]
        count, wait, path = max(ways, default=(0, 0.0, ()))
        best.append((count + 1, wait + float(waits[i]), (*path, i)))
    return max(best)[2]


def unit_size(instance: EncodedProblem) -> float:
    """The largest unit that measures all resources exactly, or a coarser one if that is too fine."""
    resources, capacities = instance.resources, instance.problem.infrastructure.capacities
    milli = [round(r * 1000) for r in resources.tolist() if r > 0]
    exact = np.allclose(resources * 1000, np.round(resources * 1000), atol=1e-9)
    step = reduce(gcd, milli, 0) / 1000 if exact and milli else float(resources.max() / 3 or 1.0)
    operators = map(instance.problem.application.by_name.__getitem__, instance.names)
    most = sum(operator.max_replicas * operator.resources for operator in operators)
    return max(step, float(np.minimum(capacities, most).max()) / _MOST_UNITS, 1e-9)


def units(instance: EncodedProblem) -> tuple[Indices, Indices]:
    """Resources and capacities as small integers, rounded such that at least as much fits."""
    step, capacities = unit_size(instance), instance.problem.infrastructure.capacities
    need = np.floor(instance.resources / step + 1e-6).astype(np.int64)
    rooms = np.minimum(np.floor(capacities / step + 1e-6), _MOST_UNITS).astype(np.int64)
    return need, rooms


def way_along(level: NodeLevel, path: tuple[int, ...], prices: Prices, near: Indices) -> PathWay:
    """The tables for a path under given prices; `near` lists the neighbourhood of every node."""
    instance = level.instance
    weight = instance.coefficients.response + prices.response
    stream = {(i, j): e for e, (i, j) in enumerate(instance.edges.tolist())}
    tables, between, length = [], [], 0
    for i, j in itertools.pairwise(path):
        e = stream[i, j]
        tables.append((level.pair(e) + weight * level.delay(e)).ravel())
        between.append(length)
        length += tables[-1].size
    need, rooms = units(instance)
    nodes = [level.nodes[i] for i in path]
    memory = _memory(near, rooms)
    flat = np.concatenate(nodes)
    return PathWay(
        start=np.cumsum([0, *(len(n) for n in nodes)]),
        node=flat,
        own=_own_costs(level, path, prices),
        between=np.array(between or [0]),
        tables=np.concatenate(tables) if tables else np.zeros(1),
        need=np.concatenate([need[i] * level.here[i] for i in path]),
        room=rooms,
        near=near,
        **memory,
        values=np.cumsum([0, *memory["codes"][flat]]),
    )


def _own_costs(level: NodeLevel, path: tuple[int, ...], prices: Prices) -> Values:
    return np.concatenate([level.unary(i, prices) for i in path])


def _memory(near: Indices, rooms: Indices) -> dict[str, Indices]:
    radix = np.where(near >= 0, rooms[near] + 1, 1)
    stride = np.cumprod(np.hstack([np.ones((len(near), 1), dtype=np.int64), radix[:, :-1]]), axis=1)
    slot_of = np.full((len(near), len(near)), -1, dtype=np.int64)
    for slot in range(near.shape[1]):
        rows = np.nonzero(near[:, slot] >= 0)[0]
        slot_of[rows, near[rows, slot]] = slot
    return {"radix": radix, "stride": stride, "codes": radix.prod(axis=1), "slot_of": slot_of}


def neighbourhoods(level: NodeLevel, path: tuple[int, ...], slots: int) -> Indices:
    """The nodes nearest to every node, itself first, among those that can still be used."""
    delay = level.instance.problem.infrastructure.network.delay_ms
    usable = np.zeros(len(delay), dtype=bool)
    for i in path:
        usable[level.nodes[i]] = True
    far = delay + delay.T + np.where(usable, 0.0, 1e9)[None, :]
    np.fill_diagonal(far, -1.0)
    order = np.argsort(far, axis=1, kind="stable")[:, :slots]
    return np.where(np.take_along_axis(far, order, axis=1) < 1e9, order, -1)


def affordable_slots(level: NodeLevel, path: tuple[int, ...], most: int) -> int:
    """Number of remembered nodes for which a pass takes at most `most` steps."""
    sizes = [len(level.nodes[i]) for i in path]
    pairs, states = sum(a * b for a, b in itertools.pairwise(sizes)), sum(sizes)
    radix = float(np.median(units(level.instance)[1])) + 1
    # The table of carried memory must fit into main memory, even with many nodes.
    nodes, widest = len(level.instance.node_names), float(units(level.instance)[1].max()) + 1
    slots = 1
    while (
        slots < min(8, nodes)
        and pairs + _TRIED * states * radix ** (slots + 1) <= most * (_WORTH if level.heavy and slots < 3 else 1)
        and nodes**2 * widest ** (slots + 1) <= _MOST_CARRIED
    ):
        slots += 1
    return slots


@dataclass(frozen=True, slots=True)
class PathAscent:
    """Limits of the search for prices along the path."""

    slots: int
    rounds: int = 30
    target: float = HUGE


def path_bound(level: NodeLevel, path: tuple[int, ...], start: Prices, climb: PathAscent, clock: Deadline) -> PathBound:
    """Subgradient ascent on the prices of capacity, along one path."""
    instance = level.instance
    near = neighbourhoods(level, path, climb.slots if instance.coefficients.response + start.response > 0 else 1)
    prices = prices_along(instance, list(path), start.capacity, start.response)
    memory = _memory(near, units(instance)[1])
    carried = carried_codes(near, memory["radix"], memory["stride"], memory["slot_of"], memory["codes"])
    way = way_along(level, path, prices, near)
    best = now = _bound(level, path, prices, (way, carried))
    step, stalled, mark, since = 0.5, 0, best.value, 0
    pull = np.zeros(len(instance.node_names))
    # Without delays a path adds nothing to its operators' own bounds.
    rounds = climb.rounds if instance.coefficients.response + start.response > 0 else 0
    for _ in range(rounds):
        if best.value >= min(climb.target, HUGE / 2) or clock.is_over() or since > 5:
            break
        excess = _excess(level, now)
        if not excess.any():
            break
        # Relaxed solutions alternate between two expensive nodes: the mean of the last ones points further.
        pull = excess + _MEMORY * pull
        pull[(pull < 0) & (now.prices.capacity <= 0)] = 0.0
        norm = max(float(pull @ pull), 1e-12)
        goal = climb.target if climb.target < HUGE / 2 else best.value + 0.05 * abs(best.value) + 1e-9
        capacity = np.maximum(0.0, now.prices.capacity + step * max(goal - now.value, 1e-12) / norm * pull)
        prices = prices_along(instance, list(path), capacity, start.response)
        # Only candidates pay prices of capacity; the costs between them stay the same.
        now = _bound(level, path, prices, (way._replace(own=_own_costs(level, path, prices)), carried))
        if now.value > best.value + 1e-12:
            best, stalled = now, 0
        else:
            stalled += 1
            if stalled >= 2:
                step, stalled, now = step * 0.7, 0, best
        # Progress is measured against the remaining distance: the value itself may be large for other reasons.
        if best.value > mark + 0.03 * (goal - mark):
            mark, since = best.value, 0
        else:
            since += 1
    return best


def _bound(level: NodeLevel, path: tuple[int, ...], prices: Prices, known: tuple[PathWay, Indices]) -> PathBound:
    instance, (way, carried) = level.instance, known
    after = backward(way, carried)
    least, chosen = best_way(way, carried, after)
    beside = np.array([0.0 if i in path else float(level.unary(i, prices).min()) for i in range(len(instance.names))])
    value = least + float(beside.sum()) - capacity_value(instance, prices) if least < HUGE / 2 else HUGE
    return PathBound(path, prices, way, carried, after, beside, value, chosen)


def _excess(level: NodeLevel, bound: PathBound) -> Values:
    instance = level.instance
    use = np.zeros(len(instance.node_names))
    for p, i in enumerate(bound.path):
        choice = int(bound.taken[p] - bound.way.start[p])
        nodes, taken = level.use(i, choice)
        use[nodes] += taken
    for i in set(range(len(instance.names))) - set(bound.path):
        nodes, taken = level.use(i, int(np.argmin(level.unary(i, bound.prices))))
        use[nodes] += taken
    excess = use - instance.problem.infrastructure.capacities
    excess[(excess < 0) & (bound.prices.capacity <= 0)] = 0.0
    return np.asarray(excess)
