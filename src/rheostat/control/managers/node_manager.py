"""Looks after one node: asks for a replica to be moved away when the node is too busy [EDF 6]."""

from dataclasses import dataclass, field

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Entry, EntryLog, Json
from rheostat.control.managers.request_inbox import Requests
from rheostat.model.graph.reconfiguration import Change
from rheostat.policies.contract.requests import Request
from rheostat.policies.nodes.node_migration import HostView, NodeMigration, ReplicaMove

MIGRATION = "migration"


@dataclass(slots=True)
class NodeManager:
    """The local view of one node; `NodeManagers` lets all of them act."""

    node: str
    policy: NodeMigration
    state: ApplicationState
    inbox: Requests
    journal: EntryLog

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return f"node manager of {self.node}"

    def act(self, now_seconds: float) -> None:
        """One look at the node; only what calls for a move, or would if it could, is written down."""
        view = self.state.host_view(self.node)
        found = self.policy.decide(view)
        request = self._request(found)
        self.inbox.put(self.name, request)
        if found.operator is not None:
            self.journal.append(Entry(MIGRATION, now_seconds, self._facts(view, found, request)))

    def _request(self, found: ReplicaMove) -> Request | None:
        if found.operator is None or found.target is None:
            return None
        if not self.state.application.by_name[found.operator].may_run_on(found.target):
            return None
        current = self.state.snapshot().replicas[found.operator]
        change = Change(found.operator, current, current.plus(found.target).plus(self.node, -1))
        return Request(change, found.score, self.name, found.reason)

    def _facts(self, view: HostView, found: ReplicaMove, request: Request | None) -> dict[str, Json]:
        return {
            "by": self.name,
            "view": view.to_plain(),
            "proposal": found.to_plain(),
            "request": None if request is None else request.to_plain(),
        }


@dataclass(slots=True)
class NodeManagers:
    """A node manager on every node that is up, whichever come and go."""

    policy: NodeMigration
    state: ApplicationState
    inbox: Requests
    journal: EntryLog
    period_seconds: float = 30.0
    """T_NM."""
    offset_seconds: float = 0.0
    only: str | None = None
    """The node whose manager this is; None for all."""
    _managers: dict[str, NodeManager] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the loop over all node managers."""
        return f"node managers of {self.state.application.name}"

    def step(self, now_seconds: float) -> None:
        """Every node manager looks at its node; nothing while a change settles."""
        snapshot = self.state.refresh(now_seconds)
        settles = self.state.settled_at_seconds > now_seconds
        up = [node for node in snapshot.infrastructure.index if self.only in (None, node)]
        for gone in self._managers.keys() - set(up):
            self.inbox.put(self._managers.pop(gone).name, None)
        for node in up:
            manager = self._managers.get(node)
            if manager is None:
                manager = NodeManager(node, self.policy, self.state, self.inbox, self.journal)
                self._managers[node] = manager
            if settles or node not in snapshot.hosted:
                self.inbox.put(manager.name, None)
            else:
                manager.act(now_seconds)
