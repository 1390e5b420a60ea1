"""Pace of a source: the last row it may deliver at a given moment. Pure: time is an argument."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

CATCH_UP_SECONDS = 2.0
"""The rows of this many seconds are the most a batch delivers: after an outage a minute's worth of rows would be one
batch for all operators downstream, since rows that are written at once are read at once."""


class Pace(StrEnum):
    """What decides that a row is there."""

    CLOCK = "clock"
    """The wall clock since the first start of the query."""
    ALL = "all"
    """Everything is there at once: for tests, and for throughput at saturation."""


@dataclass(frozen=True, slots=True)
class PaceLimits:
    """What every source of this package can be told."""

    pace: Pace = Pace.CLOCK
    rows_per_batch: int | None = None
    """At most so many rows in a batch; None: all that are there."""
    replicas: int = 1
    """Input partitions of a batch; rows are in order within each, and from one to the next."""
    total: int | None = None
    """The source ends after so many rows; None: it does not end."""

    def __post_init__(self) -> None:
        """Refuses limits that let nothing through."""
        if self.replicas < 1:
            raise ValueError(f"a batch has at least one partition, got {self.replicas}")
        if self.rows_per_batch is not None and self.rows_per_batch < 1:
            raise ValueError(f"a batch holds at least one row, got {self.rows_per_batch}")
        if self.total is not None and self.total < 0:
            raise ValueError(f"the total is not negative, got {self.total}")


def limits_of(options: dict[str, str]) -> PaceLimits:
    """Limits from the options of a data source; 0 and absent mean no limit."""
    return PaceLimits(
        Pace(options.get("pace", Pace.CLOCK)),
        int(options.get("rows_per_batch", "0")) or None,
        int(options.get("replicas", "1")),
        int(options.get("total", "0")) or None,
    )


def next_row(start: int, available: int, max_rows: int | None) -> int:
    """Where a batch ends that begins at `start`: never before it, whatever the clock says."""
    end = available if max_rows is None else min(available, start + max_rows)
    return max(start, end)


def even_parts(start: int, end: int, parts: int) -> Iterator[tuple[int, int]]:
    """[start, end) in at most so many neighbouring, non-empty ranges whose lengths differ by one at most."""
    rows = end - start
    cuts = [start + rows * part // parts for part in range(parts + 1)]
    return ((low, high) for low, high in pairwise(cuts) if low < high)
