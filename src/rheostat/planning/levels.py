"""What is chosen from? Single nodes that stand for multisets, or the multisets themselves.

*Relaxation lemma*: pick any one replica of every operator. The delay between the picked replicas never exceeds the
maximum over all, and the mean over all picks of what averages over pairs (prices, traffic) is what the multisets cost.
So some pick costs at most what the multisets cost: the problem of single nodes, each operator with the
best number of replicas, bounds the replicated problem from below, and the mean over its nodes bounds one multiset.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rheostat.planning.candidates import Candidates
from rheostat.planning.elimination import HUGE
from rheostat.planning.instance import TOLERANCE, Flags, Indices, Instance, Values
from rheostat.planning.tables import stream_table


@dataclass(frozen=True)
class Prices:
    """Multipliers of a Lagrangian relaxation."""

    flow: Values
    """How much of one unit from the sources to the sinks goes over every stream: R is at least the flow's length."""
    through: Values
    """How much of it goes through every operator."""
    capacity: Values
    """Price of a unit of every node's resources."""
    response: float = 0.0
    """Price of a millisecond of response time beyond what the objective says, where it is bounded."""


class Level(Protocol):
    """Choices of every operator with their costs under given prices."""

    instance: Instance

    def sizes(self) -> list[int]:
        """Number of choices of every operator."""
        ...

    def unary(self, operator: int, prices: Prices) -> Values:
        """Cost of every choice by itself."""
        ...

    def delay(self, stream: int) -> Values:
        """Delays of a stream over all pairs of choices."""
        ...

    def pair(self, stream: int) -> Values:
        """What a stream adds to F beside its delay, HUGE where the two cannot go together."""
        ...

    def latency(self, operator: int, choice: int, prices: Prices) -> float:
        """Latency of a choice."""
        ...

    def use(self, operator: int, choice: int, prices: Prices) -> tuple[Indices, Values]:
        """Nodes and how much of them a choice takes."""
        ...


