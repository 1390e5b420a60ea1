"""Special method for stars: one source, one sink and parallel operators between them, ODP's fat application.

Given the nodes of source and sink, the rest is an assignment: the response time is that of the slowest path through one
operator, everything else adds up. All pairs of nodes get a quick bound, exact for equal operators. Only pairs whose
bound beats the incumbent are examined, first by a greedy assignment and then, if that does not reach the bound, by an
integer program with a variable per operator and node.
"""

from dataclasses import dataclass, replace
from math import inf, isfinite

import numba
import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Indices, Values
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.branch.incumbent import Incumbent, Listener, enough
from rheostat.planning.solvers.mixed_integer_program import Answer, Program

_ROWS = 8
"""Source nodes examined between two checks of the clock."""
_FAR = 1e12
"""Milliseconds that stand for a forbidden node."""


def is_star(instance: EncodedProblem) -> bool:
    """Whether the method applies: star shape, one replica each, and no constraint that couples the parts."""
    problem, size = instance.problem, len(instance.names)
    bounds, at = problem.objective.bounds, problem.infrastructure
    ends = {(int(i), int(j)) for i, j in instance.edges}
    shape = ends == {(0, i) for i in range(1, size - 1)} | {(i, size - 1) for i in range(1, size - 1)}
    moving = problem.current is not None and (instance.coefficients.downtime > 0 or isfinite(bounds.downtime_seconds))
    free = not isfinite(bounds.cost_per_hour) and bounds.availability == 0 and not problem.hop_ms and not moving
    unlimited = not np.isfinite(at.network.bandwidth_tps).any()
    return size > 3 and shape and instance.most_replicas == 1 and free and unlimited


@dataclass(frozen=True)
class _Star:
    """Arrays of the method; operator 0 is the source, the last one the sink."""

    instance: EncodedProblem
    way: Values
    """[i, x]: latency of middle operator i on node x, inf where it is not allowed."""
    out_rate: Values
    back_rate: Values

    @classmethod
    def of(cls, instance: EncodedProblem) -> "_Star":
        middle = slice(1, len(instance.names) - 1)
        latency = instance.latencies[middle, 1][:, None] / instance.problem.infrastructure.speedups[None, :]
        rates = {(int(i), int(j)): rate for (i, j), rate in zip(instance.edges, instance.rates, strict=True)}
        last = len(instance.names) - 1
        return cls(
            instance,
            np.where(instance.allowed[middle], latency, inf),
            np.array([rates[0, i] for i in range(1, last)]),
            np.array([rates[i, last] for i in range(1, last)]),
        )

    def pair(self, u: int, v: int) -> tuple[Values, Values, float]:
        """Path lengths and additive terms [i, x] with source on u and sink on v, and the terms of these two."""
        instance, at = self.instance, self.instance.problem.infrastructure
        ends = float(instance.latencies[0, 1] / at.speedups[u] + instance.latencies[-1, 1] / at.speedups[v])
        delay, terms, pairs = at.network.delay_ms, instance.rate_terms, instance.pair_terms
        length = np.minimum(self.way, _FAR) + (delay[u] + delay[:, v])[None, :] + ends
        add = instance.replica_terms[1:-1] + (pairs[u] + pairs[:, v])[None, :]
        add = add + self.out_rate[:, None] * terms[u][None, :] + self.back_rate[:, None] * terms[:, v][None, :]
        return length, add, float(instance.replica_terms[0, u] + instance.replica_terms[-1, v])

    def room(self, u: int, v: int) -> Values:
        """Capacity that source and sink leave on every node."""
        left = self.instance.problem.infrastructure.capacities.astype(float)
        left[u] -= self.instance.resources[0]
        left[v] -= self.instance.resources[-1]
        return left


