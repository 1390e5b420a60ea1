"""Changes of replicas by number: adds or removes one replica after the other."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from rheostat.model.graph.deployment import Replicas
from rheostat.policies.contract.policy_views import NodeView
from rheostat.policies.replicas.placement import Placement
from rheostat.policies.replicas.victims import ReplicaView, VictimChoice


def grown(current: Replicas, more: int, nodes: Sequence[NodeView], placement: Placement, random: Random) -> Replicas:
    """Replicas with up to this many more: as many as find room."""
    known = {node.name: node for node in nodes}
    for _ in range(more):
        target = placement.target(list(known.values()), random)
        if target is None:
            break
        current = current.plus(target)
        node = known[target]
        known[target] = replace(node, room=node.room - 1, held=node.held + 1)
    return current


def shrunk(
    current: Replicas, fewer: int, replicas: Sequence[ReplicaView], victims: VictimChoice, random: Random
) -> Replicas:
    """Replicas with this many fewer; the last one stays."""
    left = list(replicas)
    for _ in range(min(fewer, len(left) - 1)):
        node = victims.victim(left, random)
        left.remove(next(replica for replica in left if replica.node == node))
        current = current.plus(node, -1)
    return current
