"""Capacity that the replicas of a deployment take on each node."""

from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment


def used_capacity(application: Application, deployment: Deployment) -> dict[str, float]:
    """Σ_i Σ_𝒰 𝒰(u) Res_i x_{i,𝒰}, for every node that holds a replica: the left side of EDRP (18) and ODP (11).

    Nodes that the infrastructure has lost are counted as well.
    """
    used: dict[str, float] = {}
    for name, replicas in deployment.items():
        takes = application.by_name[name].resources
        for node, count in replicas.counts:
            used[node] = used.get(node, 0.0) + count * takes
    return used
