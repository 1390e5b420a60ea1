"""Executors, one per replica, that heuristics place one by one as Storm's schedulers do, and the room for them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Flags, Indices, Values


@dataclass(frozen=True)
class Executors:
    """Graph of executors: one per needed replica, operators in the order of flow [ODP 6.2]."""

    instance: EncodedProblem
    operator: Indices
    """The number of every executor's operator."""

    @classmethod
    def of(cls, instance: EncodedProblem) -> "Executors":
        """The executors of the smallest number of replicas of each operator that keeps up with its load."""
        degrees = [int(np.nonzero(np.isfinite(row))[0][0]) for row in instance.latencies]
        return cls(instance, np.repeat(np.arange(len(degrees)), degrees))

    def __len__(self) -> int:
        return len(self.operator)

    @cached_property
    def traffic(self) -> Values:
        """[a, b]: tuples per second from executor a to executor b, with streams split evenly."""
        degree = np.bincount(self.operator)
        between = np.zeros((len(degree), len(degree)))
        for rate, (i, j) in zip(self.instance.rates, self.instance.edges.tolist(), strict=True):
            between[i, j] += rate / (degree[i] * degree[j])
        return np.asarray(between[np.ix_(self.operator, self.operator)])

    @cached_property
    def exchanged(self) -> Values:
        """[a, b]: tuples per second between two executors, in both directions."""
        return np.asarray(self.traffic + self.traffic.T)

    @cached_property
    def needs(self) -> Values:
        """Res_i of every executor."""
        return np.asarray(self.instance.resources[self.operator])

    @cached_property
    def allowed(self) -> Flags:
        """[a, u]: whether an executor may run on a node, and fits into it if it is empty."""
        return np.asarray(self.instance.allowed[self.operator])

    @cached_property
    def pinned(self) -> Flags:
        """Whether an executor has a single possible node."""
        return np.asarray(self.allowed.sum(axis=1) == 1)

    @cached_property
    def capacities(self) -> Values:
        """Res_u of every node, as an array to count down."""
        return self.instance.problem.infrastructure.capacities.astype(float)

    def open(self, executor: int, left: Values) -> Flags:
        """Nodes that an executor may use and that have room for it, given the free resources of each."""
        return np.asarray(self.allowed[executor] & (left >= self.needs[executor] - TOLERANCE))

    def pinned_first(self, order: Indices) -> Indices:
        """The same order, but pinned executors first: no other may take the only node they can use."""
        return np.concatenate([order[self.pinned[order]], order[~self.pinned[order]]])

    def by_traffic(self) -> Indices:
        """Executors by the traffic they send and receive, busiest first; ties in the order of flow."""
        return np.argsort(-self.exchanged.sum(axis=1), kind="stable")

    def left_by(self, nodes: Indices) -> Values:
        """Free resources of every node if executors are on `nodes`; -1 means not placed yet."""
        here = nodes >= 0
        used = np.bincount(nodes[here], weights=self.needs[here], minlength=len(self.capacities))
        return np.asarray(self.capacities - used)

    def deployment(self, nodes: Indices) -> Deployment:
        """The deployment for the nodes of all executors."""
        count = len(self.instance.names)
        return self.instance.deployment([tuple(nodes[self.operator == i].tolist()) for i in range(count)])

    def places(self, deployment: Deployment) -> Indices | None:
        """Nodes of the executors in a deployment; None if their number differs or the room does not suffice."""
        numbers = [self.instance.numbers(deployment[name]) for name in self.instance.names]
        if [len(nodes) for nodes in numbers] != np.bincount(self.operator).tolist():
            return None
        nodes = np.array([u for chosen in numbers for u in chosen], dtype=np.int64)
        may = self.allowed[np.arange(len(self)), nodes].all()
        return nodes if may and (self.left_by(nodes) >= -TOLERANCE).all() else None


@dataclass(frozen=True)
class ExecutorPlacement:
    """Placement of executors by a heuristic, with the number of moves it took."""

    nodes: Indices
    reassignments: int | None = None
    note: str = ""
