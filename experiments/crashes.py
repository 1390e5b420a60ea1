"""Controllers and agents that die at a chosen moment of a change."""

from collections.abc import Callable, Iterator

from rheostat.control.migration import Event
from rheostat.control.ports import Entry, Journal


class ControllerDied(BaseException):
    """Not an error anybody could handle: the process is gone."""


class CrashingJournal:
    """A journal whose owner dies just before or just after it writes a certain step of a change."""

    def __init__(self, journal: Journal, event: Event, moment: str, die: Callable[[], None]) -> None:
        self._journal, self._event, self._moment, self._die = journal, event, moment, die

    def append(self, entry: Entry) -> int:
        """Writes, unless death comes first."""
        now = entry.kind == "change" and entry.facts["event"] == self._event.value
        if now and self._moment == "before":
            self._die()
        number = self._journal.append(entry)
        if now and self._moment == "after":
            self._die()
        return number

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """As it is."""
        return self._journal.read(after, kind)


def controller_dies() -> None:
    """The controller is gone; its agents are not."""
    raise ControllerDied


STEPS = tuple(
    (event, moment)
    for event in (Event.BEGIN, Event.HELD, Event.SAVED, Event.BUILT, Event.STARTED, Event.RESUMED)
    for moment in ("before", "after")
)
"""Every step of the table, and both moments of each."""
