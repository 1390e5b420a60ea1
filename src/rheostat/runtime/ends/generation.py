"""Generated rows of a rate source up to a given moment. Pure: time is an argument."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import floor, isfinite
from typing import Any

from rheostat.model.graph.rate_curve import Curve, parse_curve
from rheostat.runtime.ends.pace import CATCH_UP_SECONDS, Pace, PaceLimits, limits_of
from rheostat.runtime.ends.seeded_random import Draw

Generator = Callable[[Draw], tuple[Any, ...]]
"""Pure function from a row's index (and event time) to the values of its columns."""

ORIGIN_US = 1_704_067_200_000_000
"""2024-01-01 00:00:00 UTC: default start of the event time of a generated stream."""


@dataclass(frozen=True, slots=True)
class EventTimeClock:
    """Relation between event time and the time of the curve."""

    origin_us: int = ORIGIN_US
    """Event time at the start, microseconds since 1970."""
    speed_up: float = 1.0
    """Seconds of event time per second of the curve."""
    step_us: int = 1_000
    """Unit of event times: Spark's watermark works in milliseconds."""
    closing_gap_seconds: float = 0.0
    """Delay of the last row of a source that ends, so that it moves watermarks past all windows."""

    def time_of(self, seconds: float, *, is_last: bool) -> int:
        """Event time in microseconds of a row that is due after this many seconds."""
        since = 1e6 * (self.speed_up * seconds + (self.closing_gap_seconds if is_last else 0.0))
        return self.origin_us + floor(since / self.step_us) * self.step_us


@dataclass(frozen=True, slots=True)
class Generation:
    """A stream of generated rows."""

    generator: Generator
    curve: Curve
    limits: PaceLimits
    seed: int = 0
    clockwork: EventTimeClock | None = None
    """None: rows have no event time."""

    def __post_init__(self) -> None:
        """Rejects a stream without a pace and without an end."""
        if self.limits.pace is Pace.ALL and not isfinite(self.end) and self.limits.rows_per_batch is None:
            raise ValueError("everything at once needs an end: give a total or rows_per_batch")

    @property
    def end(self) -> float:
        """Total number of rows."""
        total = self.curve.total
        bound = floor(total + 1e-9) if isfinite(total) else total
        return bound if self.limits.total is None else min(bound, self.limits.total)

    def available(self, elapsed_seconds: float, start: int) -> int:
        """Number of rows that are due; `start` of them are done."""
        if self.limits.pace is Pace.CLOCK:
            return int(min(self.end, self.curve.rows_after(elapsed_seconds)))
        return int(self.end) if isfinite(self.end) else start + (self.limits.rows_per_batch or 0)

    def reachable(self, elapsed_seconds: float, start: int) -> int:
        """Last row that a batch starting at `start` may include: due, and due soon after its first row."""
        there = self.available(elapsed_seconds, start)
        if self.limits.pace is not Pace.CLOCK or there <= start:
            return there
        soon = int(self.curve.rows_after(self.curve.seconds_until(start) + CATCH_UP_SECONDS))
        return min(there, max(start + 1, soon))

    def rows(self, start: int, end: int) -> Iterator[tuple[int | None, tuple[Any, ...]]]:
        """(event time, values) of the rows [start, end)."""
        last = self.end - 1
        for index in range(start, end):
            is_last = index == last
            time = None
            if self.clockwork is not None:
                time = self.clockwork.time_of(self.curve.seconds_until(index), is_last=is_last)
            yield time, self.generator(Draw(self.seed, index, time or 0, is_last=is_last))


def generation_of(options: dict[str, str]) -> Generation:
    """The generated stream for the options of a data source."""
    clockwork = EventTimeClock(
        int(options.get("origin_us", str(ORIGIN_US))),
        float(options.get("speed_up", "1")),
        round(1000 * float(options.get("step_ms", "1"))),
        float(options.get("closing_gap_seconds", "0")),
    )
    return Generation(
        import_object(options["rows"]),
        parse_curve(options["curve"]),
        limits_of(options),
        int(options.get("seed", "0")),
        clockwork if options.get("event_time") else None,
    )


def import_object(path: str) -> Any:
    """The object at an import path `package.module:name`."""
    module, _, name = path.partition(":")
    if not (module and name):
        raise ValueError(f"write package.module:function, got {path!r}")
    return getattr(import_module(module), name)
