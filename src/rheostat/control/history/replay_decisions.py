"""Replay: takes every decision of a journal again, with the same policies, from what was seen then.

A replay needs no world: a decision depends on a view and on the policy's memory alone. The memory is built up along the
way, as it was then.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rheostat.control.history.replayed_memory import ReplayedMemory
from rheostat.control.knowledge.measured_network import MeasuredNetwork
from rheostat.control.knowledge.measured_values import MeasuredValues
from rheostat.control.loop.ports import Entry, JournalReader
from rheostat.control.managers.application_manager import APPLICATION_PROPOSAL
from rheostat.control.managers.decisions import DECISION, Decision
from rheostat.control.managers.fusion_guard import CROWDING
from rheostat.control.managers.node_manager import MIGRATION
from rheostat.control.managers.operator_manager import MEMORY, PROPOSAL, Local, Proposed
from rheostat.control.managers.planned_manager import PLAN, PlannedManager, journaled_application
from rheostat.control.managers.region_manager import REGION_PROPOSAL
from rheostat.control.setup.factory import Control
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.membership import with_only
from rheostat.policies.contract.policy import ApplicationPolicy, OperatorPolicy, Proposal
from rheostat.policies.contract.policy_views import ApplicationView
from rheostat.policies.contract.requests import without_conflicts
from rheostat.policies.grants.grants import GrantAll, Granting
from rheostat.policies.nodes.node_migration import HostView, NodeMigration
from rheostat.policies.nodes.region_size import RegionView, TargetCapacity

STALE = "application manager"
DECISIONS = frozenset({PROPOSAL, APPLICATION_PROPOSAL, DECISION, REGION_PROPOSAL, MIGRATION, PLAN})
"""Kinds of entries that are decisions."""
Pair = tuple[object, object]
"""The journaled decision, and the decision taken again."""


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A decision that would not be taken again."""

    number: int
    """Number of the entry in the journal."""
    at_seconds: float
    by: str
    """Name of the manager."""
    then: str
    now: str

    def __str__(self) -> str:
        return f"decision {self.number} of the {self.by}: decided {self.then}, would now decide {self.now}"


