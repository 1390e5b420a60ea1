"""The local managers of one node: they look for themselves, decide for themselves, and ask the application manager.

What they ask for stands until it is answered or they have changed their mind; what they write down waits until the
controller has it. So they go on while the controller is away, and lose no entry of that time.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from secrets import token_hex
from threading import Lock

from rheostat.control.loop.loop_thread import TROUBLE
from rheostat.control.loop.ports import Entry, Probe
from rheostat.control.managers.operator_manager import OperatorManager
from rheostat.control.remote.manager_messages import Orders, Report, Standing
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import node_managers, operator_manager, state_on
from rheostat.model.graph.application import Application
from rheostat.policies.contract.requests import Request

MOST_NOTES = 20_000
"""Entries that wait for a controller; a day of four operators at a step every twenty seconds."""


@dataclass(slots=True)
class ManagerNotes:
    """A journal that keeps what has not arrived where it belongs."""

    _count: int = 0
    _waiting: deque[tuple[int, Entry]] = field(default_factory=lambda: deque(maxlen=MOST_NOTES))

    def append(self, entry: Entry) -> int:
        """Writes an entry."""
        self._count += 1
        self._waiting.append((self._count, entry))
        return self._count

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """Entries that wait for the controller."""
        return iter([(n, entry) for n, entry in self._waiting if n > after and kind in (None, entry.kind)])

    def forget(self, received: int) -> None:
        """Drops entries that have arrived at the controller."""
        while self._waiting and self._waiting[0][0] <= received:
            self._waiting.popleft()


@dataclass(slots=True)
class RequestDesk:
    """An inbox whose requests stand until they are answered."""

    _count: int = 0
    _standing: dict[str, Standing] = field(default_factory=dict)

    def put(self, sender: str, request: Request | None) -> None:
        """Leaves a request, or none: then an earlier one is withdrawn."""
        if request is None:
            self._standing.pop(sender, None)
        elif sender not in self._standing or self._standing[sender].request != request:
            self._count += 1
            self._standing[sender] = Standing(sender, self._count, request)

    def take_all(self) -> list[Request]:
        """All of them, by sender; they go on standing."""
        return [one.request for one in self.standing()]

    def standing(self) -> tuple[Standing, ...]:
        """All of them, by sender."""
        return tuple(self._standing[sender] for sender in sorted(self._standing))

    def answered(self, sender: str, number: int) -> None:
        """One of them, and what was asked before it, has been decided."""
        if sender in self._standing and self._standing[sender].number <= number:
            del self._standing[sender]


class LocalManagers:
    """A loop over the operator managers that work on one node, and its node manager."""

    def __init__(self, node: str, settings: ControlSettings, application: Application, probe: Probe) -> None:
        self._node, self.settings, self._application = node, settings, application
        self.state = state_on(settings, application, probe)
        self._desk, self._notes = RequestDesk(), ManagerNotes()
        self._managers: dict[str, OperatorManager] = {}
        self._node_manager = node_managers(settings, self.state, self._desk, self._notes, only=node)
        self._held_until = 0.0
        self._life = token_hex(8)
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Name of the loop."""
        return f"local managers on {self._node}"

    @property
    def period_seconds(self) -> float:
        """T_OM."""
        return self.settings.manager_period()

    @property
    def offset_seconds(self) -> float:
        """0: they begin at once."""
        return 0.0

    @property
    def operators(self) -> frozenset[str]:
        """Operators that are managed here."""
        return frozenset(self._managers)

    def take(self, orders: Orders) -> Report:
        """Carries out orders and gives a report. Repeating the same orders changes nothing."""
        with self._lock:
            self._look_after(orders)
            self.state.hidden = set(orders.hidden)
            if orders.settled_at_seconds > self.state.settled_at_seconds:
                self.state.settle(orders.settled_at_seconds)
            for operator, until in orders.settling.items():
                if until > self.state.settling.get(operator, 0.0):
                    self.state.settle(until, [operator])
            self._held_until = orders.held_until_seconds
            for sender, number in orders.answers.items():
                self._desk.answered(sender, number)
            self._notes.forget(orders.received)
            return self._report()

    def report(self) -> Report:
        """The report, without new orders."""
        with self._lock:
            return self._report()

    def _report(self) -> Report:
        return Report(tuple(self._managers), self._life, self._desk.standing(), tuple(self._notes.read()))

    def _look_after(self, orders: Orders) -> None:
        for gone in self._managers.keys() - set(orders.operators):
            self._desk.put(self._managers.pop(gone).name, None)
        for name in orders.operators:
            if name in self._managers or name not in self._application.by_name:
                continue
            operator = self._application.by_name[name]
            manager = operator_manager(self.settings, operator, self.state, self._desk, self._notes)
            learned = orders.memories.get(name)
            if learned is not None:
                manager.recall(str(learned["policy"]), learned["memory"])
            self._managers[name] = manager

    def step(self, now_seconds: float) -> None:
        """Steps every manager in turn; none while a change is under way."""
        with self._lock:
            if now_seconds < self._held_until:
                return
            for manager in self._managers.values():
                manager.step(now_seconds)
            if self._node_manager is not None:
                self._node_manager.step(now_seconds)

    def complain(self, by: str, now_seconds: float, what: str) -> None:
        """Writes down what went wrong here."""
        with self._lock:
            self._notes.append(Entry(TROUBLE, now_seconds, {"by": by, "what": what}))
