"""Schedule of loops with periods, called one after the other in the order in which they are due.

The same rule holds in virtual and in real time; only the clock differs. Nothing here runs side by side, so that two
runs over the same world make the same decisions in the same order.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from math import floor, isfinite
from typing import Protocol

from rheostat.control.loop.ports import Clock

_TOLERANCE = 1e-9
"""Share of a period: a due time that was reached by rounding counts as reached."""


class Loop(Protocol):
    """A periodic activity: a manager, a recorder, a workload that changes."""

    @property
    def name(self) -> str:
        """Name of the loop, unique within a run."""
        ...

    @property
    def period_seconds(self) -> float:
        """Time from one step to the next."""
        ...

    @property
    def offset_seconds(self) -> float:
        """Time from the start of the run to the first step; 0 acts at once."""
        ...

    def step(self, now_seconds: float) -> None:
        """Acts. `now_seconds` is what the clock says, which may be later than when the step was due."""
        ...


Progress = Callable[[float], None]
"""Called with the time before every moment at which a loop is due, and once at the end."""


def silent(now_seconds: float) -> None:
    """Ignores progress."""


def run(loops: Sequence[Loop], clock: Clock, until_seconds: float, progress: Progress = silent) -> None:
    """Calls every loop when it is due, up to and including `until_seconds`, and returns at that time.

    Loops due at the same moment go in the order of the sequence: put what measures before what decides. A loop that
    is late (real time, a slow step) skips the moments it has missed and stays on its grid: a control step that took
    long must not be followed by a burst of stale ones.
    """
    _check(loops, until_seconds)
    start = clock.now_seconds()
    due = [(start + loop.offset_seconds, position) for position, loop in enumerate(loops)]
    heapify(due)
    while due and due[0][0] <= until_seconds:
        moment, position = heappop(due)
        clock.wait_until(moment)
        now = clock.now_seconds()
        progress(now)
        loop = loops[position]
        loop.step(now)
        heappush(due, (_next_due(loop, start, clock.now_seconds(), moment), position))
    clock.wait_until(until_seconds)
    progress(clock.now_seconds())


def _next_due(loop: Loop, start: float, now: float, last: float) -> float:
    """The first moment of the loop's grid after the last one that is not yet past.

    Counted from the start, not added up: sums of periods drift.
    """
    first = start + loop.offset_seconds
    taken = round((last - first) / loop.period_seconds)
    passed = floor((now - first) / loop.period_seconds - _TOLERANCE)
    return first + max(taken + 1, passed + 1) * loop.period_seconds


def _check(loops: Sequence[Loop], until_seconds: float) -> None:
    if not isfinite(until_seconds):
        raise ValueError(f"a run needs a finite end, got {until_seconds}")
    names = [loop.name for loop in loops]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"loops need names of their own, repeated: {', '.join(repeated)}")
    for loop in loops:
        if not (isfinite(loop.period_seconds) and loop.period_seconds > 0):
            raise ValueError(f"{loop.name}: a period must be finite and > 0, got {loop.period_seconds}")
        if not (isfinite(loop.offset_seconds) and loop.offset_seconds >= 0):
            raise ValueError(f"{loop.name}: an offset must be finite and >= 0, got {loop.offset_seconds}")
