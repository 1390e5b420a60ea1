"""Deployment as arrays for the computation of an interval: load shares of replicas and distances between them.

Built once per deployment and set of nodes that are up. A row stands for the replicas of one operator on one node, as in
`model.quality.placed`; every replica of an operator gets the same share of its load (EDRP 3.2).
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality import qos
from rheostat.model.quality.placed import Indices, Placed
from rheostat.simulation.queues.queue_formulas import Values
from rheostat.simulation.queues.servers import ReplicaRows, Servers


@dataclass(frozen=True)
class ServerLayout:
    """A deployed application, with the nodes that are down."""

    application: Application
    infrastructure: Infrastructure
    """All nodes of the deployment, including those that are down."""
    deployment: Deployment
    servers: Servers
    down: frozenset[str] = frozenset()
    hop_ms: float = 0.0

    @cached_property
    def placed(self) -> Placed:
        """The deployed application as an argument of the formulas."""
        return Placed(self.application, self.infrastructure, self.deployment, self.hop_ms)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Operator and node of every row."""
        names = [operator.name for operator in self.application.operators]
        return tuple((name, node) for name in names for node in self.deployment[name])

    @cached_property
    def counts(self) -> Values:
        """Replicas of every row."""
        return np.array([self.deployment[name][node] for name, node in self.pairs], dtype=float)

    @cached_property
    def shares(self) -> Values:
        """Share of its operator's load that each row gets."""
        return np.array([self.deployment[name][node] / len(self.deployment[name]) for name, node in self.pairs])

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Rows of every operator."""
        ends = np.cumsum([0, *(len(list(self.deployment[op.name])) for op in self.application.operators)]).tolist()
        return tuple(slice(begin, end) for begin, end in pairwise(ends))

    @cached_property
    def rows(self) -> ReplicaRows:
        """Service parameters of the rows."""
        speeds, index = self.infrastructure.speedups, self.infrastructure.index
        position = {operator.name: i for i, operator in enumerate(self.application.operators)}
        operators = [position[name] for name, _ in self.pairs]
        return ReplicaRows(self.servers, operators, [float(speeds[index[node]]) for _, node in self.pairs])

    @cached_property
    def up(self) -> Values:
        """1 for rows whose node is up, 0 for the others."""
        return np.array([0.0 if node in self.down else 1.0 for _, node in self.pairs])

    @cached_property
    def starts(self) -> list[int]:
        """First row of every operator."""
        return [rows.start for rows in self.slices]

    @cached_property
    def working(self) -> Values:
        """Share of its operator's work that each row does, among the rows that are up."""
        shares = self.shares * self.up
        whole = np.add.reduceat(shares, self.starts)[self.owner]
        return np.asarray(shares / np.maximum(whole, 1e-12))[:, None]

    @cached_property
    def capacities(self) -> Values:
        """Tuples per second that every row can serve; 0 if its node is down."""
        whole = self.rows.capacity[:, 0] * self.rows.speed[:, 0] * self.counts
        return np.where(self.up > 0, whole, 0.0)

    @cached_property
    def full_work(self) -> Values:
        """Tuples per second that keep a row fully busy; infinite without a limit, and where nothing runs."""
        return np.where(self.capacities > 0, self.capacities, np.inf)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions of the operators such that every stream points forward."""
        return tuple(self.placed.position[name] for name in self.application.flow)

    @cached_property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the streams into every operator."""
        ends = [stream.target for stream in self.application.streams]
        return tuple(
            tuple(i for i, target in enumerate(ends) if target == op.name) for op in self.application.operators
        )

    @cached_property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the streams out of every operator."""
        ends = [stream.source for stream in self.application.streams]
        return tuple(
            tuple(i for i, source in enumerate(ends) if source == op.name) for op in self.application.operators
        )

    @cached_property
    def producers(self) -> tuple[int, ...]:
        """Position of the operator that produces every stream."""
        return tuple(self.placed.position[stream.source] for stream in self.application.streams)

    @cached_property
    def sources(self) -> frozenset[int]:
        """Positions of the source operators."""
        return frozenset(i for i, op in enumerate(self.application.operators) if op.kind is Kind.SOURCE)

    @cached_property
    def ends(self) -> list[int]:
        """Positions of the operators without an outgoing stream."""
        return [i for i, op in enumerate(self.application.operators) if not self.application.outputs[op.name]]

    @cached_property
    def gains(self) -> tuple[Values, Values, Values, Values]:
        """Rates of all operators and streams as linear functions of a source's rate: λ = slope x + constant.

        The slopes and constants of the operators, then those of the streams; exact while everything is served.
        """
        idle, busy = (self.application.with_source_rate(rate).rates for rate in (0.0, 1.0))
        operators, streams = [op.name for op in self.application.operators], [s.ends for s in self.application.streams]
        least = np.array([idle.operators[name] for name in operators])
        more = np.array([busy.operators[name] for name in operators])
        few = np.array([idle.streams[ends] for ends in streams])
        many = np.array([busy.streams[ends] for ends in streams])
        return (more - least)[:, None], least[:, None], (many - few)[:, None], few[:, None]

    @cached_property
    def owner(self) -> Indices:
        """Position of the operator of every row."""
        return np.array(self.rows.operator, dtype=np.intp)

    @cached_property
    def distances(self) -> tuple[Values, Values]:
        """Mean and variance of the network delay of every stream over pairs of replicas, in seconds.

        Differs: EDRP (3) takes the longest delay, that of the slowest tuple; this is the delay of an average one.
        """
        placed = self.placed
        if not self.application.streams:
            return np.empty(0), np.empty(0)
        delays = placed.infrastructure.network.delay_ms[placed.pair_nodes] / 1000
        starts, weights = placed.pairs.starts, placed.pair_count
        total = np.add.reduceat(weights, starts)
        mean = np.add.reduceat(weights * delays, starts) / total
        square = np.add.reduceat(weights * delays**2, starts) / total
        return mean + placed.hops / 1000, np.maximum(square - mean**2, 0.0)

    @cached_property
    def prices(self) -> Values:
        """Mean C_(u,v) of every stream over pairs of replicas: $ per hour for one tuple per second."""
        placed = self.placed
        if not self.application.streams:
            return np.empty(0)
        prices = placed.infrastructure.network.price[placed.pair_nodes]
        starts, weights = placed.pairs.starts, placed.pair_count
        return np.asarray(np.add.reduceat(weights * prices, starts) / np.add.reduceat(weights, starts))

    @cached_property
    def replicas_cost(self) -> float:
        """Cost of all replicas in $ per hour, without their streams [EDRP 3.4]."""
        return float(qos.operator_costs(self.placed).sum())

    @cached_property
    def slots_used(self) -> dict[str, float]:
        """Resources taken on every node."""
        taken = qos.resource_use(self.placed)
        return {node.name: float(taken[i]) for i, node in enumerate(self.infrastructure.nodes)}

    def on(self, deployment: Deployment, infrastructure: Infrastructure, down: Collection[str]) -> "ServerLayout":
        """The layout of the same application with another deployment."""
        return ServerLayout(self.application, infrastructure, deployment, self.servers, frozenset(down), self.hop_ms)