@numba.njit(cache=True)
def longest_ways(
    delay: Values,
    ends: tuple[Values, Values],
    work: tuple[Values, Values],
    room: tuple[Values, float, float],
    rows: tuple[int, int, int],
) -> Values:  # pragma: no cover - compiled
    """[u, v] for some u: lower bound of the longest path if resources could be split; inf if they do not suffice.

    `work` are least latencies, descending, and the resources in the same order: the operator with the longest latency
    gets the nearest nodes. `rows` are the first u, the one after the last, and how many of the nearest nodes hold
    everything.
    """
    capacity, first, last = room
    enough_nodes = rows[2]
    waits, needs = work
    size = len(delay)
    found = np.full((rows[1] - rows[0], size), np.inf)
    for u in range(rows[0], rows[1]):
        for v in range(size):
            left = capacity.copy()
            left[u] -= first
            left[v] -= last
            if left[u] < -1e-9 or left[v] < -1e-9:
                continue
            far = delay[u] + delay[:, v]
            near = np.nonzero(far <= np.partition(far, enough_nodes - 1)[enough_nodes - 1])[0]
            order = near[np.argsort(far[near])]
            at, have, need, longest, enough_room = 0, left[order[0]], 0.0, 0.0, True
            for k in range(len(waits)):
                need += needs[k]
                while have < need - 1e-9:
                    at += 1
                    if at == len(order):
                        enough_room = False
                        break
                    have += left[order[at]]
                if not enough_room:
                    break
                longest = max(longest, waits[k] + far[order[at]])
            if enough_room:
                found[u - rows[0], v] = longest + ends[0][u] + ends[1][v]
    return found


