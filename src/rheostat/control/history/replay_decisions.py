"""Would it be decided the same way again? Takes every decision of a journal once more, from what was seen then.

Needs the same policies, not the world: a view and what the policy remembers is all a decision is based on. What the
policies remember is built up along the way, as it was then.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from rheostat.control.knowledge.measured_network import MeasuredNetwork
from rheostat.control.knowledge.measured_values import MeasuredValues
from rheostat.control.loop.ports import Entry, JournalReader
from rheostat.control.managers.application_manager import APPLICATION_PROPOSAL
from rheostat.control.managers.decisions import DECISION, Decision
from rheostat.control.managers.fusion_guard import CROWDING
from rheostat.control.managers.node_manager import MIGRATION
from rheostat.control.managers.operator_manager import PROPOSAL, Local, Proposed
from rheostat.control.managers.planned_manager import PLAN, PlannedManager, journaled_application
from rheostat.control.managers.region_manager import REGION_PROPOSAL
from rheostat.control.setup.factory import Control
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.policies.contract.policy import ApplicationPolicy, OperatorPolicy, Proposal
from rheostat.policies.contract.policy_views import ApplicationView
from rheostat.policies.contract.requests import without_conflicts
from rheostat.policies.grants.grants import GrantAll, Granting
from rheostat.policies.nodes.node_migration import HostView, NodeMigration
from rheostat.policies.nodes.region_size import RegionView, TargetCapacity

STALE = "application manager"


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A decision that would not be taken again."""

    number: int
    """Of the entry in the journal."""
    then: str
    now: str

    def __str__(self) -> str:
        return f"entry {self.number}: decided {self.then}, would now decide {self.now}"


@dataclass(slots=True)
class Replay:
    """Goes through a journal with the same policies, from their beginning."""

    operators: dict[str, tuple[OperatorPolicy[Any], Local]] = field(default_factory=dict)
    """By the name of their manager."""
    policy: ApplicationPolicy[Any] | None = None
    granting: Granting[Any] = field(default_factory=GrantAll)
    regions: TargetCapacity | None = None
    nodes: NodeMigration | None = None
    planned: PlannedManager | None = None
    """Plans again on the nodes its outlook has; a plan on others is not decided again."""
    decided: int = 0
    """How many decisions were taken again."""
    _memories: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, control: Control) -> "Replay":
        """With the policies of a control, which is not touched."""
        return cls(
            {manager.name: (manager.policy, manager.local) for manager in control.operators},
            control.application.policy if control.application else None,
            control.application.granting if control.application else GrantAll(),
            control.regions[0].policy if control.regions else None,
            control.nodes.policy if control.nodes else None,
            control.planned,
        )

    def differences(self, journal: JournalReader) -> Iterator[ReplayDifference]:
        """Every decision that would not be taken again; none, if nothing was changed."""
        again: dict[str, Callable[[Entry], tuple[object, object] | None]] = {
            PROPOSAL: self._proposal,
            APPLICATION_PROPOSAL: self._application_proposal,
            DECISION: self._decision,
            REGION_PROPOSAL: self._region,
            MIGRATION: self._migration,
            PLAN: self._plan,
        }
        for number, entry in journal.read():
            decide = again.get(entry.kind)
            pair = decide(entry) if decide is not None else None
            if pair is None:
                continue
            self.decided += 1
            then, now = pair
            if then != now:
                yield ReplayDifference(number, str(then), str(now))

    def _proposal(self, entry: Entry) -> tuple[object, object] | None:
        facts: Any = entry.facts
        if facts["by"] not in self.operators:
            return None
        policy, local = self.operators[facts["by"]]
        then = Proposed.from_facts(facts)
        memory = self._memories.get(then.by, policy.begin())
        proposal, self._memories[then.by] = policy.decide(then.view, memory)
        request = replace(then, proposal=proposal).request(local)
        asked = None if request is None else request.to_plain()
        return (then.proposal, facts["request"]), (proposal, asked)

    def _application_proposal(self, entry: Entry) -> tuple[object, object] | None:
        if self.policy is None:
            return None
        facts: Any = entry.facts
        then = {name: Proposal.from_plain(plain) for name, plain in facts["proposals"].items()}
        memory = self._memories.get(APPLICATION_PROPOSAL, self.policy.begin())
        now, self._memories[APPLICATION_PROPOSAL] = self.policy.decide_all(
            ApplicationView.from_plain(facts["view"]), memory
        )
        return then, now

    def _decision(self, entry: Entry) -> tuple[object, object]:
        then = Decision.from_facts(entry.facts)
        # Which requests were out of date was seen in the world, not decided.
        stale = tuple(refusal for refusal in then.refusals if refusal.by == STALE)
        late = [refusal.request for refusal in stale]
        current = [request for request in then.requests if request not in late]
        kept, conflicts = without_conflicts(current)
        # And so was how busy operators would be together.
        crowds = tuple(refusal for refusal in then.refusals if refusal.by == CROWDING)
        too_many = [refusal.request for refusal in crowds]
        kept = [request for request in kept if request not in too_many]
        memory = self._memories.get(DECISION, self.granting.begin())
        granted, self._memories[DECISION] = self.granting.grant(kept, then.seen, memory)
        return then, Decision.of(then.by, then.seen, then.requests, (*stale, *conflicts, *crowds), granted)

    def _region(self, entry: Entry) -> tuple[object, object] | None:
        if self.regions is None:
            return None
        facts: Any = entry.facts
        now = self.regions.decide(RegionView.from_plain(facts["view"])).to_plain()
        return facts["proposal"], now

    def _migration(self, entry: Entry) -> tuple[object, object] | None:
        if self.nodes is None:
            return None
        facts: Any = entry.facts
        return facts["proposal"], self.nodes.decide(HostView.from_plain(facts["view"])).to_plain()

    def _plan(self, entry: Entry) -> tuple[object, object] | None:
        facts: Any = entry.facts
        if self.planned is None or "nodes" not in facts:
            return None
        picture = self.planned.outlook.picture()
        if facts["nodes"] != list(picture.infrastructure.index):
            return None
        application = journaled_application(picture.application, facts)
        current = Deployment.of(facts["current"])
        infrastructure = MeasuredNetwork.from_plain(facts["network"]).applied_to(picture.infrastructure)
        known = MeasuredValues.from_plain(facts["knowledge"])
        problem = self.planned.problem(application, infrastructure, current, known, first=facts["first"])
        outcome = self.planned.planner.plan(problem)
        if outcome.deployment is None:
            return (facts["status"], facts.get("change")), (outcome.status.value, None)
        change = Reconfiguration.between(current, outcome.deployment)
        return (facts["status"], facts.get("change")), (outcome.status.value, str(change))
