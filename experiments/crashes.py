"""Moments of a change at which a process dies."""

import threading
from collections.abc import Callable, Iterator

from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import Entry, Journal

WAY = (
    Event.BEGIN,
    Event.HELD,
    Event.SAVED,
    Event.BUILT,
    Event.STARTED,
    Event.RESUMED,
)
"""The events of a change that succeeds, in order."""
MOMENTS = ("before", "during", "after")
STEPS = tuple((event, moment) for event in WAY for moment in MOMENTS)
"""Every step of the table, and the three moments of each: before its entry is in the journal, while the work that leads
to it is being done, after its entry is there."""


class ControllerDied(BaseException):
    """Death of the process, which no code can handle."""


class CrashingJournal:
    """A journal that ends a process at a certain moment of a change."""

    def __init__(
        self, journal: Journal, event: Event, moment: str, die: Callable[[], None], delay_seconds: float = 0.1
    ) -> None:
        self._journal, self._event, self._moment, self._die = journal, event, moment, die
        self._delay_seconds = delay_seconds

    @property
    def term(self) -> int:
        """As it is."""
        return self._journal.term

    def newest_term(self) -> int:
        """As it is."""
        return self._journal.newest_term()

    def append(self, entry: Entry) -> int:
        """Writes, unless death comes first."""
        event = Event(str(entry.facts["event"])) if entry.kind == "change" else None
        now = event is self._event
        if (now and self._moment == "before") or (self._moment == "during" and event is self._latest):
            self._die()
        number = self._journal.append(entry)
        if now and self._moment == "after":
            self._die()
        if self._moment == "during" and self._leads(event):
            threading.Timer(self._delay_seconds, self._die).start()
        return number

    @property
    def _latest(self) -> Event:
        """The step of death itself: if its work was done sooner than expected, this is the last moment of it."""
        return WAY[max(1, WAY.index(self._event))]

    def _leads(self, event: Event | None) -> bool:
        """Whether the work for the step of death begins after this event."""
        if self._event is WAY[0]:
            return event is WAY[0]
        return event is not None and event is WAY[WAY.index(self._event) - 1]

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """As it is."""
        return self._journal.read(after, kind)


def controller_dies() -> None:
    """The controller is gone; its agents are not."""
    raise ControllerDied