class NodeLevel:
    """A node for every operator, which stands for a multiset that contains it.

    A choice says what kind of multiset: all m replicas on the node ("packed"), or at least two different nodes
    ("spread"). From any node the farthest of two different ones is at least as far as the nearest other node, which is
    what a spread multiset costs at least, however well its stand-in lies.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.nodes: list[Indices] = []
        """Node of every choice of every operator."""
        self.packed: list[Indices] = []
        """m of a packed choice, 0 for a spread one."""
        for i, row in enumerate(instance.allowed):
            nodes, packed = _stand_ins(instance, i, np.nonzero(row)[0])
            self.nodes.append(nodes)
            self.packed.append(packed)
        self._tables: dict[tuple[str, int], Values] = {}

    def keep(self, operator: int, chosen: Flags) -> None:
        """Goes on with some of an operator's choices only."""
        self.nodes[operator] = self.nodes[operator][chosen]
        self.packed[operator] = self.packed[operator][chosen]
        self._tables.clear()

    def keep_in(self, candidates: list[Candidates]) -> None:
        """Goes on with the choices that stand for one of the given multisets."""
        for i, options in enumerate(candidates):
            wanted = np.zeros(len(self.nodes[i]), dtype=bool)
            rows = self.choices_of(i, options)
            wanted[rows[rows >= 0]] = True
            self.keep(i, wanted)

    def choices_of(self, operator: int, options: Candidates) -> Indices:
        """For every replica of every multiset the choice that stands for it; -1 after the last, or if it is gone."""
        packed = options.nodes[:, 0] == options.nodes[np.arange(len(options)), options.size - 1]
        kind = np.where(packed, options.size, 0)
        width = self.instance.most_replicas + 1
        index = np.full((len(self.instance.node_names), width), -1, dtype=np.int64)
        index[self.nodes[operator], self.packed[operator]] = np.arange(len(self.nodes[operator]))
        return np.where(options.nodes >= 0, index[options.nodes, kind[:, None]], -1)

    def sizes(self) -> list[int]:
        """Choices of every operator."""
        return [len(nodes) for nodes in self.nodes]

    def least_use(self, operator: int) -> Values:
        """What a choice takes of its node at least."""
        return np.asarray(self.instance.resources[operator] * np.maximum(self.packed[operator], 1))

    def by_size(self, operator: int, prices: Prices) -> Values:
        """Cost of a node as a member of a multiset of m nodes, a row per m; HUGE where m is not possible."""
        instance, nodes, packed = self.instance, self.nodes[operator], self.packed[operator]
        latency = instance.latencies[operator]
        m = np.arange(len(latency))[:, None]
        each = instance.replica_terms[operator, nodes] + instance.resources[operator] * prices.capacity[nodes]
        factor = (instance.coefficients.response + prices.response) * prices.through[operator]
        possible = np.isfinite(latency)
        waits = np.where(possible, latency, 0.0)[:, None] / instance.problem.infrastructure.speedups[nodes]
        fitting = np.where(packed > 0, m == packed, m > 1)
        return np.where(possible[:, None] & fitting, factor * waits + m * each, HUGE)

    def unary(self, operator: int, prices: Prices) -> Values:
        """The best number of replicas."""
        return np.asarray(self.by_size(operator, prices).min(axis=0, initial=HUGE))

    def delay(self, stream: int) -> Values:
        """See `_delay`; computed once."""
        if ("delay", stream) not in self._tables:
            self._tables["delay", stream] = self._delay(stream)
        return self._tables["delay", stream]

    def pair(self, stream: int) -> Values:
        """See `_pair`; computed once."""
        if ("pair", stream) not in self._tables:
            self._tables["pair", stream] = self._pair(stream)
        return self._tables["pair", stream]

    def _delay(self, stream: int) -> Values:
        """d_(u,v), or the way to the nearest other node where an end is spread; with the hop if it is unavoidable."""
        instance = self.instance
        i, j = (int(end) for end in instance.edges[stream])
        network = instance.problem.infrastructure.network.delay_ms
        u, v = self.nodes[i], self.nodes[j]
        delays = network[np.ix_(u, v)]
        onward = _nearest_other(network, instance.allowed[j])[u]
        back = _nearest_other(network.T, instance.allowed[i])[v]
        spread_i, spread_j = self.packed[i] == 0, self.packed[j] == 0
        delays = np.where(spread_j[None, :], np.maximum(delays, onward[:, None]), delays)
        delays = np.where(spread_i[:, None], np.maximum(delays, back[None, :]), delays)
        hop = instance.problem.hop_ms
        if not hop:
            return delays
        same = (spread_i[:, None] & spread_j[None, :]) | (
            (u[:, None] == v[None, :]) & (self.packed[i][:, None] == self.packed[j][None, :])
        )
        return np.asarray(delays + hop * ~(same & bool(instance.fusable[stream])))

    def _pair(self, stream: int) -> Values:
        """Prices of one tuple per second, availability of one pair of replicas at least."""
        instance = self.instance
        i, j = (int(end) for end in instance.edges[stream])
        between = np.ix_(self.nodes[i], self.nodes[j])
        least = _least(instance, i) * _least(instance, j)
        table = instance.rates[stream] * instance.rate_terms[between] + least * instance.pair_terms[between]
        room = instance.problem.infrastructure.capacities[self.nodes[i]] + TOLERANCE
        tight = self.least_use(i)[:, None] + self.least_use(j)[None, :] > room[:, None]
        same = self.nodes[i][:, None] == self.nodes[j][None, :]
        return np.asarray(np.where(same & tight, HUGE, table))

    def latency(self, operator: int, choice: int, prices: Prices) -> float:
        """With the best number of replicas."""
        m = int(np.argmin(self.by_size(operator, prices)[:, choice]))
        speed = self.instance.problem.infrastructure.speedups[self.nodes[operator][choice]]
        return float(self.instance.latencies[operator, m] / speed)

    def use(self, operator: int, choice: int, prices: Prices) -> tuple[Indices, Values]:
        """All replicas on the one node."""
        m = int(np.argmin(self.by_size(operator, prices)[:, choice]))
        return self.nodes[operator][choice : choice + 1], np.array([m * self.instance.resources[operator]])


