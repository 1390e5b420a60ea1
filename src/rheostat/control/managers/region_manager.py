"""Looks after the nodes of one region: what is needed, what is asked for, what is there [E2DF 3, 4.1].

It proposes; what the infrastructure manager grants it carries out. A node that was asked for counts from then on, and
is given up if it has failed or does not come in time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Entry, EntryLog, Json, NodeProvider
from rheostat.model.network.resources import Node
from rheostat.model.observation import Subject
from rheostat.policies.nodes.region_grants import RegionRefusal
from rheostat.policies.nodes.region_size import RegionProposal, RegionView, RentedNode, TargetCapacity

REGION_PROPOSAL, NODES = "region proposal", "nodes"


@dataclass(slots=True)
class RegionManager:
    """The local loop of one region."""

    region: str
    policy: TargetCapacity
    states: Sequence[ApplicationState]
    """States of all applications that run here: they see the same nodes."""
    provider: NodeProvider
    journal: EntryLog
    leaving: set[str] = field(default_factory=set)
    """Nodes that the infrastructure manager has cordoned."""
    period_seconds: float = 60.0
    offset_seconds: float = 0.0
    start_timeout_seconds: float = 600.0
    """A node that has not come by then is not expected any more."""
    proposal: RegionProposal | None = None
    """The last one; the infrastructure manager takes it."""
    requested: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Nodes that were asked for and are not up: capacity, and since when."""

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return f"region manager of {self.region or 'the only region'}"

    def step(self, now_seconds: float) -> None:
        """One look at the region."""
        for state in self.states:
            state.refresh(now_seconds)
        self._update_requested(now_seconds)
        view = self.view(now_seconds)
        self.proposal = self.policy.decide(view)
        facts: dict[str, Json] = {"by": self.name, "view": view.to_plain(), "proposal": self.proposal.to_plain()}
        self.journal.append(Entry(REGION_PROPOSAL, now_seconds, facts))

    def view(self, now_seconds: float) -> RegionView:
        """View of the nodes that are up and of those that are starting."""
        nodes = [self._rented(node.name, int(node.capacity)) for node in self._nodes_up()]
        coming = [RentedNode(name, capacity) for name, (capacity, _) in sorted(self.requested.items())]
        kinds = tuple((kind.name, int(kind.capacity)) for kind in self.provider.kinds())
        return RegionView(self.region, now_seconds, (*nodes, *coming), kinds)

    def carry_out(self, granted: RegionProposal, now_seconds: float) -> list[RegionRefusal]:
        """Starts and stops what may be started and stopped; tells what the provider has not got."""
        for node in granted.stop:
            self.provider.stop(node)
            self.leaving.discard(node)
        started, refused = ([], []) if granted.kind is None else self._start(granted.kind, granted.start, now_seconds)
        if started or granted.stop:
            facts = {"by": self.name, "started": started, "stopped": list(granted.stop), "reason": granted.reason}
            self.journal.append(Entry(NODES, now_seconds, facts))
        return refused

    def _start(self, kind: str, count: int, now_seconds: float) -> tuple[list[Json], list[RegionRefusal]]:
        """Names of those that were asked for, and why there are no more of them."""
        capacity = next(int(each.capacity) for each in self.provider.kinds() if each.name == kind)
        names: list[Json] = []
        for _ in range(count):
            try:
                name = self.provider.start(kind, self.region)
            except ValueError as refusal:
                # The provider has its own limit, and counts nodes that are lost and may come back.
                return names, [RegionRefusal(self.region, f"start {count - len(names)} {kind}", str(refusal))]
            self.requested[name] = (capacity, now_seconds)
            names.append(name)
        return names, []

    def _nodes_up(self) -> list[Node]:
        return [node for node in self.states[0].snapshot().infrastructure.nodes if node.region == self.region]

    def _rented(self, name: str, capacity: int) -> RentedNode:
        held = sum(sum(state.snapshot().hosted.get(name, {}).values()) for state in self.states)
        busy = self.states[0].monitor.value(Subject.node(name), "cpu")
        return RentedNode(name, capacity, held, busy, name in self.leaving)

    def _update_requested(self, now_seconds: float) -> None:
        up = self.states[0].snapshot().infrastructure.index
        given_up: dict[str, list[Json]] = {}
        for name, (_, since) in list(self.requested.items()):
            late = now_seconds - since >= self.start_timeout_seconds
            reason = self.provider.failure(name) or (f"not up after {self.start_timeout_seconds:g} s" if late else "")
            if name not in up and reason:
                given_up.setdefault(reason, []).append(name)
            if name in up or reason:
                del self.requested[name]
        for reason, names in given_up.items():
            self.journal.append(Entry(NODES, now_seconds, {"by": self.name, "given_up": names, "reason": reason}))
