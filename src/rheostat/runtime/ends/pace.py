"""Pace of a source: the last row it may deliver at a given moment. Pure: time is an argument."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

CATCH_UP_SECONDS = 2.0
"""The rows of this many seconds are the most a batch delivers: after an outage a minute's worth of rows would be one
batch for all operators downstream, since rows that are written at once are read at once."""


class Pace(StrEnum):
    """Rules for when a row is due."""

    CLOCK = "clock"
    """Due by the wall clock since the first start of the query."""
    ALL = "all"
    """All rows are due at once: for tests, and for throughput at saturation."""


@dataclass(frozen=True, slots=True)
class PaceLimits:
    """Settings common to all sources of this package."""

    pace: Pace = Pace.CLOCK
    rows_per_batch: int | None = None
    """Greatest number of rows in a batch; None: no limit."""
    replicas: int = 1
    """Number of input partitions of a batch; rows are ordered within each, and from one to the next."""
    total: int | None = None
    """Number of rows after which the source ends; None: it does not end."""

    def __post_init__(self) -> None:
        """Rejects limits that permit no rows."""
        if self.replicas < 1:
            raise ValueError(f"a batch has at least one partition, got {self.replicas}")
        if self.rows_per_batch is not None and self.rows_per_batch < 1:
            raise ValueError(f"a batch holds at least one row, got {self.rows_per_batch}")
        if self.total is not None and self.total < 0:
            raise ValueError(f"the total is not negative, got {self.total}")


def limits_of(options: dict[str, str]) -> PaceLimits:
    """Limits from the options of a data source; 0 or a missing option mean no limit."""
    return PaceLimits(
        Pace(options.get("pace", Pace.CLOCK)),
        int(options.get("rows_per_batch", "0")) or None,
        int(options.get("replicas", "1")),
        int(options.get("total", "0")) or None,
    )


def batch_end(start: int, available: int, max_rows: int | None) -> int:
    """Row at which a batch ends that starts at `start`: never before it, even if the clock goes back."""
    end = available if max_rows is None else min(available, start + max_rows)
    return max(start, end)


def even_parts(start: int, end: int, parts: int) -> Iterator[tuple[int, int]]:
    """[start, end) in at most `parts` neighbouring, non-empty ranges whose lengths differ by at most one."""
    rows = end - start
    cuts = [start + rows * part // parts for part in range(parts + 1)]
    return ((low, high) for low, high in pairwise(cuts) if low < high)
