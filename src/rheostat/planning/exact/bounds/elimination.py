"""Dynamic programming by variable elimination: cost-to-go of the remaining operators on any graph.

Operators are decided in a search order and eliminated in the reverse of it. Eliminating an operator leaves a message
to at most two operators before it: min over its choices of its own cost and its costs with these two. Where an
operator has more than two neighbours before it, they are split into groups of two (a mini-bucket): what comes out
is a lower bound then, and otherwise the exact minimum of the pairwise costs.
"""

from dataclasses import dataclass
from math import prod

import numba
import numpy as np

from rheostat.planning.encoded.encoded_problem import Indices, Values

HUGE = 1e15
"""Finite stand-in for infinity in sums that are compared: avoids inf - inf."""

_MOST_STEPS = 10_000_000
"""Limit on the sums computed in one elimination."""

Group = tuple[int, ...]
"""At most two operators that are decided before the one that sends them a message."""


@numba.njit(cache=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def min_plus(left: Values, right: Values) -> Values:  # pragma: no cover - compiled
    """out[a, b] = min_x left[a, x] + right[b, x]."""
    out = np.empty((left.shape[0], right.shape[0]))
    for a in range(left.shape[0]):
        for b in range(right.shape[0]):
            best = 1e30
            for x in range(left.shape[1]):
                best = min(best, left[a, x] + right[b, x])
            out[a, b] = best
    return out


@dataclass(frozen=True)
class Structure:
    """Message structure: receivers of each operator's messages, fixed by the graph and the search order."""

    order: tuple[int, ...]
    """Operators in the order of decision; every stream points forward, except to operators decided last."""
    groups: tuple[tuple[Group, ...], ...]
    """Groups that receive messages, for each operator by number."""
    is_exact: bool
    """Whether no operator had to be split."""

    @classmethod
    def of(cls, operators: int, edges: Indices, path: tuple[int, ...] = (), last: tuple[int, ...] = ()) -> "Structure":
        """Structure along the path, if it has most operators; every other operator comes when the path needs it.

        Otherwise the order that keeps few operators open at a time, chosen greedily. Operators of `last` come at the
        end.
        """
        ends = [(int(i), int(j)) for i, j in edges]
        order = _path_order(operators, ends, path) if 2 * len(path) > operators else _narrow_order(operators, ends)
        order = [*(i for i in order if i not in last), *last]
        rank = {i: p for p, i in enumerate(order)}
        before: list[set[int]] = [set() for _ in range(operators)]
        for i, j in ends:
            before[j if rank[j] > rank[i] else i].add(i if rank[j] > rank[i] else j)
        groups: list[tuple[Group, ...]] = [()] * operators
        for j in reversed(order):
            near = sorted(before[j], key=lambda i: rank[i])
            pairs = [tuple(near[at : at + 2]) for at in range(0, len(near), 2)] or [()]
            groups[j] = tuple(pairs)
            for pair in pairs:
                if len(pair) == 2:
                    before[pair[1]].add(pair[0])
        return cls(tuple(order), tuple(groups), all(len(g) == 1 for g in groups))

    def affordable(self, edges: Indices, sizes: list[int]) -> "Structure":
        """This structure, or one with messages to single operators where tables for two would take long."""
        steps = sum(prod(sizes[i] for i in (j, *group)) for j in self.order for group in self.groups[j])
        if steps <= _MOST_STEPS:
            return self
        rank = {i: p for p, i in enumerate(self.order)}
        groups: list[tuple[Group, ...]] = [()] * len(self.order)
        for j in self.order:
            near = {int(sum(ends)) - j for ends in edges.tolist() if j in ends}
            groups[j] = tuple((i,) for i in sorted(near, key=lambda i: rank[i]) if rank[i] < rank[j]) or ((),)
        return Structure(self.order, tuple(groups), all(len(g) == 1 for g in groups))


def _path_order(operators: int, edges: list[tuple[int, int]], path: tuple[int, ...]) -> list[int]:
    """A topological order in which no operator comes before it is needed."""
    order: list[int] = []

    def place(i: int) -> None:
        if i not in order:
            for source in sorted(source for source, target in edges if target == i):
                place(source)
            order.append(i)

    for i in (*path, *range(operators)):
        place(i)
    return order


def _narrow_order(operators: int, edges: list[tuple[int, int]]) -> list[int]:
    """A topological order that keeps the number of decided operators with undecided neighbours small."""
    near: list[set[int]] = [set() for _ in range(operators)]
    inputs: list[set[int]] = [set() for _ in range(operators)]
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)
        inputs[j].add(i)
    order: list[int] = []
    decided = set[int]()
    while len(order) < operators:
        ready = [i for i in range(operators) if i not in decided and inputs[i] <= decided]

        def still_open(i: int) -> tuple[int, int, int]:
            now = decided | {i}
            return sum(1 for d in now if near[d] - now), -len(near[i] & decided), i

        chosen = min(ready, key=still_open)
        order.append(chosen)
        decided.add(chosen)
    return order


