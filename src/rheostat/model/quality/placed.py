"""Application, infrastructure and deployment as flat arrays, over which the formulas sum.

A replica row stands for 𝒰(u) replicas of one operator on one node, a pair row for one pair of nodes that a stream
runs between. With all rows of all operators (streams) in one array each, a metric is a gather and a reduction: no
Python loop over pairs of nodes, whatever the size.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.fragments import fused_streams
from rheostat.model.network.resources import Infrastructure

Indices = NDArray[np.intp]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Rows grouped by the operator (or stream) they belong to: group g is rows starts[g] up to starts[g+1]."""

    starts: Indices
    group: Indices
    """Group of every row."""


@dataclass(frozen=True)
class Placed:
    """A deployed application, the argument of every formula in `qos`."""

    application: Application
    infrastructure: Infrastructure
    deployment: Deployment
    hop_ms: float = 0.0
    """Price of a hop between two queries in ms, for every stream that leaves a fragment."""

    def __post_init__(self) -> None:
        """Rejects a deployment that does not fit the application or the infrastructure."""
        if found := self.deployment.mistakes(self.application, self.infrastructure.index):
            raise InvalidModel("deployment", found)

    @cached_property
    def position(self) -> dict[str, int]:
        """Position of every operator in the application."""
        return {operator.name: i for i, operator in enumerate(self.application.operators)}

    @cached_property
    def _by_operator(self) -> list[tuple[Indices, Values]]:
        """Nodes and counts of every operator."""
        index, placed = self.infrastructure.index, dict(self.deployment.items())
        arrays = []
        for operator in self.application.operators:
            counts = placed[operator.name].counts
            nodes = np.array([index[node] for node, _ in counts], dtype=np.intp)
            arrays.append((nodes, np.array([count for _, count in counts], dtype=float)))
        return arrays

    @cached_property
    def rows(self) -> GroupedRows:
        """Replica rows by operator."""
        return _grouped([len(nodes) for nodes, _ in self._by_operator])

    @cached_property
    def node(self) -> Indices:
        """Node of every replica row."""
        return np.concatenate([nodes for nodes, _ in self._by_operator])

    @cached_property
    def count(self) -> Values:
        """𝒰(u) of every replica row."""
        return np.concatenate([counts for _, counts in self._by_operator])

    @cached_property
    def degree(self) -> Values:
        """|𝒰| of every operator."""
        return np.array([counts.sum() for _, counts in self._by_operator])

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        return [(self.position[s.source], self.position[s.target]) for s in self.application.streams]

    @cached_property
    def pairs(self) -> GroupedRows:
        """Pair rows by stream."""
        sizes = [len(nodes) for nodes, _ in self._by_operator]
        return _grouped([sizes[i] * sizes[j] for i, j in self._ends])

    @cached_property
    def pair_nodes(self) -> tuple[Indices, Indices]:
        """u and v of every pair row."""
        placed = self._by_operator
        us = [np.repeat(placed[i][0], len(placed[j][0])) for i, j in self._ends]
        vs = [np.tile(placed[j][0], len(placed[i][0])) for i, j in self._ends]
        empty = np.empty(0, dtype=np.intp)
        return np.concatenate([empty, *us]), np.concatenate([empty, *vs])

    @cached_property
    def pair_count(self) -> Values:
        """𝒰(u)𝒱(v) of every pair row: pairs of replicas it stands for."""
        placed = self._by_operator
        return np.concatenate([np.empty(0), *(np.outer(placed[i][1], placed[j][1]).ravel() for i, j in self._ends)])

    @cached_property
    def pair_rate(self) -> Values:
        """Tuples per second of every pair row: λ_(i,j) 𝒰(u)𝒱(v) / (|𝒰||𝒱|)."""
        rates = self.application.rates.streams
        per_pair = np.array(
            [
                rates[stream.ends] / (self.degree[i] * self.degree[j])
                for stream, (i, j) in zip(self.application.streams, self._ends, strict=True)
            ]
        )
        return per_pair[self.pairs.group] * self.pair_count if len(per_pair) else np.empty(0)

    @cached_property
    def crosses(self) -> NDArray[np.bool_]:
        """Whether a pair row lies between two different nodes."""
        u, v = self.pair_nodes
        return np.not_equal(u, v)

    @cached_property
    def hops(self) -> Values:
        """Milliseconds that every stream pays for leaving its query."""
        if not self.hop_ms:
            return np.zeros(len(self.application.streams))
        fused = fused_streams(self.application, self.deployment)
        return np.array([0.0 if s.ends in fused else self.hop_ms for s in self.application.streams])


def _grouped(sizes: list[int]) -> GroupedRows:
    lengths = np.array(sizes, dtype=np.intp)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if sizes else np.empty(0)
    return GroupedRows(starts.astype(np.intp), np.repeat(np.arange(len(sizes)), lengths))
