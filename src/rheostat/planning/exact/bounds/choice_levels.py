"""Choice levels: the bounds choose either single nodes that stand for multisets, or the multisets themselves.

*Relaxation lemma*: pick any one replica of every operator. The delay between the picked replicas never exceeds the
maximum over all, and the mean over all picks of what averages over pairs (prices, traffic) is what the multisets cost.
So some pick costs at most what the multisets cost: the problem of single nodes, each operator with the best number of
replicas, bounds the replicated problem from below, and the mean over its nodes bounds one multiset.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Flags, Indices, Values
from rheostat.planning.encoded.spread import least_delays_to_all
from rheostat.planning.encoded.stream_tables import StreamTable
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.multiset_kernel import farthest_member, stand_ins
from rheostat.planning.exact.bounds.option_kernel import farthest_pairs, overfull_pairs, summed_pairs


@dataclass(frozen=True)
class Prices:
    """Multipliers of the Lagrangian relaxation."""

    flow: Values
    """Share of a unit flow from sources to sinks on every stream: R is at least the flow's length."""
    through: Values
    """Share of the unit flow through every operator."""
    capacity: Values
    """Price of one unit of each node's resources."""
    response: float = 0.0
    """Price of a millisecond of response time in addition to the objective's, where it is bounded."""


class Level(Protocol):
    """Choices of every operator, with their costs under given prices."""

    instance: EncodedProblem

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
        """Share of F of a stream besides its delay; HUGE where two choices cannot be combined."""
        ...

    def latency(self, operator: int, choice: int) -> float:
        """Latency of a choice."""
        ...

    def use(self, operator: int, choice: int) -> tuple[Indices, Values]:
        """Nodes of a choice, and the resources it takes of each."""
        ...


_MOST_HEAVY = 1_500
"""Limit on the heavy choices of an operator; beyond it others are used, since tables have an entry for each pair."""


