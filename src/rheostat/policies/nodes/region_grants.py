"""Global policy of an infrastructure manager: grants the requests of regions, E2DF 3 and 4.1.

It accepts everything but two things: requests that an inhibited region or the node limit forbids, and the release of a
node that still holds replicas. Such a node is first asked to be vacated, and the release is cancelled if replicas are
still on it when the time is over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rheostat.policies.grants.grants import DRY_RUN
from rheostat.policies.nodes.region_size import RegionProposal


@dataclass(frozen=True, slots=True)
class RegionRefusal:
    """A refused request of a region, with the reason."""

    region: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptUnlessOccupied:
    """The papers' policy, with two limits of ours that are off by default."""

    name: ClassVar[str] = "accept-unless-occupied"

    inhibited: frozenset[str] = frozenset()
    """Regions that may not acquire nodes, since another one is preferred."""
    max_nodes: int | None = None
    """Greatest number of nodes in all regions together."""
    vacate_seconds: float = 300.0
    """Seconds that an application has to vacate a node before its release is cancelled. The paper gives no value."""
    dry_run: bool = False
    """Whether requests are only reported and all refused."""

    def __post_init__(self) -> None:
        """Rejects invalid limits."""
        if self.max_nodes is not None and self.max_nodes < 1:
            raise ValueError(f"need max_nodes >= 1, got {self.max_nodes}")
        if not self.vacate_seconds > 0:
            raise ValueError(f"need vacate_seconds > 0, got {self.vacate_seconds}")

    def accepted(
        self, proposals: Sequence[tuple[str, RegionProposal]], nodes: int
    ) -> tuple[list[tuple[str, RegionProposal]], list[RegionRefusal]]:
        """The granted part of every region's proposal, given the number of nodes, in the order of the regions."""
        if self.dry_run:
            return [], [RegionRefusal(region, str(wanted), DRY_RUN) for region, wanted in proposals if wanted]
        granted, refused = [], []
        for region, proposal in proposals:
            start, reason = self._allowed(region, proposal.start, nodes)
            if start < proposal.start:
                refused.append(RegionRefusal(region, f"start {proposal.start - start} {proposal.kind}", reason))
            nodes += start - len(proposal.stop)
            granted.append(
                (region, RegionProposal(proposal.kind, start, proposal.stop, proposal.vacate, proposal.reason))
            )
        return granted, refused

    def _allowed(self, region: str, start: int, nodes: int) -> tuple[int, str]:
        if region in self.inhibited:
            return 0, f"region {region} is inhibited"
        if self.max_nodes is not None and nodes + start > self.max_nodes:
            return max(0, self.max_nodes - nodes), f"there are {nodes} of at most {self.max_nodes} nodes"
        return start, ""

    def is_late(self, asked_at_seconds: float, now_seconds: float) -> bool:
        """Whether the time to vacate a node is over."""
        return now_seconds - asked_at_seconds >= self.vacate_seconds
