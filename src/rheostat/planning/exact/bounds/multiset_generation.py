"""Generation of multisets replica by replica, pruned where a partial multiset already costs too much.

Where nodes are many, the mean over the nodes of a multiset (`bound_filter`) passes a thousand times more multisets than
are left afterwards: one near node pays for a far one. But neighbours wait for the farthest replica, and the farthest of
a part is never farther than that of the whole. So a part with its neighbours' stand-ins bounds everything that grows
from it.
"""

from dataclasses import dataclass, replace

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, Prices
from rheostat.planning.exact.bounds.elimination import HUGE
from rheostat.planning.exact.bounds.generation_kernel import Side, SpreadChoices, generate_below
from rheostat.planning.exact.bounds.lagrangian import capacity_value
from rheostat.planning.exact.bounds.path_bound import PathAscent, PathBound, affordable_slots, path_bound
from rheostat.planning.exact.bounds.path_kernel import marginals

_STEPS = 300_000
"""Limit on the steps of a pass along the path."""


@dataclass(frozen=True)
class PathCosts:
    """Costs of the path up to and from every stand-in, with free capacity (see `subproblem.narrow`)."""

    level: NodeLevel
    bound: PathBound
    through: Values
    """Least cost of a path through every stand-in; HUGE if not below the limit of this object."""
    up_to: Values
    """Least cost of a path up to every stand-in, including its own."""

    @classmethod
    def below(
        cls, level: NodeLevel, path: tuple[int, ...], prices: Prices, limit: float, bound: PathBound | None = None
    ) -> "PathCosts":
        """The costs for limits up to this one; `bound` is the path bound with free capacity, if known."""
        if bound is None:
            free = replace(prices, capacity=np.zeros(len(prices.capacity)))
            slots = min(3, affordable_slots(level, path, _STEPS))
            bound = path_bound(level, path, free, PathAscent(slots, 0, limit), Deadline())
        spare = _spare(level, bound)
        through, so_far = marginals(bound.way, bound.carried, bound.after, min(limit, HUGE / 2) + spare)
        return cls(level, bound, through, np.minimum.reduceat(so_far, bound.way.values[:-1]))

    def multisets_below(self, operator: int, choices: tuple[Indices, Values, int], limit: float, most: int) -> Indices:
        """Multisets of a given size below a limit, a row of nodes each; at most `most` + 1 of them.

        `choices` are the operator's choices for spread multisets of one size, the value of each, and the size.
        """
        at, values, size = choices
        order = np.argsort(values, kind="stable")
        rows, dear = at[order], self._dear(operator, limit)
        nodes = self.level.nodes[operator][rows]
        soil = SpreadChoices(
            values=np.ascontiguousarray(values[order]),
            own=self.level.unary(operator, self.bound.prices)[rows],
            fits=_fitting(self.level, operator, nodes, size),
            least=1,
            before=self._side(operator, rows, dear, turned=True),
            after=self._side(operator, rows, dear, turned=False),
        )
        return np.asarray(nodes[generate_below(soil, size, (limit, dear), most)])

    def multisets_around(self, operator: int, choices: tuple[Indices, Values, int], limit: float, most: int) -> Indices:
        """Multisets around heavy choices of one kind below a limit: no other node holds more replicas.

        The other replicas are on any node; only the path bounds their cost.
        """
        at, values, size = choices
        level, dear = self.level, self._dear(operator, limit)
        nodes, fits = self._room_around(operator, choices, limit)
        sides = [self._side_of_kind(operator, (int(at[0]), nodes), dear, turned=turned) for turned in (True, False)]
        own = float(level.unary(operator, self.bound.prices)[at].min())
        if dear < HUGE:
            # Nodes that are not by themselves too far from both sides.
            ways = sum((_least_way(side, len(nodes)) for side in sides), np.full(len(nodes), own))
            fits = np.where(ways < dear, fits, 0)
        here, known = int(level.here[operator][at[0]]), np.full(len(level.instance.node_names), values.min())
        if here == 1:
            # Every member is heavy.
            known[level.nodes[operator][at]] = values
        keep = np.nonzero(fits > 0)[0]
        keep = keep[np.argsort(known[nodes[keep]], kind="stable")]
        soil = SpreadChoices(
            values=known[nodes[keep]],
            own=np.full(len(keep), own),
            fits=fits[keep],
            least=here,
            before=_rows_of(sides[0], keep),
            after=_rows_of(sides[1], keep),
        )
        return np.asarray(nodes[keep][generate_below(soil, size, (limit, dear), most)])

    def _room_around(
        self, operator: int, choices: tuple[Indices, Values, int], limit: float
    ) -> tuple[Indices, Indices]:
        """Nodes of an operator, and how many replicas each may hold beside heavy choices: fewer than these."""
        (at, values, size), level = choices, self.level
        here, nodes = int(level.here[operator][at[0]]), np.nonzero(level.instance.allowed[operator])[0]
        is_heavy = np.isin(nodes, level.nodes[operator][at[values < limit]])
        return nodes, np.minimum(_fitting(level, operator, nodes, size), np.where(is_heavy, here, here - 1))

    def _dear(self, operator: int, limit: float) -> float:
        """Limit on the cost of the path with an operator on it; HUGE if the path does not bound it."""
        weight = self.level.instance.coefficients.response + self.bound.prices.response
        if operator not in self.bound.path or weight <= 0 or limit >= HUGE / 2:
            return HUGE
        return limit + _spare(self.level, self.bound)

    def _side(self, operator: int, rows: Indices, dear: float, *, turned: bool) -> Side:
        """Stand-ins before (`turned`) or after an operator that are still possible."""
        stream, alive, cost = self._neighbours(operator, dear, turned=turned)
        if stream < 0:
            return _no_side()
        weight = self.level.instance.coefficients.response + self.bound.prices.response
        pair, delay = self.level.pair(stream), self.level.delay(stream)
        between = np.ix_(rows, alive)
        pair, delay = (pair.T[between], delay.T[between]) if turned else (pair[between], delay[between])
        return Side(
            cost[alive],
            np.ascontiguousarray(weight * delay),
            np.ascontiguousarray(pair),
            pair.min(axis=0, initial=HUGE),
        )

    def _side_of_kind(self, operator: int, kind: tuple[int, Indices], dear: float, *, turned: bool) -> Side:
        """The same for any nodes of a kind of multisets, given by one choice; the delay is that to all of them."""
        stream, alive, cost = self._neighbours(operator, dear, turned=turned)
        if stream < 0:
            return _no_side()
        (choice, nodes), level = kind, self.level
        i, j = (int(end) for end in level.instance.edges[stream])
        other, network = (i if turned else j), level.instance.problem.infrastructure.network.delay_ms
        there = level.nodes[other][alive]
        delay = network.T[np.ix_(nodes, there)] if turned else network[np.ix_(nodes, there)]
        delay = np.maximum(delay, level.ways_to_kind(other, operator, choice, turned=not turned)[alive][None, :])
        weight = level.instance.coefficients.response + self.bound.prices.response
        return Side(cost[alive], np.ascontiguousarray(weight * delay), np.zeros(delay.shape), np.zeros(len(alive)))

    def _neighbours(self, operator: int, dear: float, *, turned: bool) -> tuple[int, Indices, Values]:
        """The stream to one side, the possible stand-ins there, cheapest first, and all their costs."""
        way, path = self.bound.way, self.bound.path
        position = path.index(operator) if dear < HUGE else -2
        other = position - 1 if turned else position + 1
        if not 0 <= other < len(path):
            return -1, np.empty(0, dtype=np.int64), np.empty(0)
        here = np.arange(way.start[other], way.start[other + 1])
        cost = self.up_to[here] if turned else way.own[here] + self.bound.after[way.values[here]]
        alive = np.nonzero(self.through[here] < dear)[0]
        alive = alive[np.argsort(cost[alive], kind="stable")]
        ends = (path[other], path[position]) if turned else (path[position], path[other])
        return self.level.instance.edges.tolist().index(list(ends)), alive, cost


def _no_side() -> Side:
    """Empty side at an end of the path."""
    return Side(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty(0))


def _rows_of(side: Side, rows: Indices) -> Side:
    if not len(side.least):
        return side
    return side._replace(delay=np.ascontiguousarray(side.delay[rows]), pair=np.ascontiguousarray(side.pair[rows]))


def _least_way(side: Side, count: int) -> Values:
    """Least cost of one side with each of `count` nodes."""
    if not len(side.least):
        return np.zeros(count)
    return np.asarray((side.least[None, :] + side.delay).min(axis=1))


def _spare(level: NodeLevel, bound: PathBound) -> float:
    """Path cost not contained in F: the value of free room, less the least cost of operators beside the path."""
    return capacity_value(level.instance, bound.prices) - float(bound.beside.sum())


def _fitting(level: NodeLevel, operator: int, nodes: Indices, size: int) -> Indices:
    """Number of replicas, at most `size`, that fit on every node."""
    need = level.instance.resources[operator]
    if need <= 0:
        return np.full(len(nodes), size, dtype=np.int64)
    capacities = level.instance.problem.infrastructure.capacities[nodes]
    return np.asarray(np.minimum(size, np.floor((capacities + 1e-9) / need).astype(np.int64)))
