"""Measurements of nodes and of the delays between them, which replace declared values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Json
from rheostat.model.network.resources import DelayMatrix, Infrastructure
from rheostat.model.observation import Subject

SEEN_SHARE = 0.1
"""How much the heartbeats that are remembered count beside a declared availability.

They are a hundred, and cannot tell 99 % from 100 %; what is declared counts as if nine hundred had been seen before.
"""


@dataclass(frozen=True, slots=True)
class MeasuredNetwork:
    """Delays by network coordinates, and availability by heartbeats."""

    delays_ms: Mapping[tuple[str, str], float] = field(default_factory=dict)
    availability: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def seen_by(cls, state: ApplicationState) -> Self:
        """The present knowledge of managers."""
        value, nodes = state.monitor.value, list(state.snapshot().infrastructure.index)
        delays = {(u, v): value(Subject.link(u, v), "delay_ms") for u in nodes for v in nodes if u != v}
        shares = {node: value(Subject.node(node), "availability") for node in nodes}
        return cls(
            {pair: delay for pair, delay in delays.items() if delay is not None},
            {node: share for node, share in shares.items() if share is not None},
        )

    def applied_to(self, infrastructure: Infrastructure) -> Infrastructure:
        """The infrastructure with measured values, and declared values where nothing was measured.

        Between nodes that are joined by links the declared delays stay: they are those of paths with rates and prices.
        """
        nodes = tuple(
            replace(node, availability=_blended(node.availability, self.availability[node.name]))
            if node.name in self.availability
            else node
            for node in infrastructure.nodes
        )
        if not self.delays_ms or infrastructure.links:
            return infrastructure if nodes == infrastructure.nodes else replace(infrastructure, nodes=nodes)
        delays, index = infrastructure.network.delay_ms.copy(), infrastructure.index
        for (u, v), delay in self.delays_ms.items():
            if u in index and v in index:
                delays[index[u], index[v]] = delay
        return replace(infrastructure, nodes=nodes, delays_ms=DelayMatrix.of(delays))

    def to_plain(self) -> dict[str, Json]:
        """Facts for the journal."""
        delays: list[Json] = [[u, v, delay] for (u, v), delay in sorted(self.delays_ms.items())]
        return {"delays_ms": delays, "availability": dict(self.availability)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The value that was journaled."""
        return cls({(u, v): delay for u, v, delay in plain["delays_ms"]}, dict(plain["availability"]))


def _blended(declared: float, seen: float) -> float:
    return (1 - SEEN_SHARE) * declared + SEEN_SHARE * seen
