"""Manager of a whole application: collects requests, grants some of them, and has them carried out [EDF 7].

Three steps: priorities, conflicts, granting. A policy for the whole application, if there is one, puts requests like
the others. After a change no manager proposes anything until it has settled; then it is compared with its prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.knowledge.deployment_snapshot import DeploymentSnapshot
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Actuator, Clock, Done, Entry, EntryLog, Json
from rheostat.control.managers.decisions import DECISION, EFFECT, Decision, effect_facts
from rheostat.control.managers.fusion_guard import FusionGuard
from rheostat.control.managers.node_release import NodeRelease
from rheostat.control.managers.operator_manager import Local, Proposed
from rheostat.control.managers.prediction import Prediction
from rheostat.control.managers.request_inbox import Requests
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.policies.contract.policy import ApplicationPolicy
from rheostat.policies.contract.requests import Refusal, Request, without_conflicts
from rheostat.policies.grants.grants import GrantAll, Granting, GrantSituation

APPLICATION_PROPOSAL = "application proposal"


@dataclass(slots=True)
class ApplicationManager:
    """The global loop of one application."""

    state: ApplicationState
    inbox: Requests
    actuator: Actuator
    clock: Clock
    journal: EntryLog
    granting: Granting[Any] = field(default_factory=GrantAll)
    """Policy that grants requests."""
    policy: ApplicationPolicy[Any] | None = None
    """Proposes for all operators together, beside what the local managers ask for."""
    local: Local = Local()
    """Rules by which numbers of replicas become nodes."""
    period_seconds: float = 30.0
    """T_AM."""
    offset_seconds: float = 0.0
    settle_seconds: float = 30.0
    """After a change nothing is proposed, and what is measured does not count."""
    settles_alone: bool = False
    """Whether only the operators that changed have to settle, not the whole application."""
    leaving: NodeRelease = field(default_factory=NodeRelease)
    """Nodes the infrastructure manager wants back."""
    crowding: FusionGuard | None = None
    """Guard of operators that share a query, if operators are fused."""
    memory: Any = None
    policy_memory: Any = None
    comparison: Prediction = field(init=False)
    """Prediction of the last change."""

    def __post_init__(self) -> None:
        """Policies that were not given anything to remember begin."""
        if self.memory is None:
            self.memory = self.granting.begin()
        if self.policy is not None and self.policy_memory is None:
            self.policy_memory = self.policy.begin()
        self.comparison = Prediction(self.state, self.journal, self.name)

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return f"application manager of {self.state.application.name}"

    def step(self, now_seconds: float) -> None:
        """One turn of the loop."""
        self.act(now_seconds)

    def act(self, now_seconds: float) -> bool:
        """One turn of the loop; whether anything was changed."""
        snapshot = self.state.refresh(now_seconds)
        self.comparison.compare(now_seconds)
        asked = self.inbox.take_all()
        if self.state.settled_at_seconds <= now_seconds:
            asked += self._propose(now_seconds)
        asked += self.leaving.requests(self.state, self.local)
        decision = self._decide(snapshot, asked, now_seconds)
        self.journal.append(Entry(DECISION, now_seconds, decision.facts()))
        return self._enact(decision.change) if decision.granted else False

    def _decide(self, snapshot: DeploymentSnapshot, asked: Sequence[Request], now_seconds: float) -> Decision:
        current, stale = [], []
        for request in asked:
            if snapshot.replicas.get(request.change.operator) == request.change.before:
                current.append(request)
            else:
                stale.append(Refusal(request, "application manager", "the operator has changed meanwhile"))
        kept, conflicts = without_conflicts(current)
        if self.crowding is not None:
            kept, crowds = self.crowding.checked(kept, snapshot.replicas)
            conflicts += crowds
        replicas = sum(len(each) for each in snapshot.replicas.values())
        seen = GrantSituation(now_seconds, self.state.response_ms(), replicas)
        granted, self.memory = self.granting.grant(kept, seen, self.memory)
        return Decision.of(self.name, seen, asked, (*stale, *conflicts), granted)

    def _propose(self, now_seconds: float) -> list[Request]:
        """Requests of the policy for the whole application."""
        if self.policy is None:
            return []
        view = self.state.application_view()
        proposals, self.policy_memory = self.policy.decide_all(view, self.policy_memory)
        requests = []
        told = {name: proposal.to_plain() for name, proposal in proposals.items()}
        facts: dict[str, Json] = {"by": self.name, "view": view.to_plain(), "proposals": told}
        self.journal.append(Entry(APPLICATION_PROPOSAL, now_seconds, facts))
        replicas = self.state.snapshot().replicas
        for each in view.operators:
            proposal = proposals[each.operator]
            nodes = self.state.node_views(each.operator) if proposal.wanted > each.replicas else ()
            spare = self.state.replica_views(each.operator) if proposal.wanted < each.replicas else ()
            proposed = Proposed(self.name, each, proposal, replicas[each.operator], nodes, spare)
            if (request := proposed.request(self.local)) is not None:
                requests.append(request)
        return requests

    def _enact(self, change: Reconfiguration) -> bool:
        """Has a change done, and lets it settle if it was."""
        expected = self.comparison.expectation(change)
        effect = self.actuator.apply(change)
        done = isinstance(effect, Done)
        now = self.clock.now_seconds()
        self.journal.append(Entry(EFFECT, now, effect_facts(self.name, change, effect, expected.to_plain())))
        if done:
            changed = [each.operator for each in change.changes] if self.settles_alone else None
            self.state.settle(now + self.settle_seconds, changed)
            self.comparison.begin(expected)
        return done