class NodeLevel:
    """Level with single nodes as choices; a node stands for a multiset that contains it.

    A choice says which kind of multiset it stands for: the number of replicas, all on the node ("packed") or on at
    least two different nodes ("spread"). However well the stand-in of a spread multiset is placed, the other replicas
    need room, too: their delay is at least that to the nearest nodes that hold them all (`spread`).

    If only time is weighed, no term is a mean, and any replica may stand for all. Then it is one on a node with most of
    the replicas ("heavy"): a choice says how many these are. They all take room, and no other node holds more.
    """

    def __init__(self, instance: EncodedProblem) -> None:
        self.instance = instance
        self.nodes: list[Indices] = []
        """Node of every choice, per operator."""
        self.replicas: list[Indices] = []
        """m of every choice, per operator."""
        self.spread: list[Flags] = []
        """Whether a choice stands for replicas on different nodes."""
        self.here: list[Indices] = []
        """Replicas of a choice on its own node: a lower bound, or if heavy the exact number and the most on any
        node."""
        allowed = [np.nonzero(row)[0] for row in instance.allowed]
        listed = [_heavy_stand_ins(instance, i, nodes) for i, nodes in enumerate(allowed)]
        few = max(len(nodes) for nodes, _, _ in listed) <= _MOST_HEAVY
        # With one replica per operator, a node stands for itself only.
        self.heavy = instance.weighs_time_only and few and instance.most_replicas > 1
        if not self.heavy:
            listed = [_stand_ins(instance, i, nodes) for i, nodes in enumerate(allowed)]
        for nodes, replicas, here in listed:
            self.nodes.append(nodes)
            self.replicas.append(replicas)
            self.here.append(here)
            self.spread.append(here < replicas)
        self._tables: dict[tuple[str, int], Values] = {}
        self._members: list[Candidates] | None = None

    def keep(self, operator: int, chosen: Flags) -> None:
        """Keeps only the chosen choices of an operator."""
        self.nodes[operator] = self.nodes[operator][chosen]
        self.replicas[operator] = self.replicas[operator][chosen]
        self.spread[operator] = self.spread[operator][chosen]
        self.here[operator] = self.here[operator][chosen]
        self._tables.clear()

    def keep_in(self, candidates: list[Candidates]) -> None:
        """Keeps only the choices that stand for one of the given multisets, and bounds only these multisets."""
        self._members = candidates
        for i, options in enumerate(candidates):
            wanted = np.zeros(len(self.nodes[i]), dtype=bool)
            rows = self.choices_of(i, options)
            wanted[rows[rows >= 0]] = True
            self.keep(i, wanted)

    def choices_of(self, operator: int, options: Candidates) -> Indices:
        """For every replica of every multiset the choice that stands for it; -1 as padding, or if it was removed."""
        most = self.instance.most_replicas + 1
        index = np.full((len(self.instance.node_names), most, most), -1, dtype=np.int64)
        index[self.nodes[operator], self.replicas[operator], self.here[operator]] = np.arange(len(self.nodes[operator]))
        return stand_ins(options.nodes, options.size, index, self.heavy)

    def sizes(self) -> list[int]:
        """Number of choices of every operator."""
        return [len(nodes) for nodes in self.nodes]

    def unary(self, operator: int, prices: Prices) -> Values:
        """Cost of a node as a member of its multiset: R, and the mean over all replicas of their costs."""
        instance, nodes, m = self.instance, self.nodes[operator], self.replicas[operator]
        each = instance.replica_terms[operator, nodes] + instance.resources[operator] * prices.capacity[nodes]
        factor = (instance.coefficients.response + prices.response) * prices.through[operator]
        waits = instance.latencies[operator, m] / instance.problem.infrastructure.speedups[nodes]
        # A heavy choice only knows that the room of the other replicas costs something, not how much.
        return np.asarray(factor * waits + (self.here[operator] if self.heavy else m) * each)

    def delay(self, stream: int) -> Values:
        """Cached result of `_delay`."""
        if ("delay", stream) not in self._tables:
            self._tables["delay", stream] = self._delay(stream)
        return self._tables["delay", stream]

    def pair(self, stream: int) -> Values:
        """Cached result of `_pair`."""
        if ("pair", stream) not in self._tables:
            self._tables["pair", stream] = self._pair(stream)
        return self._tables["pair", stream]

    def _delay(self, stream: int) -> Values:
        """d_(u,v), or the delay to room for all replicas of a spread end; with the hop if it is unavoidable."""
        instance = self.instance
        i, j = (int(end) for end in instance.edges[stream])
        network = instance.problem.infrastructure.network.delay_ms
        u, v = self.nodes[i], self.nodes[j]
        delays = network[np.ix_(u, v)]
        delays = np.maximum(delays, self._away(i, j, turned=False))
        delays = np.maximum(delays, self._away(j, i, turned=True).T)
        hop = instance.problem.hop_ms
        if not hop:
            return delays
        same = (self.replicas[i][:, None] == self.replicas[j][None, :]) & (
            (self.spread[i][:, None] & self.spread[j][None, :])
            | ((u[:, None] == v[None, :]) & (self.spread[i][:, None] == self.spread[j][None, :]))
        )
        return np.asarray(delays + hop * ~(same & bool(instance.fusable[stream])))

    def _away(self, operator: int, other: int, *, turned: bool) -> Values:
        """[choice, choice of the other]: the least delay to the farthest replica of the other, if that is spread.

        With `turned` the other sends to this operator.
        """
        instance = self.instance
        network = instance.problem.infrastructure.network.delay_ms
        delay = network.T if turned else network
        away = np.zeros((len(self.nodes[operator]), len(self.nodes[other])))
        taken = self.here[operator] * instance.resources[operator]
        for use in np.unique(taken):
            rows = np.nonzero(taken == use)[0]
            for m, most in self._kinds(other):
                columns = np.nonzero((self.replicas[other] == m) & (self.here[other] == most))[0]
                ways = self._ways((other, m), most, float(use), turned=turned)
                away[np.ix_(rows, columns)] = ways[self.nodes[operator][rows]][:, None]
        if self._members is None:
            return away
        options = self._members[other]
        farthest = np.full((len(delay), len(self.nodes[other])), np.inf)
        farthest_member(np.array(delay, order="C"), options.nodes, self.choices_of(other, options), farthest)
        return np.maximum(away, np.where(np.isfinite(farthest), farthest, 0.0)[self.nodes[operator]])

    def _kinds(self, operator: int) -> list[tuple[int, int]]:
        """Kinds of spread multisets among the choices: number of replicas, and number on a choice's node."""
        spread = self.spread[operator]
        kinds = zip(self.replicas[operator][spread].tolist(), self.here[operator][spread].tolist(), strict=True)
        return sorted(set(kinds))

    def ways_to_kind(self, operator: int, other: int, choice: int, *, turned: bool) -> Values:
        """Least delay from every choice of an operator to the farthest replica of another's kind of multiset."""
        kind, here = (other, int(self.replicas[other][choice])), int(self.here[other][choice])
        ways = np.empty(len(self.nodes[operator]))
        for count in np.unique(self.here[operator]).tolist():
            rows = np.nonzero(self.here[operator] == count)[0]
            taken = float(count * self.instance.resources[operator])
            ways[rows] = self._ways(kind, here, taken, turned=turned)[self.nodes[operator][rows]]
        return ways

    def _ways(self, other: tuple[int, int], here: int, taken: float, *, turned: bool) -> Values:
        most = here if self.heavy else None
        return least_delays_to_all(self.instance, other, taken, turned=turned, most=most)

    def _pair(self, stream: int) -> Values:
        """Price of one tuple per second, and lower bound of the availability term of a pair of replicas."""
        instance = self.instance
        i, j = (int(end) for end in instance.edges[stream])
        between = np.ix_(self.nodes[i], self.nodes[j])
        least = _least(instance, i) * _least(instance, j)
        table = instance.rates[stream] * instance.rate_terms[between] + least * instance.pair_terms[between]
        room = instance.problem.infrastructure.capacities[self.nodes[i]] + TOLERANCE
        use_i, use_j = (self.here[o] * instance.resources[o] for o in (i, j))
        tight = use_i[:, None] + use_j[None, :] > room[:, None]
        same = self.nodes[i][:, None] == self.nodes[j][None, :]
        return np.asarray(np.where(same & tight, HUGE, table))

    def latency(self, operator: int, choice: int) -> float:
        """R with this number of replicas on this node."""
        speed = self.instance.problem.infrastructure.speedups[self.nodes[operator][choice]]
        return float(self.instance.latencies[operator, self.replicas[operator][choice]] / speed)

    def use(self, operator: int, choice: int) -> tuple[Indices, Values]:
        """Resources of all replicas on the node; if heavy, of those surely there."""
        m = (self.here if self.heavy else self.replicas)[operator][choice]
        return self.nodes[operator][choice : choice + 1], np.array([m * self.instance.resources[operator]])