@dataclass(slots=True)
class Replay:
    """Policies of one control, and their memory as of the entry read last."""

    operators: dict[str, tuple[OperatorPolicy[Any], Local]] = field(default_factory=dict)
    """By the name of their manager."""
    policy: ApplicationPolicy[Any] | None = None
    granting: Granting[Any] = field(default_factory=GrantAll)
    regions: TargetCapacity | None = None
    nodes: NodeMigration | None = None
    planned: PlannedManager | None = None
    """Plans on the nodes of its state, or on some of them; a plan on other nodes is not decided again."""
    decided: int = 0
    """Number of decisions taken again so far."""
    skipped: int = 0
    """Number of decisions that could not be taken again."""
    before: "Replay | None" = None
    """The replay of the controller before."""
    _memories: dict[str, Any] = field(default_factory=dict)
    """Of the policies for the whole application."""
    _managers: dict[str, ReplayedMemory] = field(default_factory=dict)

    @classmethod
    def of(cls, control: Control) -> "Replay":
        """A replay with the policies of a control, which is not touched."""
        return cls(
            {manager.name: (manager.policy, manager.local) for manager in control.operators},
            control.application.policy if control.application else None,
            control.application.granting if control.application else GrantAll(),
            control.regions[0].policy if control.regions else None,
            control.nodes.policy if control.nodes else None,
            control.planned,
        )

    def memory_of(self, by: str) -> ReplayedMemory:
        """Memory of an operator's manager; made at its first use."""
        if by not in self._managers:
            self._managers[by] = ReplayedMemory(self.operators[by][0])
        return self._managers[by]

    def differences(self, journal: JournalReader) -> Iterator[ReplayDifference]:
        """Every decision that would not be taken again; none if nothing was changed."""
        for number, entry in journal.read():
            if (found := self.follow(number, entry)) is not None:
                yield found

    def follow(self, number: int, entry: Entry) -> ReplayDifference | None:
        """Takes the decision of the next entry again, if it is one; gives the difference, if there is one."""
        again: dict[str, Callable[[Entry], Pair | None]] = {
            PROPOSAL: self._proposal,
            APPLICATION_PROPOSAL: self._application_proposal,
            DECISION: self._decision,
            REGION_PROPOSAL: self._region,
            MIGRATION: self._migration,
            PLAN: self._plan,
        }
        if entry.kind == MEMORY:
            self._take_memory(entry)
        decide = again.get(entry.kind)
        if decide is None:
            return None
        pair = decide(entry)
        if pair is None:
            self.skipped += 1
            return None
        self.decided += 1
        then, now = pair
        if then == now:
            return None
        return ReplayDifference(number, entry.at_seconds, str(entry.facts["by"]), told(then), told(now))

    def _take_memory(self, entry: Entry) -> None:
        facts: Any = entry.facts
        if facts["by"] in self.operators and self.operators[facts["by"]][0].name == facts["policy"]:
            self.memory_of(facts["by"]).take(facts["memory"])

    def _proposal(self, entry: Entry) -> Pair | None:
        facts: Any = entry.facts
        if facts["by"] not in self.operators:
            return None
        _, local = self.operators[facts["by"]]
        then = Proposed.from_facts(facts)
        proposal = self.memory_of(then.by).decide(then.view, then.proposal)
        request = replace(then, proposal=proposal).request(local)
        return (then.proposal, facts["request"]), (proposal, None if request is None else request.to_plain())

    def _application_proposal(self, entry: Entry) -> Pair | None:
        if self.policy is None:
            return None
        facts: Any = entry.facts
        then = {name: Proposal.from_plain(plain) for name, plain in facts["proposals"].items()}
        memory = self._memories.get(APPLICATION_PROPOSAL, self.policy.begin())
        now, self._memories[APPLICATION_PROPOSAL] = self.policy.decide_all(
            ApplicationView.from_plain(facts["view"]), memory
        )
        return then, now

    def _decision(self, entry: Entry) -> Pair:
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

    def _region(self, entry: Entry) -> Pair | None:
        if self.regions is None:
            return None
        facts: Any = entry.facts
        now = self.regions.decide(RegionView.from_plain(facts["view"])).to_plain()
        return facts["proposal"], now

    def _migration(self, entry: Entry) -> Pair | None:
        if self.nodes is None:
            return None
        facts: Any = entry.facts
        return facts["proposal"], self.nodes.decide(HostView.from_plain(facts["view"])).to_plain()

    def _plan(self, entry: Entry) -> Pair | None:
        facts: Any = entry.facts
        if self.planned is None or "nodes" not in facts:
            return None
        snapshot = self.planned.state.snapshot()
        infrastructure = snapshot.infrastructure
        if set(facts["nodes"]) < infrastructure.index.keys():
            infrastructure = with_only(infrastructure, facts["nodes"])
        if facts["nodes"] != list(infrastructure.index):
            return None
        application = journaled_application(snapshot.application, facts)
        current = Deployment.of(facts["current"])
        infrastructure = MeasuredNetwork.from_plain(facts["network"]).applied_to(infrastructure)
        known = MeasuredValues.from_plain(facts["knowledge"])
        problem = self.planned.problem(application, infrastructure, current, known, first=facts["first"])
        outcome = self.planned.planner.plan(problem)
        if outcome.deployment is None:
            return (facts["status"], facts.get("change")), (outcome.status.value, None)
        change = Reconfiguration.between(current, outcome.deployment)
        return (facts["status"], facts.get("change")), (outcome.status.value, str(change))


def told(decided: object) -> str:
    """A decision in words, with everything that two decisions are compared by."""
    match decided:
        case (Proposal() as proposal, request):
            after = "nothing" if request is None else _nodes(request["after"])  # type: ignore[index]
            return f"{_wanted(proposal)} and asks for {after}"
        case Decision():
            granted = "; ".join(str(request) for request in decided.granted) or "nothing"
            refused = "".join(f"; refuses {one.request} ({one.by}: {one.reason})" for one in decided.refusals)
            return f"grants {granted}{refused}"
        case (str(status), change):
            return f"{change or 'nothing'} ({status})"
        case Mapping() if all(isinstance(one, Proposal) for one in decided.values()):
            return "; ".join(f"{name}: {_wanted(one)}" for name, one in decided.items())
    return json.dumps(decided, sort_keys=True)


def _wanted(proposal: Proposal) -> str:
    return f"{proposal.wanted} replicas (score {proposal.score:.4g}: {proposal.reason})"


def _nodes(counts: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{node}:{count}" for node, count in sorted(counts.items())) + "}"