def solve_star(instance: EncodedProblem, found: Incumbent, clock: Deadline, told: Listener) -> Incumbent:
    """Examines the pairs of source and sink nodes, the most promising first."""
    star = _Star.of(instance)
    bounds, looked_at = _bounds(star, clock)
    # Almost nothing is known of source nodes that time did not suffice for: they come last.
    promising = np.where(np.arange(len(bounds))[:, None] < looked_at, bounds, np.maximum(bounds, HUGE))
    order = np.argsort(promising, axis=None, kind="stable")
    pairs = [(int(k) // len(bounds), int(k) % len(bounds)) for k in order[: np.isfinite(bounds).sum()]]
    found = replace(found, note="star", generated=bounds.size)
    for u, v in pairs[:40]:
        found = _greedy(star, (u, v), found)
    if looked_at < len(bounds):
        return replace(found, lower=min(float(bounds.min()), found.upper))
    for at, (u, v) in enumerate(pairs):
        lower = float(bounds[u, v])
        if lower >= enough(instance, found.upper):
            return replace(found, lower=min(lower, found.upper), complete=True)
        if clock.is_over():
            return replace(found, lower=min(lower, found.upper))
        found = _greedy(star, (u, v), replace(found, explored=at + 1))
        if lower < enough(instance, found.upper):
            found, proven = _by_program(star, (u, v), found, clock)
            told(replace(found, lower=min(lower, found.upper)))
            if not proven:
                return replace(found, lower=min(lower, found.upper))
    return replace(found, lower=found.upper, complete=True)


def _bounds(star: _Star, clock: Deadline) -> tuple[Values, int]:
    """Lower bound of F for every pair of source and sink nodes, and the number of source nodes that time allowed."""
    instance, at = star.instance, star.instance.problem.infrastructure
    least = star.way.min(axis=1)
    order = np.argsort(-least, kind="stable")
    ends = (instance.latencies[0, 1] / at.speedups, instance.latencies[-1, 1] / at.speedups)
    ways, looked_at = _ways(star, ends, order, clock)
    ways[~np.outer(instance.allowed[0], instance.allowed[-1])] = inf
    ways[ways > instance.problem.objective.bounds.response_time_ms + TOLERANCE] = inf
    terms, pairs = instance.rate_terms, instance.pair_terms
    add = instance.replica_terms[0][:, None] + instance.replica_terms[-1][None, :]
    if terms.any() or pairs.any() or instance.replica_terms.any():
        for i in range(len(least)):
            if clock.is_over():
                # None of the remaining terms is negative, so the bound holds without them.
                break
            there = star.out_rate[i] * terms + pairs + instance.replica_terms[i + 1][None, :]
            back = star.back_rate[i] * terms + pairs
            there = np.where(instance.allowed[i + 1][None, :], there, inf)
            add = add + np.array([(there[u][:, None] + back).min(axis=0) for u in range(len(there))])
    possible = np.isfinite(ways)
    return np.where(possible, instance.coefficients.response * np.where(possible, ways, 0.0) + add, inf), looked_at


def _ways(star: _Star, ends: tuple[Values, Values], order: Indices, clock: Deadline) -> tuple[Values, int]:
    """Lower bound of the longest path per source node; without the network's delays if time is over."""
    instance, at = star.instance, star.instance.problem.infrastructure
    least, needs = star.way.min(axis=1)[order], instance.resources[1:-1][order]
    room = (at.capacities.astype(float), float(instance.resources[0]), float(instance.resources[-1]))
    delay, size = np.array(at.network.delay_ms), len(at.nodes)
    # Whichever nodes are nearest, this many of them hold everything, or there is not enough room at all.
    most = np.cumsum(np.sort(room[0]))
    enough_nodes = min(size, 1 + int(np.searchsorted(most, needs.sum() + room[1] + room[2])))
    ways = ends[0][:, None] + ends[1][None, :] + float(least[0])
    for first in range(0, size, _ROWS):
        if clock.is_over():
            return ways, first
        last = min(first + _ROWS, size)
        ways[first:last] = longest_ways(delay, ends, (least, needs), room, (first, last, enough_nodes))
    return ways, size


def _greedy(star: _Star, pair: tuple[int, int], found: Incumbent) -> Incumbent:
    """Greedy assignment: longest latencies first, then largest needs, each on the cheapest node."""
    instance = star.instance
    length, add, total = star.pair(*pair)
    room, weight = star.room(*pair), instance.coefficients.response
    most = instance.problem.objective.bounds.response_time_ms
    longest, chosen = 0.0, [pair[0], *[-1] * len(length), pair[1]]
    for i in np.lexsort((-instance.resources[1:-1], -star.way.min(axis=1))):
        need = instance.resources[i + 1]
        open_ = (room >= need - TOLERANCE) & (length[i] <= min(most + TOLERANCE, _FAR))
        if not open_.any():
            return found
        cost = weight * np.maximum(longest, length[i]) + add[i]
        cost = np.where(open_, cost, inf)
        # Of equally good nodes the farthest: near ones are kept for operators that need them.
        best = np.nonzero(cost <= cost.min() + 1e-12)[0]
        x = int(best[np.argmax(length[i][best] - 1e-6 * (room[best] - need))])
        chosen[i + 1] = x
        room[x] -= need
        longest, total = max(longest, float(length[i, x])), total + float(add[i, x])
    return _taken(instance, chosen, weight * longest + total, found)


def _taken(instance: EncodedProblem, chosen: list[int], value: float, found: Incumbent) -> Incumbent:
    if value >= found.upper - 1e-12:
        return found
    return replace(found, deployment=instance.deployment([(x,) for x in chosen]), upper=value)


def _by_program(star: _Star, pair: tuple[int, int], found: Incumbent, clock: Deadline) -> tuple[Incumbent, bool]:
    """The best assignment for a pair that improves on the incumbent, and whether that is proven."""
    instance = star.instance
    length, add, base = star.pair(*pair)
    weight = instance.coefficients.response
    rest = add.min(axis=1).sum() - add.min(axis=1)
    most = instance.problem.objective.bounds.response_time_ms
    useful = weight * length + add + rest[:, None] + base < enough(instance, found.upper)
    useful &= length <= min(most + TOLERANCE, _FAR)
    if not useful.any(axis=1).all():
        return found, True
    program = Program()
    numbers: list[Indices] = [program.binaries(add[i, useful[i]]) for i in range(len(length))]
    longest = program.continuous(weight, most)
    room = star.room(*pair)
    rows: list[tuple[list[int], list[float]]] = [([], []) for _ in room]
    for i, columns in enumerate(numbers):
        program.require(1.0, columns, np.ones(len(columns)), 1.0)
        program.require(0.0, [longest, *columns], [1.0, *-length[i, useful[i]]])
        for x, column in zip(np.nonzero(useful[i])[0], columns, strict=True):
            rows[x][0].append(int(column))
            rows[x][1].append(float(instance.resources[i + 1]))
    for left, (taking, needs) in zip(room, rows, strict=True):
        if taking:
            program.require(-inf, taking, needs, float(left))
    solution = program.solve(clock.left(), instance.problem.limits.gap)
    if solution.answer is Answer.INFEASIBLE:
        return found, True
    if solution.values is None:
        return found, False
    picked = [int(np.nonzero(useful[i])[0][np.argmax(solution.values[c])]) for i, c in enumerate(numbers)]
    value = weight * max(float(length[i, x]) for i, x in enumerate(picked))
    value += base + sum(float(add[i, x]) for i, x in enumerate(picked))
    found = _taken(instance, [pair[0], *picked, pair[1]], value, found)
    return found, solution.answer is Answer.OPTIMAL
