"""The managers of a running application, in a thread of their own: steps when they are due, pauses when told to.

What goes wrong in a step is told and does not end the loop: the application must be looked after in the next period.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from rheostat.assembly.recovery import finish_decisions, recall
from rheostat.control.building import Control
from rheostat.control.explain import explanation, is_holding
from rheostat.control.operator_manager import MEMORY
from rheostat.control.ports import Clock, Entry, Journal
from rheostat.control.scheduling import Loop, run
from rheostat.model.deployment import Deployment

A_LONG_TIME = 10 * 365 * 86_400.0
TROUBLE, PAUSED, RESUMED = "trouble", "control paused", "control resumed"
STORIES_SHOWN = 6


class Ended(Exception):
    """The loop was told to end while it waited."""


@dataclass(slots=True)
class EndableClock:
    """A clock on which waiting ends when the run does."""

    clock: Clock
    ending: Event = field(default_factory=Event)

    def now_seconds(self) -> float:
        """What the clock says."""
        return self.clock.now_seconds()

    def wait_until(self, seconds: float) -> None:
        """Waits, or ends."""
        while (rest := seconds - self.now_seconds()) > 0:
            if self.ending.wait(min(rest, 3600.0)):
                raise Ended
        if self.ending.is_set():
            raise Ended


@dataclass(slots=True)
class Stepped:
    """A manager's loop that can be paused, and whose troubles are told."""

    loop: Loop
    may_step: Callable[[], bool]
    tell: Callable[[str, float, str], None]

    @property
    def name(self) -> str:
        """As the manager's."""
        return self.loop.name

    @property
    def period_seconds(self) -> float:
        """As the manager's."""
        return self.loop.period_seconds

    @property
    def offset_seconds(self) -> float:
        """As the manager's."""
        return self.loop.offset_seconds

    def step(self, now_seconds: float) -> None:
        """One step, if it may."""
        if not self.may_step():
            return
        try:
            self.loop.step(now_seconds)
        except Exception as failure:
            self.tell(self.loop.name, now_seconds, f"{type(failure).__name__}: {failure}")


class Steering:
    """The control of one running application."""

    def __init__(
        self, build: Callable[[Journal], Control], clock: Clock, journal: Journal, running: Deployment
    ) -> None:
        """Puts the managers together, and takes up what a former controller has left."""
        finish_decisions(journal, running, clock.now_seconds())
        self._journal = StoryJournal(journal)
        self._control = build(self._journal)
        recall(self._control, journal)
        self._clock = EndableClock(clock)
        self._paused = Event()
        self._thread = Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        """Lets the managers act from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the loop; a step that is under way is waited for."""
        self._clock.ending.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_paused(self) -> bool:
        """Whether the managers only watch time pass."""
        return self._paused.is_set()

    def pause(self) -> None:
        """Nobody decides anything until `resume`."""
        if not self._paused.is_set():
            self._paused.set()
            self._journal.append(Entry(PAUSED, self._clock.now_seconds(), {}))

    def resume(self) -> None:
        """They decide again."""
        if self._paused.is_set():
            self._paused.clear()
            self._journal.append(Entry(RESUMED, self._clock.now_seconds(), {}))

    def stories(self) -> list[dict[str, Any]]:
        """The last decisions in words, oldest first."""
        return list(self._journal.stories)

    def _run(self) -> None:
        loops = [Stepped(loop, lambda: not self._paused.is_set(), self._tell) for loop in self._control.loops]
        if not loops:
            return
        try:
            run(loops, self._clock, self._clock.now_seconds() + A_LONG_TIME)
        except Ended:
            return

    def _tell(self, by: str, now_seconds: float, what: str) -> None:
        self._journal.append(Entry(TROUBLE, now_seconds, {"by": by, "what": what}))


class StoryJournal:
    """A journal that also remembers the last things it was told, in words."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.read = journal.read
        self.stories: deque[dict[str, Any]] = deque(maxlen=STORIES_SHOWN)

    def append(self, entry: Entry) -> int:
        """Writes an entry."""
        number = self._journal.append(entry)
        if entry.kind == TROUBLE:
            told = f"{entry.facts['by']}: {entry.facts['what']}"
        else:
            told = "" if is_holding(entry) or entry.kind == MEMORY else explanation(entry)
        if told:
            self.stories.append({"number": number, "at_seconds": entry.at_seconds, "told": told})
        return number