def _stand_ins(instance: EncodedProblem, operator: int, nodes: Indices) -> tuple[Indices, Indices, Indices]:
    """Packed choices that fit and are not saturated, then spread ones if any are possible."""
    possible = np.nonzero(np.isfinite(instance.latencies[operator]))[0]
    room = instance.problem.infrastructure.capacities[nodes] + TOLERANCE
    m, at = np.nonzero(possible[:, None] * instance.resources[operator] <= room[None, :])
    several = possible[possible > 1] if len(nodes) > 1 else possible[:0]
    return (
        np.concatenate([nodes[at], np.tile(nodes, len(several))]),
        np.concatenate([possible[m], np.repeat(several, len(nodes))]),
        np.concatenate([possible[m], np.ones(len(several) * len(nodes), dtype=np.int64)]),
    )


def _heavy_stand_ins(instance: EncodedProblem, operator: int, nodes: Indices) -> tuple[Indices, Indices, Indices]:
    """Heavy choices: nodes with the most replicas of a multiset, for every number of these, packed or not."""
    possible = np.nonzero(np.isfinite(instance.latencies[operator]))[0].tolist()
    kinds = [(m, here) for m in possible for here in range(1, m + 1) if here == m or here * len(nodes) >= m]
    room = instance.problem.infrastructure.capacities[nodes] + TOLERANCE
    fitting = [nodes[here * instance.resources[operator] <= room] for _, here in kinds]
    many = [len(at) for at in fitting]
    return (
        np.concatenate([*fitting, np.empty(0, dtype=np.int64)]),
        np.repeat(np.array([m for m, _ in kinds], dtype=np.int64), many),
        np.repeat(np.array([here for _, here in kinds], dtype=np.int64), many),
    )