def _stand_ins(instance: Instance, operator: int, nodes: Indices) -> tuple[Indices, Indices]:
    """Packed choices that fit and are not saturated, then spread ones if there can be any."""
    possible = [int(m) for m in np.nonzero(np.isfinite(instance.latencies[operator]))[0]]
    capacity = instance.problem.infrastructure.capacities
    pairs = [
        (int(u), m) for m in possible for u in nodes if m * instance.resources[operator] <= capacity[u] + TOLERANCE
    ]
    if len(nodes) > 1 and any(m > 1 for m in possible):
        pairs += [(int(u), 0) for u in nodes]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _nearest_other(delay: Values, allowed: Flags) -> Values:
    """From every node the delay to the nearest other one that is allowed; 0 if there is none."""
    away = np.where(allowed[None, :] & ~np.eye(len(delay), dtype=bool), delay, np.inf).min(axis=1)
    return np.where(np.isfinite(away), away, 0.0)


def _least(instance: Instance, operator: int) -> int:
    return instance.problem.application.by_name[instance.names[operator]].min_replicas


class OptionLevel:
    """A multiset for every operator."""

    def __init__(self, instance: Instance, candidates: list[Candidates]) -> None:
        self.instance, self.candidates = instance, candidates
        count = len(instance.node_names)
        self.taken = [c.counts(count) * instance.resources[i] for i, c in enumerate(candidates)]
        self.tables = [
            stream_table(instance, e, candidates[i], candidates[j]) for e, (i, j) in enumerate(instance.edges.tolist())
        ]
        self.delays = [self._delay(e) for e in range(len(self.tables))]
        self.pairs = [self._pair(e) for e in range(len(self.tables))]

    def sizes(self) -> list[int]:
        """Multisets of every operator."""
        return [len(options) for options in self.candidates]

    def unary(self, operator: int, prices: Prices) -> Values:
        """R, replicas and what they take of the nodes."""
        options = self.candidates[operator]
        factor = (self.instance.coefficients.response + prices.response) * prices.through[operator]
        return np.asarray(factor * options.latency + options.term + self.taken[operator] @ prices.capacity)

    def delay(self, stream: int) -> Values:
        """The slowest pair, with the hop unless both run on the same nodes and could be one query."""
        return self.delays[stream]

    def _delay(self, stream: int) -> Values:
        hop, delays = self.instance.problem.hop_ms, self.tables[stream].delay
        if not hop:
            return delays
        if not self.instance.fusable[stream]:
            return delays + hop
        i, j = self.instance.edges[stream]
        same = (self.candidates[i].nodes[:, None, :] == self.candidates[j].nodes[None, :, :]).all(axis=2)
        return np.asarray(delays + hop * ~same)

    def pair(self, stream: int) -> Values:
        """Prices, network metric and availability."""
        return self.pairs[stream]

    def _pair(self, stream: int) -> Values:
        i, j = self.instance.edges[stream]
        table = self.tables[stream].term.copy()
        for u, capacity in enumerate(self.instance.problem.infrastructure.capacities):
            before, after = np.nonzero(self.taken[i][:, u])[0], np.nonzero(self.taken[j][:, u])[0]
            if len(before) and len(after):
                total = self.taken[i][before, u][:, None] + self.taken[j][after, u][None, :]
                over = total > capacity + TOLERANCE
                table[np.ix_(before, after)] = np.where(over, HUGE, table[np.ix_(before, after)])
        return table

    def latency(self, operator: int, choice: int, prices: Prices) -> float:  # noqa: ARG002 - the size is chosen here
        """R_{i,𝒰}."""
        return float(self.candidates[operator].latency[choice])

    def use(self, operator: int, choice: int, prices: Prices) -> tuple[Indices, Values]:  # noqa: ARG002 - no choice left
        """𝒰(u) Res_i."""
        taken = self.taken[operator][choice]
        nodes = np.nonzero(taken)[0]
        return nodes, taken[nodes]
