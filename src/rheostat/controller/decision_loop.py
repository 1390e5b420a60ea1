"""The managers of a running application, in a thread of their own: steps when they are due, pauses when told to."""

from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from threading import Event
from typing import Any

from rheostat.control.history.explanation import explanation, is_holding
from rheostat.control.loop.loop_thread import TROUBLE, LoopThread
from rheostat.control.loop.ports import Clock, Entry, EntryLog
from rheostat.control.managers.operator_manager import MEMORY
from rheostat.control.setup.factory import Control
from rheostat.controller.recovery import finish_decisions, finish_node_decisions, recall
from rheostat.errors import JournalFenced
from rheostat.logs import room_logger
from rheostat.model.graph.deployment import Deployment

LOG = room_logger("controller")

PAUSED, RESUMED = "control paused", "control resumed"
STORIES_SHOWN = 6
KILLED, STOPPED = "the controller was killed before", "the application was stopped before"
"""Reasons why a decision about nodes was not carried out."""


class DecisionLoop:
    """The control of one running application."""

    def __init__(
        self,
        build: Callable[[EntryLog], Control],
        clock: Clock,
        journal: EntryLog,
        running: Deployment,
        nodes: Callable[[], AbstractSet[str]],
    ) -> None:
        """Puts the managers together, and takes up what a former controller has left: what runs, and on which nodes."""
        finish_decisions(journal, running, clock.now_seconds())
        finish_node_decisions(journal, nodes(), clock.now_seconds(), KILLED)
        self._nodes = nodes
        self._journal = StoryJournal(journal)
        self._control = build(self._journal)
        recall(self._control, journal)
        self._clock = clock
        self._paused = Event()
        if was_paused(journal):
            self._paused.set()
        self._thread = LoopThread("control", self._control.loops, clock, self._tell, lambda: not self.is_paused)

    def start(self) -> None:
        """Lets the managers act from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the loop; a step that is under way is waited for, a node that is coming or being left is not."""
        self._thread.stop()
        # After a takeover, node decisions are the next owner's to finish.
        with suppress(JournalFenced):
            finish_node_decisions(self._journal, self._nodes(), self._clock.now_seconds(), STOPPED)

    @property
    def is_paused(self) -> bool:
        """Whether the managers only watch time pass."""
        return self._paused.is_set()

    def pause(self) -> None:
        """Stops all decisions until `resume`."""
        if not self._paused.is_set():
            self._paused.set()
            self._journal.append(Entry(PAUSED, self._clock.now_seconds(), {}))
            LOG.info("control is paused")

    def resume(self) -> None:
        """Lets the managers decide again."""
        if self._paused.is_set():
            self._paused.clear()
            self._journal.append(Entry(RESUMED, self._clock.now_seconds(), {}))
            LOG.info("control is resumed")

    def stories(self) -> list[dict[str, Any]]:
        """The last decisions in words, oldest first."""
        return list(self._journal.stories)

    def _tell(self, by: str, now_seconds: float, what: str) -> None:
        LOG.warning("a step of the %s failed: %s", by, what)
        # The controller ends the run at its next look if another one has taken it over.
        with suppress(JournalFenced):
            self._journal.append(Entry(TROUBLE, now_seconds, {"by": by, "what": what}))


def was_paused(journal: EntryLog) -> bool:
    """Whether control was paused when the last controller ended: it stays paused until it is resumed."""
    paused = False
    for _, entry in journal.read():
        paused = entry.kind == PAUSED or (paused and entry.kind != RESUMED)
    return paused


class StoryJournal:
    """A journal that also remembers the last things it was told, in words."""

    def __init__(self, journal: EntryLog) -> None:
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
