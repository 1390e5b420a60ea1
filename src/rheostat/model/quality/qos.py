"""Quality metrics of a deployment, one function per formula of ODP and EDRP.

Every function takes a `Placed` and works for single placement (ODP) and multisets (EDRP) alike: a single placement is
a multiset of one. Delays and latencies are milliseconds, rates tuples per second, costs $ per hour.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from math import exp

import numpy as np
from numpy.typing import NDArray

from rheostat.model.quality.capacity_use import used_capacity
from rheostat.model.quality.placed import Indices, Placed, Values


def operator_latencies_ms(placed: Placed) -> Values:
    """R_{i,𝒰} = max_{u ∈ 𝒰} R_i(λ_i / |𝒰|) / S_u, for every operator [EDRP, eq. 1; ODP, eq. 3].

    The slowest replica counts: the critical path goes through it.
    """
    rates = placed.application.rates.operators
    latencies = np.array(
        [
            operator.latency.latency_ms(rates[operator.name] / degree)
            for operator, degree in zip(placed.application.operators, placed.degree, strict=True)
        ]
    )
    slowest = np.minimum.reduceat(placed.infrastructure.speedups[placed.node], placed.rows.starts)
    return np.asarray(latencies / slowest)


def operator_costs(placed: Placed) -> Values:
    """C_{i,𝒰} = Σ_{u ∈ 𝒰} 𝒰(u) C_i Res_i, for every operator [EDRP, eq. 2]."""
    prices = [operator.cost_per_hour * operator.resources for operator in placed.application.operators]
    return np.asarray(placed.degree * np.array(prices))


def stream_delays_ms(placed: Placed) -> Values:
    """d_{(i,j),(𝒰,𝒱)} = max_{u ∈ 𝒰, v ∈ 𝒱} d_(u,v), plus the hop if it is not fused [EDRP, eq. 3; ODP, eq. 4].

    Differs: the papers know no price of a hop; with `hop_ms` 0 this is their formula.
    """
    delays = placed.infrastructure.network.delay_ms[placed.pair_nodes]
    return _over_pairs(placed, np.maximum, delays) + placed.hops


def stream_costs(placed: Placed) -> Values:
    """C_{(i,j),(𝒰,𝒱)} = Σ_{u,v} 𝒰(u)𝒱(v) λ_(i,j) / (|𝒰||𝒱|) C_(u,v), for every stream [EDRP, eq. 4].

    Differs: the paper's sum has no 𝒰(u)𝒱(v); without it a multiset {u,u} would pay for half of its traffic.
    """
    prices = placed.infrastructure.network.price[placed.pair_nodes]
    return _over_pairs(placed, np.add, placed.pair_rate * prices)


def response_time_ms(placed: Placed) -> float:
    """R = max over all source-sink paths of their delay [EDRP, eq. 5, 7; ODP, eq. 1].

    By dynamic programming along the flow, never by listing paths: there may be exponentially many.
    """
    return max(_completion_times(placed).values())


def path_delay_ms(placed: Placed, path: Sequence[str]) -> float:
    """R_π = Σ R_i along the path + Σ D_(i,j) along its streams [EDRP, eq. 6; ODP, eq. 2]."""
    latencies, delays = operator_latencies_ms(placed), _by_ends(placed)
    inside = sum(float(latencies[placed.position[name]]) for name in path)
    return inside + sum(delays[ends] for ends in pairwise(path))


def critical_path(placed: Placed) -> tuple[str, ...]:
    """The source-sink path whose delay is the response time; of equals, the first in name order."""
    finished, delays = _completion_times(placed), _by_ends(placed)
    ends = [name for name in finished if not placed.application.outputs[name]]
    path = [max(sorted(ends), key=finished.__getitem__)]
    while streams := placed.application.inputs[path[0]]:
        path.insert(0, max(streams, key=lambda s: (finished[s.source] + delays[s.ends], s.source)).source)
    return tuple(path)


def log_availability(placed: Placed) -> float:
    """log A = Σ over replicas of a_u + Σ over pairs of replicas of a_(u,v) [ODP, eq. 8].

    A node counts once per replica on it, a link once per pair of replicas that talk over it.
    """
    infrastructure = placed.infrastructure
    nodes = placed.count @ infrastructure.log_availabilities[placed.node]
    links = placed.pair_count @ np.log(infrastructure.network.availability[placed.pair_nodes])
    return float(nodes + links)


def availability(placed: Placed) -> float:
    """A = Π A_i Π A_(i,j): the probability that everything is up [ODP, eq. 5-7]."""
    return exp(log_availability(placed))


def cost_per_hour(placed: Placed) -> float:
    """C = Σ_i C_i + Σ_(i,j) C_(i,j) [EDRP, eq. 8, 9]."""
    return float(operator_costs(placed).sum() + stream_costs(placed).sum())


class NetworkMetric(StrEnum):
    """The Z of ODP's network-related utility: tuples, weighted by the distance they travel."""

    TRAFFIC = "traffic"
    USAGE = "usage"
    ELASTIC_ENERGY = "elastic_energy"


