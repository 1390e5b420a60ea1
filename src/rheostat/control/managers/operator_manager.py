"""Looks after one operator: asks its policy, finds the nodes, and leaves a request with the application manager."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Entry, EntryLog, Json
from rheostat.control.managers.replica_changes import grown, shrunk
from rheostat.control.managers.request_inbox import Requests
from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change
from rheostat.policies.contract.policy import OperatorPolicy, Proposal, decision_random
from rheostat.policies.contract.policy_views import NodeView, OperatorView
from rheostat.policies.contract.requests import Request
from rheostat.policies.replicas.placement import NearerIsLikelier, Placement
from rheostat.policies.replicas.victims import OnTheMostUsedNode, ReplicaView, VictimChoice

PROPOSAL, MEMORY = "proposal", "memory"
_PREFIX = "operator manager of "


@dataclass(frozen=True, slots=True)
class Local:
    """Rules by which a local manager turns numbers of replicas into nodes."""

    placement: Placement = NearerIsLikelier()
    """Placement of a new replica."""
    victims: VictimChoice = OnTheMostUsedNode()
    """Choice of the replica that is removed."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Proposed:
    """One decision of an operator manager, with everything it was based on: it can be taken again."""

    by: str
    view: OperatorView
    proposal: Proposal
    current: Replicas
    nodes: tuple[NodeView, ...] = ()
    """Looked at if a place was needed."""
    replicas: tuple[ReplicaView, ...] = ()
    """Looked at if one had to go."""

    def request(self, local: Local) -> Request | None:
        """The resulting request; None if the manager holds, or no node has room."""
        wanted, has = self.proposal.wanted, self.view.replicas
        random = decision_random(local.seed, self.view.operator, repr(self.view.at_seconds))
        after = self.current
        if wanted > has:
            after = grown(after, wanted - has, self.nodes, local.placement, random)
        elif wanted < has:
            after = shrunk(after, has - wanted, self.replicas, local.victims, random)
        if after == self.current:
            return None
        change = Change(self.view.operator, self.current, after)
        return Request(change, self.proposal.score, self.by, self.proposal.reason)

    def facts(self, request: Request | None) -> dict[str, Json]:
        """Facts for the journal."""
        return {
            "by": self.by,
            "view": self.view.to_plain(),
            "proposal": self.proposal.to_plain(),
            "current": dict(self.current.counts),
            "nodes": [node.to_plain() for node in self.nodes],
            "replicas": [[r.node, r.utilization, r.node_utilization] for r in self.replicas],
            "request": None if request is None else request.to_plain(),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The decision that was journaled."""
        return cls(
            facts["by"],
            OperatorView.from_plain(facts["view"]),
            Proposal.from_plain(facts["proposal"]),
            Replicas.of(facts["current"]),
            tuple(NodeView.from_plain(node) for node in facts["nodes"]),
            tuple(ReplicaView(*replica) for replica in facts["replicas"]),
        )


def manager_name(operator: str) -> str:
    """Name of an operator's manager in the journal."""
    return f"{_PREFIX}{operator}"


def operator_managed_by(name: str) -> str:
    """The operator whose manager has this name."""
    return name.removeprefix(_PREFIX)


@dataclass(slots=True)
class OperatorManager:
    """The local loop of one operator, for as long as the application runs."""

    operator: str
    policy: OperatorPolicy[Any]
    state: ApplicationState
    inbox: Requests
    journal: EntryLog
    local: Local = Local()
    period_seconds: float = 30.0
    """T_OM."""
    offset_seconds: float = 0.0
    memory_every: int = 0
    """Steps between two journal entries of the memory; 0 for never."""
    memory: Any = None
    """Memory of the policy; None at birth."""
    _steps: int = field(default=0)

    def __post_init__(self) -> None:
        """A policy that was not given anything to remember begins."""
        if self.memory is None:
            self.memory = self.policy.begin()

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return manager_name(self.operator)

    def lesson(self, now_seconds: float) -> Entry:
        """The policy's memory as a journal entry."""
        learned = {"by": self.name, "policy": self.policy.name, "memory": self.policy.saved(self.memory)}
        return Entry(MEMORY, now_seconds, learned)

    def recall(self, policy: str, memory: Any) -> None:
        """Goes on with what was learned before; what another policy or other settings have learned is of no use."""
        if policy == self.policy.name:
            with suppress(ValueError):
                self.memory = self.policy.loaded(memory)

    def step(self, now_seconds: float) -> None:
        """One turn of the loop; nothing while a change settles."""
        self.state.refresh(now_seconds)
        if self.state.unsettled_seconds(self.operator, now_seconds) > 0:
            self.inbox.put(self.name, None)
            return
        view = self.state.operator_view(self.operator)
        proposal, self.memory = self.policy.decide(view, self.memory)
        proposed = self._proposed(view, proposal)
        request = proposed.request(self.local)
        self.inbox.put(self.name, request)
        facts = {**proposed.facts(request), "silences": self.state.silences(view)}
        self.journal.append(Entry(PROPOSAL, now_seconds, facts))
        self._steps += 1
        if self.memory_every and self._steps % self.memory_every == 0:
            self.journal.append(self.lesson(now_seconds))

    def _proposed(self, view: OperatorView, proposal: Proposal) -> Proposed:
        current = self.state.snapshot().replicas[self.operator]
        nodes = self.state.node_views(self.operator) if proposal.wanted > view.replicas else ()
        replicas = self.state.replica_views(self.operator) if proposal.wanted < view.replicas else ()
        return Proposed(self.name, view, proposal, current, nodes, replicas)
