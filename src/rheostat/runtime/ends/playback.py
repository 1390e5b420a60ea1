"""Rows of a recording that are due, with their event times. Pure: time is an argument.

Event time never goes back: a row that is earlier than the one before it (or has no time) gets the time of that one.
Amplified, every row comes `copies` times. The first copy keeps its time; the others follow at random distances before
the next recorded row, so the order holds and bursts stay bursts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

from rheostat.runtime.ends.pace import CATCH_UP_SECONDS, Pace, PaceLimits, even_parts
from rheostat.runtime.ends.recordings import Place, RecordedFiles
from rheostat.runtime.ends.seeded_random import Draw


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """Position of a replay: its offset."""

    place: Place
    rows: int
    """Number of recorded rows done."""
    clock_us: int
    """Event time reached."""
    base_us: int
    """Event time of the first row."""
    started_ms: int
    """Wall-clock time of the first start, to which the base belongs."""

    def to_document(self) -> dict[str, Any]:
        """The position as a JSON document."""
        return {
            "file": self.place.file,
            "at": self.place.at,
            "rows": self.rows,
            "clock_us": self.clock_us,
            "base_us": self.base_us,
            "started_ms": self.started_ms,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """The position from a JSON document."""
        rest = {name: document[name] for name in ("rows", "clock_us", "base_us", "started_ms")}
        return cls(Place(document["file"], document["at"]), **rest)


@dataclass(frozen=True, slots=True)
class PlaybackStretch:
    """Consecutive rows of a recording."""

    spot: ReplayPosition
    rows: int


@dataclass(frozen=True, slots=True)
class Playback:
    """Recording played at a speed. `limits.total` and `limits.rows_per_batch` count recorded rows."""

    recording: RecordedFiles
    limits: PaceLimits
    speed_up: float = 1.0
    """Seconds of event time per second."""
    copies: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Rejects a speed of 0 and less than one copy."""
        if self.speed_up <= 0 or self.copies < 1:
            raise ValueError(f"need a speed above 0 and at least one copy, got {self.speed_up} and {self.copies}")

    def beginning(self, now_ms: int) -> ReplayPosition:
        """The position before the first row; event time starts at the first row with a time."""
        base = next((time for _, time in self.recording.times(Place()) if time is not None), 0)
        return ReplayPosition(Place(), 0, base, base, now_ms)

    def advance(self, spot: ReplayPosition, now_ms: int, max_rows: int | None = None) -> ReplayPosition:
        """The position at which a batch ends that starts at `spot`."""
        due_us = spot.base_us + round((now_ms - spot.started_ms) * 1000 * self.speed_up)
        ends = [
            end for end in (self.limits.total, None if max_rows is None else spot.rows + max_rows) if end is not None
        ]
        reached, soon_us = spot, 0
        for following in self._from(spot):
            if reached is spot:
                soon_us = following.clock_us + round(CATCH_UP_SECONDS * 1e6 * self.speed_up)
            if self.limits.pace is Pace.CLOCK and following.clock_us > min(due_us, soon_us):
                break
            if any(following.rows > end for end in ends):
                break
            reached = following
        return reached

    def stretches(self, start: ReplayPosition, end: ReplayPosition) -> list[PlaybackStretch]:
        """The rows between two positions, in as many parts as there are replicas."""
        parts = list(even_parts(start.rows, end.rows, self.limits.replicas))
        cuts = {low for low, _ in parts}
        spots = {start.rows: start}
        for spot in self._from(start):
            if spot.rows >= end.rows:
                break
            if spot.rows in cuts:
                spots[spot.rows] = spot
        return [PlaybackStretch(spots[low], high - low) for low, high in parts]

    def times(self, stretch: PlaybackStretch) -> list[int]:
        """Event times of the rows of a stretch, including copies, in order."""
        clocks = []
        for spot in self._from(stretch.spot):
            clocks.append(spot.clock_us)
            if len(clocks) > stretch.rows:
                break
        if len(clocks) == stretch.rows:
            clocks.append(clocks[-1])  # the end of the recording: nothing to spread copies up to
        pairs = enumerate(pairwise(clocks), stretch.spot.rows)
        return [time for row, (low, high) in pairs for time in _spread(self.seed, row, (low, high), self.copies)]

    def _from(self, spot: ReplayPosition) -> Iterator[ReplayPosition]:
        """The positions after every following row."""
        rows, clock = spot.rows, spot.clock_us
        for place, time in self.recording.times(spot.place):
            rows, clock = rows + 1, clock if time is None else max(clock, time)
            yield replace(spot, place=place, rows=rows, clock_us=clock)


def _spread(seed: int, row: int, between: tuple[int, int], copies: int) -> Sequence[int]:
    """Event times of the copies of a row: the first at the low end, the others at random in equal intervals."""
    low, high = between
    chance = Draw(seed, row)
    return [low, *(low + int((high - low) * (copy + chance.uniform()) / copies) for copy in range(1, copies))]
