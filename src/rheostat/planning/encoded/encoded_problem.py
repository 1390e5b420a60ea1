"""Problem as arrays: the form that every planner computes with.

Inside the planners everything is minimised: F = w_R R + Σ replicas + Σ streams + w_D T_D + constant, where ODP's
utility is taken negative. Operators are numbered in the order of flow, nodes as in the infrastructure.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from rheostat.model.downtime.downtime_model import CurrentDeployment
from rheostat.model.graph.application import Grouping
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.quality.objective import EdrpObjective, OdpObjective, Range
from rheostat.model.quality.qos import NetworkMetric
from rheostat.planning.contract.problem import Problem

Values = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

TOLERANCE = 1e-9
"""Tolerance of every constraint, the same as in the model."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Objective as factors of raw metrics, to be minimised."""

    response: float = 0.0
    """Factor per millisecond of response time."""
    cost: float = 0.0
    """Factor per $ and hour."""
    downtime: float = 0.0
    """Factor per second of downtime."""
    log_availability: float = 0.0
    """Factor per unit of log availability; not positive."""
    network: float = 0.0
    """Factor per unit of the chosen network metric."""
    constant: float = 0.0

    @classmethod
    def of(cls, problem: Problem) -> "Coefficients":
        """Factors of EDRP's cost [EDRP, eq. 12], or of ODP's utility negated [ODP, eq. 9, 22]."""
        objective = problem.objective
        if isinstance(objective, EdrpObjective):
            bounds = objective.bounds
            return cls(
                response=_per(objective.response_time, bounds.response_time_ms),
                cost=_per(objective.cost, bounds.cost_per_hour),
                downtime=_per(objective.downtime, bounds.downtime_seconds) if problem.current is not None else 0.0,
            )
        return cls._of_utility(objective)

    @classmethod
    def _of_utility(cls, objective: OdpObjective) -> "Coefficients":
        known = objective.availability_range
        logs = Range(log(known.least), log(known.greatest)) if known else None
        response, response_constant = _lower_is_better(objective.response_time, objective.response_time_range)
        network, network_constant = _lower_is_better(objective.network, objective.network_range)
        availability, availability_constant = _lower_is_better(objective.availability, logs)
        if availability:
            # Larger is better here: the factor changes its sign, and the least value counts 0.
            availability_constant = availability * (logs.least if logs else 0.0)
        return cls(
            response=response,
            log_availability=-availability,
            network=network,
            constant=response_constant + network_constant + availability_constant,
        )


def _per(weight: float, scale: float) -> float:
    return weight / scale if weight > 0 else 0.0


def _lower_is_better(weight: float, known: Range | None) -> tuple[float, float]:
    """-w (greatest - x) / width as factor and constant."""
    if weight == 0:
        return 0.0, 0.0
    if known is None:
        raise ValueError("a weighed metric has no normaliser yet: use rheostat.planning.encoded.normalisers.normalised")
    width = known.greatest - known.least
    return (weight / width, -weight * known.greatest / width) if width > 0 else (0.0, -weight)


