"""Looks after a whole application: collects what is asked for, grants some of it, and has it done [EDF 7].

Three steps: priorities, conflicts, granting. A policy for the whole application, if there is one, asks like everybody
else. After a change nobody proposes anything until it has settled, and then predicted and measured are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.decisions import (
    DECISION,
    EFFECT,
    MEASURED,
    Decision,
    Expectation,
    effect_facts,
    expected_utilization,
)
from rheostat.control.inbox import Requests
from rheostat.control.leaving import Leaving
from rheostat.control.operator_manager import Local, Proposed
from rheostat.control.outlook import Outlook
from rheostat.control.picture import Picture
from rheostat.control.ports import Actuator, Clock, Done, Entry, Journal, Json
from rheostat.model.reconfiguration import Reconfiguration
from rheostat.policies.granting import GrantAll, Granting, Situation
from rheostat.policies.policy import ApplicationPolicy
from rheostat.policies.requests import Refusal, Request, without_conflicts

APPLICATION_PROPOSAL = "application proposal"


@dataclass(slots=True)
class ApplicationManager:
    """The global loop of one application."""

    outlook: Outlook
    inbox: Requests
    actuator: Actuator
    clock: Clock
    journal: Journal
    granting: Granting[Any] = field(default_factory=GrantAll)
    """Which requests are enacted."""
    policy: ApplicationPolicy[Any] | None = None
    """Proposes for all operators together, beside what the local managers ask for."""
    local: Local = Local()
    """How the policy's numbers become nodes."""
    period_seconds: float = 30.0
    """T_AM."""
    offset_seconds: float = 0.0
    settle_seconds: float = 30.0
    """After a change nothing is proposed, and what is measured does not count."""
    settles_alone: bool = False
    """Whether only the operators that changed have to settle, not the whole application."""
    leaving: Leaving = field(default_factory=Leaving)
    """Nodes the infrastructure manager wants back."""
    memory: Any = None
    policy_memory: Any = None
    _expected: Expectation | None = None

    def __post_init__(self) -> None:
        """Policies that were not given anything to remember begin."""
        if self.memory is None:
            self.memory = self.granting.begin()
        if self.policy is not None and self.policy_memory is None:
            self.policy_memory = self.policy.begin()

    @property
    def name(self) -> str:
        """Who decides, in the journal."""
        return f"application manager of {self.outlook.application.name}"

    def step(self, now_seconds: float) -> None:
        """One turn of the loop."""
        self.act(now_seconds)

    def act(self, now_seconds: float) -> bool:
        """One turn of the loop; whether anything was changed."""
        picture = self.outlook.refresh(now_seconds)
        self._compare(now_seconds)
        asked = self.inbox.taken()
        if self.outlook.settled_at_seconds <= now_seconds:
            asked += self._proposals(now_seconds)
        asked += self.leaving.requests(self.outlook, self.local)
        decision = self._decided(picture, asked, now_seconds)
        self.journal.append(Entry(DECISION, now_seconds, decision.facts()))
        return self._enacted(decision.change) if decision.granted else False

    def _decided(self, picture: Picture, asked: Sequence[Request], now_seconds: float) -> Decision:
        current, stale = [], []
        for request in asked:
            if picture.replicas.get(request.change.operator) == request.change.before:
                current.append(request)
            else:
                stale.append(Refusal(request, "application manager", "the operator has changed meanwhile"))
        kept, conflicts = without_conflicts(current)
        replicas = sum(len(each) for each in picture.replicas.values())
        seen = Situation(now_seconds, self.outlook.response_ms(), replicas)
        granted, self.memory = self.granting.grant(kept, seen, self.memory)
        return Decision.of(self.name, seen, asked, (*stale, *conflicts), granted)

    def _proposals(self, now_seconds: float) -> list[Request]:
        """What the policy for the whole application would do."""
        if self.policy is None:
            return []
        view = self.outlook.application_view()
        proposals, self.policy_memory = self.policy.decide_all(view, self.policy_memory)
        requests = []
        told = {name: proposal.to_plain() for name, proposal in proposals.items()}
        facts: dict[str, Json] = {"by": self.name, "view": view.to_plain(), "proposals": told}
        self.journal.append(Entry(APPLICATION_PROPOSAL, now_seconds, facts))
        replicas = self.outlook.picture().replicas
        for each in view.operators:
            proposal = proposals[each.operator]
            nodes = self.outlook.node_views(each.operator) if proposal.wanted > each.replicas else ()
            spare = self.outlook.replica_views(each.operator) if proposal.wanted < each.replicas else ()
            proposed = Proposed(self.name, each, proposal, replicas[each.operator], nodes, spare)
            if (request := proposed.request(self.local)) is not None:
                requests.append(request)
        return requests

    def _enacted(self, change: Reconfiguration) -> bool:
        """Has a change done, and lets it settle if it was."""
        expected = self._expectation(change)
        effect = self.actuator.apply(change)
        done = isinstance(effect, Done)
        now = self.clock.now_seconds()
        self.journal.append(Entry(EFFECT, now, effect_facts(self.name, change, effect, expected.to_plain())))
        if done:
            changed = [each.operator for each in change.changes] if self.settles_alone else None
            self.outlook.settle(now + self.settle_seconds, changed)
            self._expected = expected
        return done

    def _expectation(self, change: Reconfiguration) -> Expectation:
        busy = []
        for each in change.changes:
            utilizations = self.outlook.operator_view(each.operator).utilizations
            if utilizations:
                busy.append((each.operator, expected_utilization(utilizations, len(each.after))))
        return Expectation(str(change), tuple(busy), self.outlook.response_ms())

    def _compare(self, now_seconds: float) -> None:
        """Tells what the last change has brought, as soon as that was measured."""
        expected, response = self._expected, self.outlook.response_ms()
        if expected is None or response is None or self.outlook.settled_at_seconds > now_seconds:
            return
        views = [self.outlook.operator_view(operator) for operator, _ in expected.utilizations]
        if not all(view.utilizations for view in views):
            return
        measured = {view.operator: expected_utilization(view.utilizations, view.replicas) for view in views}
        facts: dict[str, Json] = {
            "by": self.name,
            "change": expected.change,
            "predicted": expected.to_plain(),
            "measured": {"utilization": measured, "response_ms": response},
        }
        self.journal.append(Entry(MEASURED, now_seconds, facts))
        self._expected = None
