"""Looks after all regions, and talks with the applications before a node is released [E2DF 3, 4.1].

```
RM proposes to vacate n ─▶ hide n from all applications, ask those that run there
    one refuses                 ─▶ show n again
    all agree, n gets empty     ─▶ its region manager stops it
    all agree, n is not left in time ─▶ cancelled: show n again
```
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rheostat.control.loop.ports import Entry, EntryLog, Json
from rheostat.control.managers.application_manager import ApplicationManager
from rheostat.control.managers.region_manager import RegionManager
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied, RegionRefusal

INFRASTRUCTURE = "infrastructure"


@dataclass(slots=True)
class InfrastructureManager:
    """The global loop over all regions."""

    regions: Sequence[RegionManager]
    applications: Sequence[ApplicationManager]
    journal: EntryLog
    policy: AcceptUnlessOccupied = AcceptUnlessOccupied()
    period_seconds: float = 60.0
    offset_seconds: float = 0.0
    asked: dict[str, float] = field(default_factory=dict)
    """Nodes that are to be left, and since when."""

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return "infrastructure manager"

    def step(self, now_seconds: float) -> None:
        """Cancels what took too long, then grants what the regions ask for."""
        self._cancel_late(now_seconds)
        by_region = {manager.region: manager for manager in self.regions}
        proposals = [(manager.region, manager.proposal) for manager in self.regions if manager.proposal is not None]
        granted, refused = self.policy.accepted(proposals, self._nodes())
        self._refuse(refused, now_seconds)
        for region, proposal in granted:
            manager = by_region[region]
            manager.proposal = None
            empty = [node for node in proposal.stop if not self._occupants(node)]
            for node in empty:
                self._cancel_request(node)
            self._refuse(manager.carry_out(replace(proposal, stop=tuple(empty), vacate=()), now_seconds), now_seconds)
            for node in proposal.vacate:
                self._ask(manager, node, now_seconds)

    def show(self, application: ApplicationManager, nodes: frozenset[str] | None) -> None:
        """Gives an application its view of the resources: the only nodes it may use, None for all."""
        application.state.shown = nodes

    def _nodes(self) -> int:
        """Number of nodes that are up or requested."""
        up = self.applications[0].state.snapshot().infrastructure.nodes if self.applications else ()
        return len(up) + sum(len(manager.requested) for manager in self.regions)

    def _occupants(self, node: str) -> list[ApplicationManager]:
        return [each for each in self.applications if node in each.state.snapshot().hosted]

    def _ask(self, manager: RegionManager, node: str, now_seconds: float) -> None:
        """Hides a node and asks the applications there to leave it; if one refuses, nothing changes."""
        for application in self.applications:
            application.state.hidden.add(node)
        for application in self._occupants(node):
            if reason := application.leaving.agree(node, application.state):
                self._cancel_request(node)
                self._tell(
                    now_seconds, {"refused": f"vacate {node}", "reason": reason, "application": application.name}
                )
                return
        manager.leaving.add(node)
        self.asked[node] = now_seconds
        self._tell(now_seconds, {"vacate": node, "reason": "it is under-used"})

    def _cancel_late(self, now_seconds: float) -> None:
        for node, since in list(self.asked.items()):
            if self._occupants(node) and self.policy.is_late(since, now_seconds):
                self._cancel_request(node)
                reason = f"not left within {self.policy.vacate_seconds:g} s"
                self._tell(now_seconds, {"cancelled": node, "reason": reason})

    def _cancel_request(self, node: str) -> None:
        """Cancels the request to leave a node."""
        self.asked.pop(node, None)
        for application in self.applications:
            application.state.hidden.discard(node)
            application.leaving.forget(node)
        for manager in self.regions:
            manager.leaving.discard(node)

    def _refuse(self, refused: Sequence[RegionRefusal], now_seconds: float) -> None:
        for refusal in refused:
            self._tell(now_seconds, {"refused": refusal.what, "region": refusal.region, "reason": refusal.reason})

    def _tell(self, now_seconds: float, facts: dict[str, Json]) -> None:
        self.journal.append(Entry(INFRASTRUCTURE, now_seconds, {"by": self.name, **facts}))