def _least(instance: EncodedProblem, operator: int) -> int:
    return instance.problem.application.by_name[instance.names[operator]].min_replicas


class OptionLevel:
    """Level with whole multisets as choices."""

    def __init__(self, instance: EncodedProblem, candidates: list[Candidates]) -> None:
        self.instance, self.candidates = instance, candidates
        count = len(instance.node_names)
        self.taken = [c.counts(count) * instance.resources[i] for i, c in enumerate(candidates)]
        self.tables = [self._table(e) for e in range(len(instance.edges))]
        self.delays = [self._delay(e) for e in range(len(self.tables))]
        self.pairs = [self._pair(e) for e in range(len(self.tables))]

    def _table(self, stream: int) -> StreamTable:
        """The same table as `stream_table`, computed by the compiled loops; see there for the equations."""
        instance, network = self.instance, self.instance.problem.infrastructure.network
        sources, targets = (self.candidates[int(end)] for end in instance.edges[stream])
        share = float(instance.rates[stream]) / (sources.size[:, None] * targets.size[None, :])

        def summed(matrix: Values) -> Values:
            return summed_pairs(np.array(matrix, order="C"), sources.nodes, targets.nodes)

        return StreamTable(
            delay=farthest_pairs(np.array(network.delay_ms, order="C"), sources.nodes, targets.nodes),
            term=share * summed(instance.rate_terms) + summed(instance.pair_terms),
            price=share * summed(network.price),
            log_availability=summed(instance.log_links),
        )

    def sizes(self) -> list[int]:
        """Number of multisets of every operator."""
        return [len(options) for options in self.candidates]

    def unary(self, operator: int, prices: Prices) -> Values:
        """R, the replicas' terms, and the price of their room."""
        options = self.candidates[operator]
        factor = (self.instance.coefficients.response + prices.response) * prices.through[operator]
        return np.asarray(factor * options.latency + options.term + self.taken[operator] @ prices.capacity)

    def delay(self, stream: int) -> Values:
        """Delay of the slowest pair, with the hop unless both run on the same nodes and could be one query."""
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
        """Prices, network metric and availability of a stream."""
        return self.pairs[stream]

    def _pair(self, stream: int) -> Values:
        i, j = (int(end) for end in self.instance.edges[stream])
        ends = self.candidates[i].nodes, self.candidates[j].nodes
        needs = float(self.instance.resources[i]), float(self.instance.resources[j])
        room = self.instance.problem.infrastructure.capacities + TOLERANCE
        return np.where(overfull_pairs(room, ends, needs), HUGE, self.tables[stream].term)

    def latency(self, operator: int, choice: int) -> float:
        """R_{i,𝒰}."""
        return float(self.candidates[operator].latency[choice])

    def use(self, operator: int, choice: int) -> tuple[Indices, Values]:
        """𝒰(u) Res_i."""
        taken = self.taken[operator][choice]
        nodes = np.nonzero(taken)[0]
        return nodes, taken[nodes]