def network_metric(placed: Placed, metric: NetworkMetric) -> float:
    """Z = Σ_(i,j) Z_(i,j), Z one of T, N, EE [ODP, eq. 18]."""
    per_stream: Mapping[NetworkMetric, Callable[[Placed], Values]] = {
        NetworkMetric.TRAFFIC: stream_traffic_tps,
        NetworkMetric.USAGE: stream_usage,
        NetworkMetric.ELASTIC_ENERGY: stream_elastic_energy,
    }
    return float(per_stream[metric](placed).sum())


def stream_traffic_tps(placed: Placed) -> Values:
    """T_(i,j) = Σ_{u≠v} λ: tuples per second that leave their node [ODP, eq. 19]."""
    return _over_pairs(placed, np.add, placed.pair_rate * placed.crosses)


def stream_usage(placed: Placed) -> Values:
    """N_(i,j) = Σ_{u≠v} λ d_(u,v): tuples in flight, times 1000 since d is in milliseconds [ODP, eq. 20]."""
    delays = placed.infrastructure.network.delay_ms[placed.pair_nodes]
    return _over_pairs(placed, np.add, placed.pair_rate * delays * placed.crosses)


def stream_elastic_energy(placed: Placed) -> Values:
    """EE_(i,j) = Σ_{u≠v} λ d_(u,v)²: the energy of Pietzuch's springs [ODP, eq. 21]."""
    delays = placed.infrastructure.network.delay_ms[placed.pair_nodes]
    return _over_pairs(placed, np.add, placed.pair_rate * delays**2 * placed.crosses)


def resource_use(placed: Placed) -> Values:
    """Used capacity of every node of the infrastructure, in its order: the left side of EDRP (18) and ODP (11)."""
    used = used_capacity(placed.application, placed.deployment)
    return np.array([used.get(node.name, 0.0) for node in placed.infrastructure.nodes])


def link_loads_tps(placed: Placed) -> tuple[Indices, Indices, Values]:
    """Σ_(i,j) λ_(i,j) y_{(i,j),(u,v)}, for every pair of nodes in use: the left side of ODP (17).

    As arrays u, v, load: with many replicas there are many pairs.
    """
    u, v = placed.pair_nodes
    crossing = placed.crosses
    size = len(placed.infrastructure.nodes)
    keys, inverse = np.unique(u[crossing] * size + v[crossing], return_inverse=True)
    loads = np.bincount(inverse, weights=placed.pair_rate[crossing], minlength=len(keys))
    return keys // size, keys % size, loads.astype(float)


def all_paths(placed: Placed) -> Iterable[tuple[str, ...]]:
    """Every source-sink path, one by one: for checks on small graphs, since there may be exponentially many."""
    application = placed.application
    stack: list[tuple[str, ...]] = [(name,) for name in application.flow if not application.inputs[name]]
    while stack:
        path = stack.pop()
        onward = application.outputs[path[-1]]
        if not onward:
            yield path
        stack.extend((*path, stream.target) for stream in onward)


def _completion_times(placed: Placed) -> dict[str, float]:
    """Time at which a tuple has passed each operator, by the longest path."""
    latencies, delays = operator_latencies_ms(placed), _by_ends(placed)
    finished: dict[str, float] = {}
    for name in placed.application.flow:
        arrivals = [finished[s.source] + delays[s.ends] for s in placed.application.inputs[name]]
        finished[name] = max(arrivals, default=0.0) + float(latencies[placed.position[name]])
    return finished


def _by_ends(placed: Placed) -> dict[tuple[str, str], float]:
    streams = placed.application.streams
    return {s.ends: float(d) for s, d in zip(streams, stream_delays_ms(placed), strict=True)}


def _over_pairs(placed: Placed, reduce: np.ufunc, values: NDArray[np.float64]) -> Values:
    """Reduction of the pair rows of every stream to one number."""
    return np.asarray(reduce.reduceat(values, placed.pairs.starts)) if len(values) else np.empty(0)
