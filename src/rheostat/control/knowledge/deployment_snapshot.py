"""Snapshot of a deployment with its used and free capacity."""

from dataclasses import dataclass
from functools import cached_property

from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.capacity_use import used_capacity


@dataclass(frozen=True)
class DeploymentSnapshot:
    """A deployment on its nodes at one moment."""

    application: Application
    deployment: Deployment
    infrastructure: Infrastructure

    @cached_property
    def replicas(self) -> dict[str, Replicas]:
        """Replicas of every operator."""
        return dict(self.deployment.items())

    @cached_property
    def used(self) -> dict[str, float]:
        """Capacity taken on every node, lost nodes that still hold replicas included."""
        return dict.fromkeys(self.infrastructure.index, 0.0) | used_capacity(self.application, self.deployment)

    @cached_property
    def hosted(self) -> dict[str, dict[str, int]]:
        """Node -> operator -> replicas there."""
        hosted: dict[str, dict[str, int]] = {}
        for operator, replicas in self.deployment.items():
            for node, count in replicas.counts:
                hosted.setdefault(node, {})[operator] = count
        return hosted

    @cached_property
    def capacities(self) -> dict[str, float]:
        """Capacity of every node."""
        return {node.name: node.capacity for node in self.infrastructure.nodes}

    def room(self, node: str, operator: str, promised: float = 0.0) -> int:
        """Number of further replicas of an operator that fit on a node, of which `promised` is not free any more."""
        takes = self.application.by_name[operator].resources
        free = self.capacities[node] - self.used[node] - promised
        return int(free / takes + 1e-9) if takes > 0 else 1_000_000
