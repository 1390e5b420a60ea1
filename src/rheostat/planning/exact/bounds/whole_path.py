"""Lower bound of a multiset if every operator on the path is a whole multiset.

Stand-ins (`multiset_bound`) forget that a neighbour has replicas elsewhere, too. Where few enough multisets are left,
they meet pair by pair instead, once against the flow and once along it. A multiset that proves too expensive on the way
is dropped at once, so that the next position has fewer to compare with.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.candidates import Candidates
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, Prices
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.lagrangian import capacity_value
from rheostat.planning.exact.bounds.path_bound import PathBound, units
from rheostat.planning.exact.bounds.whole_kernel import Links, MultisetChain, cost_up_to_multisets, rest_of_multisets

_MOST_PAIRS = 1_000_000_000
"""Limit on the pairs of neighbours to compare: most pairs are skipped, but all might be needed."""


@dataclass(frozen=True)
class Remaining:
    """Remaining multisets, with bounds of the path before and after each."""

    candidates: list[Candidates]
    before: list[Values]
    """Per operator and multiset: least cost of the path up to it, without its own; 0 beside the path."""
    after: list[Values]
    """Per operator and multiset: least cost of the path after it; 0 beside the path."""

    @classmethod
    def unknown(cls, candidates: list[Candidates]) -> "Remaining":
        """Initial state: costs are only known not to be negative."""
        return cls(candidates, [np.zeros(len(c)) for c in candidates], [np.zeros(len(c)) for c in candidates])

    def keep(self, operator: int, below: Values, most: Values) -> None:
        """Keeps the multisets of an operator whose path is below its limit."""
        rows = np.nonzero(below < most)[0]
        self.candidates[operator] = self.candidates[operator].rows(rows)
        self.before[operator] = self.before[operator][rows]
        self.after[operator] = self.after[operator][rows]


def own_costs(instance: EncodedProblem, operator: int, options: Candidates, prices: Prices) -> Values:
    """Cost of a multiset by itself: R, replicas, and the price of its room."""
    weight = instance.coefficients.response + prices.response
    price = np.where(options.nodes >= 0, prices.capacity[options.nodes], 0.0).sum(axis=1)
    return np.asarray(weight * options.latency + options.term + price * instance.resources[operator])


def pairs_along(path: tuple[int, ...], candidates: list[Candidates]) -> int:
    """Number of pairs of multisets of neighbours on a path."""
    return sum(len(candidates[i]) * len(candidates[j]) for i, j in itertools.pairwise(path))


def compare_pairwise(level: NodeLevel, bound: PathBound, known: Remaining, goal: float, clock: Deadline) -> Remaining:
    """The remaining multisets after pairwise comparison, with better bounds; unchanged if there are too many."""
    if pairs_along(bound.path, known.candidates) > _MOST_PAIRS:
        return known
    known = Remaining(list(known.candidates), list(known.before), list(known.after))
    walk = _PathWalk(level, bound, goal)
    for position in reversed(range(len(bound.path) - 1)):
        if clock.is_over():
            return known
        walk.against_the_flow(known, position)
    for position in range(1, len(bound.path)):
        if clock.is_over():
            return known
        walk.along_the_flow(known, position)
    return known


class _PathWalk:
    """Passes along a path, position by position, with the constants of the path."""

    def __init__(self, level: NodeLevel, bound: PathBound, goal: float) -> None:
        instance, prices = level.instance, bound.prices
        self.level, self.bound = level, bound
        self.weight = float(instance.coefficients.response + prices.response)
        spare = capacity_value(instance, prices) - float(bound.beside.sum())
        self.limit = goal + spare if goal < HUGE / 2 else HUGE / 2
        network, stream = instance.problem.infrastructure.network, instance.edges.tolist()
        self.links = Links(
            np.ascontiguousarray(self.weight * network.delay_ms), instance.rate_terms, instance.pair_terms
        )
        ways = [stream.index([i, j]) for i, j in itertools.pairwise(bound.path)]
        self.rate = np.array([instance.rates[e] for e in ways] or [0.0])
        hop = instance.problem.hop_ms
        self.hop = np.array([[hop, 0.0 if instance.fusable[e] else hop] for e in ways] or [[0.0, 0.0]])
        self.need = np.array([units(instance)[0][i] for i in bound.path])

    def against_the_flow(self, known: Remaining, position: int) -> None:
        """Updates the bounds after every multiset of a position."""
        i, j = self.bound.path[position : position + 2]
        chain = self._chain(known)
        most = np.maximum(self._left(chain, position) - known.before[i], 0.0)
        rest = rest_of_multisets(self.bound.way, self.bound.after, chain, position, (known.after[j], most))
        known.after[i] = np.maximum(known.after[i], rest)
        known.keep(i, known.after[i], most)

    def along_the_flow(self, known: Remaining, position: int) -> None:
        """Updates the bounds before every multiset of a position."""
        j, i = self.bound.path[position - 1 : position + 1]
        chain = self._chain(known)
        most = np.maximum(self._left(chain, position) - known.after[i], 0.0)
        before = cost_up_to_multisets(self.bound.way, chain, position, (known.before[j], most))
        known.before[i] = np.maximum(known.before[i], before)
        known.keep(i, known.before[i], most)

    def _left(self, chain: MultisetChain, position: int) -> Values:
        """Limit on the cost of the rest of the path with each multiset of a position."""
        return np.asarray(self.limit - chain.own[chain.start[position] : chain.start[position + 1]])

    def _chain(self, known: Remaining) -> MultisetChain:
        instance, options = self.level.instance, [known.candidates[i] for i in self.bound.path]
        stand_in = [
            self.level.choices_of(i, c) + first
            for i, c, first in zip(self.bound.path, options, self.bound.way.start, strict=False)
        ]
        return MultisetChain(
            start=np.cumsum([0, *(len(c) for c in options)]),
            nodes=np.concatenate([c.nodes for c in options]),
            size=np.concatenate([c.size for c in options]),
            own=np.concatenate(
                [own_costs(instance, i, c, self.bound.prices) for i, c in zip(self.bound.path, options, strict=True)]
            ),
            stand_in=np.concatenate(stand_in),
            need=self.need,
            rate=self.rate,
            hop=self.hop,
            links=self.links,
            weight=self.weight,
        )
