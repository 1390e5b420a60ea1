"""The controller's side of the managers that work on the nodes: who looks after what, their requests, their answers.

Every operator has one manager, on one node, for as long as that node is there; a former controller's are left where
they are. What a manager writes down arrives here and is journaled once; what it asks for is passed on to the
application manager. A node drops a manager that another node has now, and its request, before it reports.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Actuator, Clock, Effect, Entry, EntryLog, Json
from rheostat.control.managers.operator_manager import MEMORY, operator_managed_by
from rheostat.control.managers.request_inbox import Inbox
from rheostat.control.remote.manager_messages import NEVER, Orders, Report, Standing
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import can_be_scaled
from rheostat.errors import RuntimeFault
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.policies.contract.requests import Request
from rheostat.runtime.nodes.agent_snapshot import AgentSnapshot, fingerprint
from rheostat.runtime.nodes.node_messages import ManagerQuestion
from rheostat.runtime.nodes.node_port import HostsManagers
from rheostat.runtime.reconfigure.runtime import Runtime

HOLD_SECONDS = 120.0
"""Longest duration of a change. If its end is not reported by then, the controller is gone, and managers go on."""
FOR_EVER = 1e12
"""Seconds since 1970: without end."""
TOLD_BY = "told by"
"""The fact of an entry that says which node wrote it down, in which life, and under which number."""


@dataclass
class _Post:
    """State of the managers on one node."""

    life: str = ""
    received: int = 0
    knows: str = ""
    """The fingerprint of what it was told about the application."""
    standing: tuple[Standing, ...] = ()


class RemoteManagers:
    """Requests that come from the nodes; a loop that keeps in touch with them; and an actuator that holds them."""

    offset_seconds = 0.0
    name = "messages to the nodes"

    def __init__(
        self, runtime: Runtime, actuator: Actuator, settings: ControlSettings, journal: EntryLog, clock: Clock
    ) -> None:
        self._runtime, self._actuator, self._settings, self._clock = runtime, actuator, settings, clock
        self._journal = journal
        self.period_seconds = runtime.monitor.settings.period_seconds
        self.state: ApplicationState | None = None
        """The application manager's: it says what settles and which nodes take nothing new."""
        self._posts: dict[str, _Post] = {}
        self._homes: dict[str, str] = {}
        self._answers: dict[str, int] = {}
        self._local = Inbox()
        self._held_until = NEVER
        self._memories = _memories(journal)
        self._received = _received(journal)
        self._talking = Lock()
        self._find_managers()

    def put(self, sender: str, request: Request | None) -> None:
        """Puts a request of a manager in this process."""
        self._local.put(sender, request)

    def take_all(self) -> list[Request]:
        """Everything that is asked for now, here and on the nodes, by sender; it will be answered."""
        self.exchange()
        standing = [one for post in self._posts.values() for one in post.standing]
        standing.sort(key=lambda one: one.sender)
        self._answers = {one.sender: one.number for one in standing}
        return [*self._local.take_all(), *(one.request for one in standing)]

    def step(self, now_seconds: float) -> None:  # noqa: ARG002 - the protocol of loops
        """A change that was under way is over: managers may look again."""
        self._held_until = NEVER
        self.exchange()

    def apply(self, change: Reconfiguration) -> Effect:
        """Managers do not look while a change is under way; until the next step, when it is known how long it settles.

        What they would see is an application that stands still.
        """
        self._held_until = self._clock.now_seconds() + HOLD_SECONDS
        self.exchange()
        return self._actuator.apply(change)

    def pause(self) -> None:
        """Holds all managers back until the next step."""
        self._held_until = FOR_EVER
        self.exchange()

    def exchange(self) -> None:
        """Tells every node what should be, and takes in what it has to tell; one that is out of reach is told later."""
        with self._talking:
            self._exchange()

    def _exchange(self) -> None:
        snapshot = self._snapshot()
        mark = fingerprint(snapshot)
        nodes = {node.name: node for node in self._runtime.nodes_up() if isinstance(node, HostsManagers)}
        self._find_homes(nodes)
        self._posts = {name: self._posts.get(name, _Post()) for name in nodes}
        for name, node in nodes.items():
            post = self._posts[name]
            try:
                self._talk(node, post, snapshot, mark)
            except RuntimeFault:
                # The supervisor revives the node or gives it up.
                post.knows, post.standing = "", ()

    def _talk(self, node: HostsManagers, post: _Post, snapshot: AgentSnapshot, mark: str) -> None:
        orders = self._orders(node.name, post)
        told = node.exchange(ManagerQuestion(orders, mark, None if post.knows == mark else snapshot))
        if told.report is None:
            # It was started again since it last answered.
            told = node.exchange(ManagerQuestion(orders, mark, snapshot))
        if told.report is None:
            raise RuntimeFault(f"the managers on node {node.name} did not take the snapshot of the run")
        post.knows = mark
        self._take(node.name, post, told.report)

    def _orders(self, name: str, post: _Post) -> Orders:
        state = self.state
        mine = tuple(operator for operator, home in self._homes.items() if home == name)
        return Orders(
            mine,
            {operator: self._memories[operator] for operator in mine if operator in self._memories},
            () if state is None else tuple(sorted(state.hidden)),
            NEVER if state is None else max(NEVER, state.settled_at_seconds),
            {} if state is None else dict(state.settling),
            self._held_until,
            {sender: number for sender, number in self._answers.items() if sender in {s.sender for s in post.standing}},
            post.received,
        )

    def _take(self, name: str, post: _Post, report: Report) -> None:
        """Journals what is new, and remembers what is asked for."""
        if report.life != post.life:
            post.life, post.received = report.life, self._received.get((name, report.life), 0)
        for number, entry in report.entries:
            if number > post.received:
                mark: dict[str, Json] = {TOLD_BY: [name, report.life, number]}
                self._journal.append(Entry(entry.kind, entry.at_seconds, {**entry.facts, **mark}))
                post.received = number
                if entry.kind == MEMORY:
                    self._memories.update(_learned([entry]))
        post.standing = report.requests

    def _find_managers(self) -> None:
        """Finds managers that an earlier controller has started; they stay where they are."""
        for node in self._runtime.nodes_up():
            if isinstance(node, HostsManagers):
                try:
                    told = node.exchange(ManagerQuestion())
                except RuntimeFault:
                    continue
                for operator in () if told.report is None else told.report.operators:
                    self._homes.setdefault(operator, node.name)

    def _find_homes(self, nodes: Mapping[str, HostsManagers]) -> None:
        """Every operator that can be scaled has a manager: where it has one, else where most of it runs."""
        deployment = self._runtime.deployment()
        for operator in self._runtime.blueprint.application.operators:
            if not can_be_scaled(operator) or self._homes.get(operator.name) in nodes or not nodes:
                continue
            self._homes[operator.name] = _home(deployment, operator.name, nodes)

    def _snapshot(self) -> AgentSnapshot:
        runtime = self._runtime
        return AgentSnapshot(
            runtime.blueprint.application,
            runtime.infrastructure(),
            runtime.blueprint.columns,
            runtime.blueprint.settings,
            runtime.plan,
            runtime.stand_ins(),
            self._settings,
            runtime.monitor.settings.period_seconds,
        )


def _home(deployment: Deployment, operator: str, nodes: Iterable[str]) -> str:
    counts = dict(deployment[operator].counts)
    return min(nodes, key=lambda node: (-counts.get(node, 0), node))


def _memories(journal: EntryLog) -> dict[str, Mapping[str, Json]]:
    return _learned(entry for _, entry in journal.read(kind=MEMORY))


def _learned(entries: Iterable[Entry]) -> dict[str, Mapping[str, Json]]:
    """Operator -> what its manager has learned last."""
    found: dict[str, Mapping[str, Json]] = {}
    for entry in entries:
        facts: Mapping[str, Any] = entry.facts
        found[operator_managed_by(str(facts["by"]))] = {"policy": facts["policy"], "memory": facts["memory"]}
    return found


def _received(journal: EntryLog) -> dict[tuple[str, str], int]:
    """Node and life -> the number of its last entry that was journaled."""
    found: dict[tuple[str, str], int] = {}
    for _, entry in journal.read():
        facts: Mapping[str, Any] = entry.facts
        if TOLD_BY in facts:
            node, life, number = facts[TOLD_BY]
            found[node, life] = number
    return found
