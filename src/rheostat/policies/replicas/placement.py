"""Placement of a new replica: each way is a small value that a manager holds beside its policy."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from rheostat.policies.contract.policy_views import NodeView


class Placement(Protocol):
    """Choice of a node for a new replica."""

    name: ClassVar[str]

    def target(self, nodes: Sequence[NodeView], random: Random) -> str | None:
        """The node for one more replica; None if no node has room."""
        ...


@dataclass(frozen=True, slots=True)
class NearerIsLikelier:
    """A random known neighbour with room, the nearer the likelier [EDF 5].

    The paper gives no weights: by rank, the nearest of n is n times as likely as the farthest. Ranks, unlike inverse
    delays, make no node certain because its delay happens to be 0.
    """

    name: ClassVar[str] = "nearer-is-likelier"

    def target(self, nodes: Sequence[NodeView], random: Random) -> str | None:
        """A random node among those with room."""
        near = sorted((node for node in nodes if node.room > 0), key=lambda node: (node.delay_ms, node.name))
        if not near:
            return None
        return random.choices([node.name for node in near], weights=range(len(near), 0, -1))[0]


@dataclass(frozen=True, slots=True)
class LeastUsed:
    """The least utilized node of the region [E2DF 4.2]; if no utilization is known, the one with most room."""

    name: ClassVar[str] = "least-used"

    def target(self, nodes: Sequence[NodeView], random: Random) -> str | None:  # noqa: ARG002 - no chance in it
        """The least utilized node; among equals that with most room, then by name."""
        roomy = [node for node in nodes if node.room > 0]
        best = min(roomy, key=lambda node: (_or_busy(node.utilization), -node.room, node.name), default=None)
        return best.name if best else None


@dataclass(frozen=True, slots=True)
class StayTogether:
    """The node with most of the operator's replicas: fewest tasks move, on the fewest nodes [Elastic Storm IV.C].

    A replica on a node with others of its operator takes over tasks without any state crossing the network.
    """

    name: ClassVar[str] = "stay-together"

    def target(self, nodes: Sequence[NodeView], random: Random) -> str | None:  # noqa: ARG002 - no chance in it
        """The node with most replicas; among equals the nearest, then by name."""
        roomy = [node for node in nodes if node.room > 0]
        best = min(roomy, key=lambda node: (-node.held, node.delay_ms, node.name), default=None)
        return best.name if best else None


def _or_busy(utilization: float | None) -> float:
    """Utilization of a node, 1 if it was not measured: nodes known to be quiet are preferred."""
    return 1.0 if utilization is None else utilization
