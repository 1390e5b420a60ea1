"""Lookahead: one computation for many measurements while all queues are empty and nothing changes.

Arrays cost by the call far more than by the step. While all queues are empty the flow depends on time and on the
deployment alone, so a longer stretch is computed at once and handed out piece by piece. A change, a pause or a node
that joins or leaves makes another layout, and the stretch computed for the old one is not used.
"""

from dataclasses import dataclass

from rheostat.simulation.queues.interval_flow import Interval
from rheostat.simulation.queues.server_layout import ServerLayout

STRETCH_SECONDS = 300.0
"""Length of a stretch: a longer one saves hardly any more calls and is discarded more often."""
_TINY = 1e-9
"""Moments within this distance count as equal."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Stretch of time computed in advance for one layout."""

    layout: ServerLayout
    interval: Interval

    def part(self, layout: ServerLayout, begin: float, end: float) -> Interval | None:
        """The flow between two moments; None if it was not computed, or with other steps."""
        if layout is not self.layout:
            return None
        edges = self.interval.edges
        first, last = edges.searchsorted((begin - _TINY, end - _TINY)).tolist()
        if last >= len(edges) or edges[first] > begin + _TINY or edges[last] > end + _TINY:
            return None
        return self.interval.part(first, last)
