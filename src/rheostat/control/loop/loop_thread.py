"""Loops of managers in a thread of their own: they can be held back and ended, and failures are reported.

A failure of one step does not end the loop: the application needs the next step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread

from rheostat.control.loop.loop_schedule import Loop, run
from rheostat.control.loop.ports import Clock

TROUBLE = "trouble"
"""The kind of a journal's entry about a step that failed."""
A_LONG_TIME = 10 * 365 * 86_400.0

Tell = Callable[[str, float, str], None]
"""Receives the name of the loop that failed, the time, and the error."""


class LoopEnded(Exception):
    """The loop was told to end while it waited."""


@dataclass(slots=True)
class EndableClock:
    """A clock on which waiting ends when the run does."""

    clock: Clock
    ending: Event = field(default_factory=Event)

    def now_seconds(self) -> float:
        """The present time of the clock."""
        return self.clock.now_seconds()

    def wait_until(self, seconds: float) -> None:
        """Waits, or ends."""
        while (rest := seconds - self.now_seconds()) > 0:
            if self.ending.wait(min(rest, 3600.0)):
                raise LoopEnded
        if self.ending.is_set():
            raise LoopEnded


@dataclass(slots=True)
class HeldLoop:
    """A manager's loop that can be held back, and whose troubles are told."""

    loop: Loop
    may_step: Callable[[], bool]
    tell: Tell

    @property
    def name(self) -> str:
        """Name of the manager's loop."""
        return self.loop.name

    @property
    def period_seconds(self) -> float:
        """Period of the manager's loop."""
        return self.loop.period_seconds

    @property
    def offset_seconds(self) -> float:
        """Offset of the manager's loop."""
        return self.loop.offset_seconds

    def step(self, now_seconds: float) -> None:
        """One step, if it may."""
        if not self.may_step():
            return
        try:
            self.loop.step(now_seconds)
        except Exception as failure:
            self.tell(self.loop.name, now_seconds, f"{type(failure).__name__}: {failure}")


class LoopThread:
    """Lets loops act when they are due, until it is stopped."""

    def __init__(
        self, name: str, loops: Sequence[Loop], clock: Clock, tell: Tell, may_step: Callable[[], bool] = lambda: True
    ) -> None:
        self._loops = [HeldLoop(loop, may_step, tell) for loop in loops]
        self._clock = EndableClock(clock)
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Starts the loops."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the loops; a step that is under way is waited for."""
        self._clock.ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        if not self._loops:
            return
        try:
            run(self._loops, self._clock, self._clock.now_seconds() + A_LONG_TIME)
        except LoopEnded:
            return
