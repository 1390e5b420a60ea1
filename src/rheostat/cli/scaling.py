"""Where do replicas come from and go to when only their number is asked for? Pure."""

from collections.abc import Mapping
from math import inf

from rheostat.model.application import Application
from rheostat.model.deployment import Deployment, Replicas
from rheostat.model.resources import Infrastructure


def scaled(
    application: Application, infrastructure: Infrastructure, deployment: Deployment, wanted: Mapping[str, int]
) -> Deployment:
    """The deployment with these numbers of replicas, each operator on the nodes where it is.

    A replica is added to the node that is used least and taken from the one that is used most, as a share of its
    capacity; among equals, where the operator has fewest (or most) replicas, then by name. Whether there is room is
    for the runtime to say.
    """
    used = dict.fromkeys((node.name for node in infrastructure.nodes), 0.0)
    for name, replicas in deployment.items():
        for node, count in replicas.counts:
            used[node] += count * application.by_name[name].resources
    capacity = {node.name: node.capacity for node in infrastructure.nodes}

    def load(node: str, replicas: Replicas) -> tuple[float, int, str]:
        return used[node] / capacity[node] if capacity[node] else inf, replicas[node], node

    for name in sorted(wanted):
        needed, replicas = application.by_name[name].resources, deployment[name]
        while len(replicas) < wanted[name]:
            node = min(load(node, replicas) for node in replicas)[-1]
            replicas, used[node] = replicas.plus(node), used[node] + needed
        while len(replicas) > max(1, wanted[name]):
            node = max(load(node, replicas) for node in replicas)[-1]
            replicas, used[node] = replicas.plus(node, -1), used[node] - needed
        deployment = deployment.having(name, replicas)
    return deployment
