"""Choice of the replica to stop: each way is a small value that a manager holds beside its policy."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from rheostat.policies.contract.policy_views import known


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """View of a replica, for its manager."""

    node: str
    utilization: float | None = None
    """U_r of the replica."""
    node_utilization: float | None = None
    """U_h of the node it runs on."""

    def __post_init__(self) -> None:
        """Makes unusable figures unknown."""
        object.__setattr__(self, "utilization", known(self.utilization))
        object.__setattr__(self, "node_utilization", known(self.node_utilization))


class VictimChoice(Protocol):
    """Choice of the replica to stop, among those of one operator."""

    name: ClassVar[str]

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:
        """The node that loses a replica. There is at least one replica."""
        ...


@dataclass(frozen=True, slots=True)
class OnTheMostUsedNode:
    """The replica on the node with the highest utilization, to relieve that node [EDF 5]."""

    name: ClassVar[str] = "most-used-node"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:  # noqa: ARG002 - no chance in it
        """The node with the highest utilization; among equals the last by name."""
        return max(replicas, key=lambda replica: (_or_nothing(replica.node_utilization), replica.node)).node


@dataclass(frozen=True, slots=True)
class OneOfTheTwoBusiest:
    """A random one of the two replicas with the highest utilization [E2DF 4.2]."""

    name: ClassVar[str] = "two-busiest"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:
        """One of the two busiest; among equals the last by name."""
        ranked = sorted(replicas, key=lambda replica: (_or_nothing(replica.utilization), replica.node))
        return random.choice(ranked[-2:]).node


@dataclass(frozen=True, slots=True)
class FewestMoved:
    """A replica on the node with fewest of the operator: little state moves, a node may become free [Elastic Storm]."""

    name: ClassVar[str] = "fewest-moved"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:  # noqa: ARG002 - no chance in it
        """The node with fewest replicas; among equals the last by name."""
        held = [replica.node for replica in replicas]
        return max(held, key=lambda node: (-held.count(node), node))


def _or_nothing(utilization: float | None) -> float:
    """The utilization, or -1 if unknown, so that unknown replicas are not taken for busy."""
    return -1.0 if utilization is None else utilization
