"""All metrics of a deployment at once, and of the change from a current one."""

from dataclasses import dataclass

import numpy as np

from rheostat.model.downtime.downtime_model import CurrentDeployment, DowntimeModel, downtime_seconds
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.quality import qos
from rheostat.model.quality.objective import Metrics
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import NetworkMetric


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of a deployment that the papers define."""

    response_time_ms: float
    critical_path: tuple[str, ...]
    availability: float
    cost_per_hour: float
    traffic_tps: float
    """T: tuples per second between nodes."""
    network_usage: float
    """N: tuples per second x milliseconds."""
    elastic_energy: float
    """EE: tuples per second x milliseconds²."""
    operator_latency_ms: dict[str, float]
    saturated: tuple[str, ...]
    """Operators whose replicas cannot keep up with their load."""
    overloaded_nodes: dict[str, tuple[float, float]]
    """Overloaded nodes with their use and capacity."""
    overloaded_links: dict[tuple[str, str], tuple[float, float]]
    """Overloaded paths with their load and bandwidth in tuples per second."""
    downtime_seconds: float = 0.0
    reconfiguration: Reconfiguration = Reconfiguration()

    @property
    def fits(self) -> bool:
        """Whether no node and no link is overloaded."""
        return not self.overloaded_nodes and not self.overloaded_links

    def metrics(self, network: NetworkMetric = NetworkMetric.TRAFFIC) -> Metrics:
        """The metrics that an objective weighs."""
        chosen = {
            NetworkMetric.TRAFFIC: self.traffic_tps,
            NetworkMetric.USAGE: self.network_usage,
            NetworkMetric.ELASTIC_ENERGY: self.elastic_energy,
        }[network]
        return Metrics(self.response_time_ms, self.availability, self.cost_per_hour, self.downtime_seconds, chosen)


def evaluate(placed: Placed, current: Deployment | None = None, downtime: DowntimeModel | None = None) -> Evaluation:
    """Every metric of a placed application; with a current deployment and a downtime model, of the change too."""
    change, pause = Reconfiguration(), 0.0
    if current is not None:
        change = Reconfiguration.between(current, placed.deployment)
        if downtime is not None:
            situation = CurrentDeployment(placed.application, placed.infrastructure, current)
            pause = downtime_seconds(downtime, situation, placed.deployment)
    names = [operator.name for operator in placed.application.operators]
    latencies = dict(zip(names, qos.operator_latencies_ms(placed).tolist(), strict=True))
    return Evaluation(
        response_time_ms=qos.response_time_ms(placed),
        critical_path=qos.critical_path(placed),
        availability=qos.availability(placed),
        cost_per_hour=qos.cost_per_hour(placed),
        traffic_tps=qos.network_metric(placed, NetworkMetric.TRAFFIC),
        network_usage=qos.network_metric(placed, NetworkMetric.USAGE),
        elastic_energy=qos.network_metric(placed, NetworkMetric.ELASTIC_ENERGY),
        operator_latency_ms=latencies,
        saturated=tuple(name for name, latency in latencies.items() if np.isinf(latency)),
        overloaded_nodes=overloaded_nodes(placed),
        overloaded_links=overloaded_links(placed),
        downtime_seconds=pause,
        reconfiguration=change,
    )


def overloaded_nodes(placed: Placed, tolerance: float = 1e-9) -> dict[str, tuple[float, float]]:
    """Nodes whose replicas need more than Res_u."""
    use, capacity = qos.resource_use(placed), placed.infrastructure.capacities
    nodes = placed.infrastructure.nodes
    return {nodes[u].name: (float(use[u]), float(capacity[u])) for u in np.nonzero(use > capacity + tolerance)[0]}


def overloaded_links(placed: Placed, tolerance: float = 1e-9) -> dict[tuple[str, str], tuple[float, float]]:
    """Paths whose streams need more than B_(u,v)."""
    u, v, loads = qos.link_loads_tps(placed)
    limits = placed.infrastructure.network.bandwidth_tps[u, v]
    nodes = placed.infrastructure.nodes
    return {
        (nodes[u[k]].name, nodes[v[k]].name): (float(loads[k]), float(limits[k]))
        for k in np.nonzero(loads > limits + tolerance)[0]
    }
