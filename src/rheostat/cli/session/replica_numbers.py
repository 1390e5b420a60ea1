"""Nodes of added and removed replicas when only their number is given. Pure."""

from collections.abc import Mapping
from math import inf

from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.quality.capacity_use import used_capacity


def scaled(
    application: Application, capacity: Mapping[str, float], deployment: Deployment, wanted: Mapping[str, int]
) -> Deployment:
    """The deployment with these numbers of replicas, each operator on the nodes where it is while they have room.

    A replica is added to the node that is used least and taken from the one that is used most, as a share of its
    capacity; among equals, where the operator has fewest (or most) replicas, then by name. When its own nodes are full
    an operator goes to others that it may run on, unless it cannot be spread. Whether there is room at all is for the
    runtime to say.
    """
    used = dict.fromkeys(capacity, 0.0) | used_capacity(application, deployment)

    def load(node: str, replicas: Replicas) -> tuple[float, int, str]:
        return used[node] / capacity[node] if capacity.get(node) else inf, replicas[node], node

    for name in sorted(wanted):
        operator, replicas = application.by_name[name], deployment[name]
        can_spread = operator.kind is not Kind.SOURCE and not operator.is_foreign_sink
        others = [node for node in capacity if can_spread and operator.may_run_on(node)]
        while len(replicas) < wanted[name]:
            own, room = list(replicas), [n for n in used if used[n] + operator.resources <= capacity.get(n, 0.0)]
            found = [n for n in own if n in room] or [n for n in others if n in room] or own
            node = min(load(node, replicas) for node in found)[-1]
            replicas, used[node] = replicas.plus(node), used[node] + operator.resources
        while len(replicas) > max(1, wanted[name]):
            node = max(load(node, replicas) for node in replicas)[-1]
            replicas, used[node] = replicas.plus(node, -1), used[node] - operator.resources
        deployment = deployment.having(name, replicas)
    return deployment
