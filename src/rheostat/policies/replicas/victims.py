"""Choice of the replica to stop: each way is a small value that a manager holds beside its policy."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from rheostat.policies.contract.policy_views import known


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """A replica as its manager sees it."""

    node: str
    utilization: float | None = None
    """U_r of the replica."""
    node_utilization: float | None = None
    """U_h of the node it runs on."""

    def __post_init__(self) -> None:
        """Takes unusable figures for unknown."""
        object.__setattr__(self, "utilization", known(self.utilization))
        object.__setattr__(self, "node_utilization", known(self.node_utilization))


class VictimChoice(Protocol):
    """Chooses among the replicas of one operator."""

    name: ClassVar[str]

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:
        """The node that loses a replica. There is at least one replica."""
        ...


@dataclass(frozen=True, slots=True)
class OnTheMostUsedNode:
    """The replica on the node with the highest utilization: it relieves who needs it most [EDF 5]."""

    name: ClassVar[str] = "most-used-node"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:  # noqa: ARG002 - no chance in it
        """Of equals, the last by name."""
        return max(replicas, key=lambda replica: (_or_nothing(replica.node_utilization), replica.node)).node


@dataclass(frozen=True, slots=True)
class OneOfTheTwoBusiest:
    """At random one of the two replicas with the highest utilization [E2DF 4.2]."""

    name: ClassVar[str] = "two-busiest"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:
        """Of equals, the last by name."""
        ranked = sorted(replicas, key=lambda replica: (_or_nothing(replica.utilization), replica.node))
        return random.choice(ranked[-2:]).node


@dataclass(frozen=True, slots=True)
class FewestMoved:
    """From the node that has fewest of the operator: little state moves, and a node may become free [Elastic Storm]."""

    name: ClassVar[str] = "fewest-moved"

    def victim(self, replicas: Sequence[ReplicaView], random: Random) -> str:  # noqa: ARG002 - no chance in it
        """Of equals, the last by name."""
        held = [replica.node for replica in replicas]
        return max(held, key=lambda node: (-held.count(node), node))


def _or_nothing(utilization: float | None) -> float:
    """What is not known is not called busy."""
    return -1.0 if utilization is None else utilization
