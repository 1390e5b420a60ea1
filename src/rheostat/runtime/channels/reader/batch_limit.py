"""Limit of the rows of a batch, so that it ends in time.

After an outage thousands of rows wait. Taken at once they would be one batch of a minute, during which nothing comes
out, nothing is measured and nothing can be changed: a change waits for the batch that runs.

A batch of n rows lasts about a + b n; both are fitted to the last few batches. The next one takes no more than it can
do in the wanted time; where `a` alone takes longer, than it can do in 2 a, or it would get nothing done. While batches
are short a guess must not hold a query up: `FREE_ROWS` are always let in.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

FREE_ROWS = 500
REMEMBERED = 8
LESS = 0.7
"""Every other batch is so much smaller: batches of one size do not tell the cost of a row."""
LEAST_SPREAD = 0.1
"""Standard deviation of the rows over their mean; batches of one size say nothing about what a row costs."""


@dataclass(slots=True)
class BatchLimit:
    """Limits the next batch of a query by the durations of the last ones."""

    seconds: float
    """Wanted duration of a batch."""
    _batches: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """Rows and seconds of the last ones."""
    _running: tuple[object, int, float] | None = None
    """End, rows and time of the batch that was planned last."""
    _turn: bool = True

    def note_planned(self, end: object, rows: int, now_seconds: float) -> None:
        """Records that a batch with this end is about to run."""
        if self._running is None or self._running[0] != end:
            self._running = (end, rows, now_seconds)

    def note_start(self, start: object, now_seconds: float) -> None:
        """Records where the next batch begins: if the last one ended there, that one is done."""
        if self._running is not None and self._running[0] == start:
            _, rows, began = self._running
            if rows > 0:
                self._batches.append((rows, now_seconds - began))
            self._running, self._turn = None, not self._turn

    def most_rows(self) -> int | None:
        """Limit of the rows of the next batch; None for no limit."""
        if not self._batches:
            return FREE_ROWS
        fixed, per_row = _line(self._batches)
        if per_row <= 0:
            return None
        most = max(1, int(max(self.seconds - fixed, fixed) / per_row))
        if all(seconds <= self.seconds / 2 for _, seconds in self._batches):
            return max(most, FREE_ROWS)
        return most if self._turn else max(1, int(LESS * most))


def _line(batches: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """a and b of a + b n by least squares; if that says nothing, or nonsense, all of the time is taken for load.

    >>> fixed, per_row = _line([(10, 1.2), (20, 1.4), (60, 2.2)])
    >>> round(fixed, 6), round(per_row, 6)
    (1.0, 0.02)
    """
    count = len(batches)
    mean_rows = sum(rows for rows, _ in batches) / count
    mean_seconds = sum(seconds for _, seconds in batches) / count
    spread = sum((rows - mean_rows) ** 2 for rows, _ in batches)
    if spread / count < (LEAST_SPREAD * mean_rows) ** 2:
        return 0.0, mean_seconds / mean_rows
    slope = sum((rows - mean_rows) * (seconds - mean_seconds) for rows, seconds in batches) / spread
    fixed = mean_seconds - slope * mean_rows
    return (0.0, mean_seconds / mean_rows) if fixed < 0 else (fixed, slope)