@dataclass(frozen=True)
class EncodedProblem:
    """Arrays of a problem whose normalisers are known."""

    problem: Problem

    @cached_property
    def coefficients(self) -> Coefficients:
        """Factors of the objective."""
        return Coefficients.of(self.problem)

    @cached_property
    def weighs_time_only(self) -> bool:
        """Whether F consists of response time and downtime alone: then no term of it is a mean over replicas."""
        factors = self.coefficients
        return factors.response > 0 and factors.cost == factors.log_availability == factors.network == 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Operator names in the order of flow."""
        return self.problem.application.flow

    @cached_property
    def position(self) -> dict[str, int]:
        """Number of every operator, by name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """Node names by number."""
        return tuple(node.name for node in self.problem.infrastructure.nodes)

    @cached_property
    def edges(self) -> Indices:
        """Streams as pairs of operator numbers."""
        ends = [(self.position[s.source], self.position[s.target]) for s in self.problem.application.streams]
        return np.array(ends, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def rates(self) -> Values:
        """λ of every stream."""
        rates = self.problem.application.rates.streams
        return np.array([rates[s.ends] for s in self.problem.application.streams], dtype=float)

    @cached_property
    def resources(self) -> Values:
        """Res_i of every operator."""
        return np.array([self.problem.application.by_name[name].resources for name in self.names])

    @cached_property
    def replica_prices(self) -> Values:
        """$ per hour of one replica of every operator."""
        operators = [self.problem.application.by_name[name] for name in self.names]
        return np.array([operator.cost_per_hour * operator.resources for operator in operators])

    @cached_property
    def most_replicas(self) -> int:
        """The largest k_i."""
        return max(operator.max_replicas for operator in self.problem.application.operators)

    @cached_property
    def latencies(self) -> Values:
        """R_i(λ_i / m) for every operator and m; inf where m is not allowed or the operator saturated."""
        table = np.full((len(self.names), self.most_replicas + 1), inf)
        rates = self.problem.application.rates.operators
        for i, name in enumerate(self.names):
            operator = self.problem.application.by_name[name]
            for m in range(operator.min_replicas, operator.max_replicas + 1):
                table[i, m] = operator.latency.latency_ms(rates[name] / m)
        return table

    @cached_property
    def allowed(self) -> Flags:
        """Whether a replica of an operator may run on a node, and fits there."""
        operators = [self.problem.application.by_name[name] for name in self.names]
        may = np.array([[operator.may_run_on(node) for node in self.node_names] for operator in operators])
        fits = self.resources[:, None] <= self.problem.infrastructure.capacities[None, :] + TOLERANCE
        for name, options in self.problem.restriction.items():
            used = {node for replicas in options for node in replicas}
            may[self.position[name]] &= np.array([node in used for node in self.node_names])
        return np.asarray(may & fits)

    @cached_property
    def replica_terms(self) -> Values:
        """Share of F of one replica of an operator on a node."""
        factors = self.coefficients
        price = factors.cost * self.replica_prices[:, None]
        return np.asarray(price + factors.log_availability * self.problem.infrastructure.log_availabilities[None, :])

    @cached_property
    def rate_terms(self) -> Values:
        """Share of F of one tuple per second from node to node: prices and the network metric."""
        network, factors = self.problem.infrastructure.network, self.coefficients
        terms = factors.cost * network.price
        if factors.network and isinstance(self.problem.objective, OdpObjective):
            terms = terms + factors.network * distance_weights(network.delay_ms, self.problem.objective.network_metric)
        return np.asarray(terms)

    @cached_property
    def pair_terms(self) -> Values:
        """Share of F of a pair of replicas with a stream between them: the availability of their link."""
        return np.asarray(self.coefficients.log_availability * self.log_links + 0.0)

    @cached_property
    def log_links(self) -> Values:
        """a_(u,v)."""
        return np.log(self.problem.infrastructure.network.availability)

    @cached_property
    def log_availability_bound(self) -> float:
        """Logarithm of the least allowed availability."""
        least = self.problem.objective.bounds.availability
        # The model applies its tolerance to the availability itself.
        return log(least - TOLERANCE) if least > TOLERANCE else -inf

    @cached_property
    def fusable(self) -> Flags:
        """Whether a stream could stay inside one query; the deployment decides whether it does."""
        application = self.problem.application
        return np.array(
            [
                len(application.outputs[s.source]) == 1
                and len(application.inputs[s.target]) == 1
                and s.grouping is not Grouping.BROADCAST
                for s in application.streams
            ],
            dtype=bool,
        )

    @cached_property
    def situation(self) -> CurrentDeployment | None:
        """The running deployment with its application and infrastructure."""
        return self.problem.situation

    @cached_property
    def known_downtimes(self) -> tuple[dict[tuple[int, ...], float], ...]:
        """t_D of the multisets asked for so far, per operator."""
        return tuple({} for _ in self.names)

    @cached_property
    def known_spreads(self) -> dict[tuple[bytes, float, int, int, float, bool], Values]:
        """Results of `spread` so far, kept for later calls."""
        return {}

    @cached_property
    def restart_seconds(self) -> float:
        """Least downtime of any change: the restarts of unchanged operators [EDRP, eq. 33]."""
        if self.situation is None:
            return 0.0
        operators = self.problem.application.operators
        return max(self.problem.downtime.unchanged_seconds(self.situation, operator) for operator in operators)

    @cached_property
    def current(self) -> list[tuple[int, ...]] | None:
        """The current deployment, as node numbers per operator."""
        deployment = self.problem.current
        return None if deployment is None else [self.numbers(deployment[name]) for name in self.names]

    def deployment(self, chosen: list[tuple[int, ...]]) -> Deployment:
        """The deployment of node numbers, listed per operator, one per replica."""
        placed = {self.names[i]: self.replicas(nodes) for i, nodes in enumerate(chosen)}
        return Deployment.of(placed)

    def replicas(self, nodes: tuple[int, ...]) -> Replicas:
        """The multiset of the given node numbers."""
        return Replicas.on(*(self.node_names[u] for u in nodes))

    def numbers(self, replicas: Replicas) -> tuple[int, ...]:
        """Node numbers of a multiset, in ascending order."""
        index = self.problem.infrastructure.index
        return tuple(sorted(index[node] for node, count in replicas.counts for _ in range(count)))

    def own_terms(self, internal: float) -> float:
        """An internal value in the objective's own units."""
        return -internal if self.problem.maximises else internal


def distance_weights(delay_ms: Values, metric: NetworkMetric) -> Values:
    """Weight of a tuple per second between two nodes: 1, d or d² for u ≠ v, 0 for u = v [ODP, eq. 19-21]."""
    apart = 1.0 - np.eye(len(delay_ms))
    power = {NetworkMetric.TRAFFIC: 0, NetworkMetric.USAGE: 1, NetworkMetric.ELASTIC_ENERGY: 2}[metric]
    return np.asarray(apart * delay_ms**power)
