"""What runs where at a moment, and what room that leaves."""

from dataclasses import dataclass
from functools import cached_property

from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure


@dataclass(frozen=True)
class DeploymentSnapshot:
    """What runs where at a moment, with what follows from it."""

    application: Application
    deployment: Deployment
    infrastructure: Infrastructure

    @cached_property
    def replicas(self) -> dict[str, Replicas]:
        """Every operator's."""
        return dict(self.deployment.items())

    @cached_property
    def used(self) -> dict[str, float]:
        """Resources taken on every node."""
        used = dict.fromkeys(self.infrastructure.index, 0.0)
        for operator, replicas in self.deployment.items():
            takes = self.application.by_name[operator].resources
            for node, count in replicas.counts:
                used[node] = used.get(node, 0.0) + takes * count
        return used

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
        """Resources of every node."""
        return {node.name: node.capacity for node in self.infrastructure.nodes}

    def room(self, node: str, operator: str, promised: float = 0.0) -> int:
        """How many more replicas of an operator fit on a node, of which so much was promised to others."""
        takes = self.application.by_name[operator].resources
        free = self.capacities[node] - self.used[node] - promised
        return int(free / takes + 1e-9) if takes > 0 else 1_000_000