@dataclass
class Eliminated:
    """Messages of an elimination for one set of costs."""

    structure: Structure
    unary: list[Values]
    """Own cost of every operator, plus the messages to it alone."""
    pair: dict[tuple[int, int], Values]
    """Cost of pairs (earlier, later), plus the messages to both."""
    messages: list[list[Values]]
    """Messages of every operator to each of its groups: a number, a vector or a table."""
    value: float
    """The minimum, or a lower bound of it."""

    def decoded(self) -> list[int]:
        """A choice for every operator that attains the minimum if the elimination is exact."""
        chosen = [-1] * len(self.unary)
        for j in self.structure.order:
            total = self.unary[j].copy()
            for group in self.structure.groups[j]:
                for i in group:
                    total += self.pair[i, j][chosen[i]]
            chosen[j] = int(np.argmin(total))
        return chosen

    def marginals(self) -> list[Values]:
        """Lower bound of the minimum with each choice of each operator."""
        found: list[Values] = [np.empty(0)] * len(self.unary)
        joint: dict[tuple[int, int], Values] = {}
        for j in self.structure.order:
            share = self.unary[j] / len(self.structure.groups[j])
            best = np.full(len(share), -HUGE)
            for group, message in zip(self.structure.groups[j], self.messages[j], strict=True):
                best = np.maximum(best, self._through(j, group, (share, message), (joint, found)))
            found[j] = best
        return found

    def _through(
        self,
        j: int,
        group: Group,
        sent: tuple[Values, Values],
        known: tuple[dict[tuple[int, int], Values], list[Values]],
    ) -> Values:
        """Marginals of j by one of its groups; stores the joint marginals with the group's members for later."""
        (share, message), (joint, found) = sent, known
        if not group:
            return np.asarray(share + (self.value - float(message)))
        if len(group) == 1:
            (i,) = group
            table = (found[i] - message)[:, None] + self.pair[i, j] + share[None, :]
            joint[i, j] = table
            return np.asarray(table.min(axis=0))
        a, b = group
        outside = joint[a, b] - message
        with_a, with_b = self.pair[a, j] + share[None, :], self.pair[b, j]
        joint[a, j] = min_plus(outside, np.ascontiguousarray(with_b.T)) + with_a
        joint[b, j] = min_plus(np.ascontiguousarray(outside.T), np.ascontiguousarray(with_a.T)) + with_b
        return np.asarray(joint[a, j].min(axis=0))


def eliminate(structure: Structure, unary: list[Values], pair: dict[tuple[int, int], Values]) -> Eliminated:
    """Computes all messages, last operator first. `pair` is keyed (earlier, later) in the search order."""
    unary = [costs.copy() for costs in unary]
    pair = {ends: table.copy() for ends, table in pair.items()}
    messages: list[list[Values]] = [[] for _ in unary]
    value = 0.0
    for j in reversed(structure.order):
        share = unary[j] / len(structure.groups[j])
        for group in structure.groups[j]:
            if not group:
                message = np.asarray(share.min())
                value += float(message)
            elif len(group) == 1:
                message = (pair[group[0], j] + share[None, :]).min(axis=1)
                unary[group[0]] += message
            else:
                a, b = group
                message = min_plus(pair[a, j] + share[None, :], pair[b, j])
                pair[a, b] = pair[a, b] + message if (a, b) in pair else message.copy()
            messages[j].append(message)
    return Eliminated(structure, unary, pair, messages, value)
