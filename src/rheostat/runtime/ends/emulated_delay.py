"""Emulated service time: a stage that delays each row by a number of milliseconds.

It sleeps, so emulated operators do not compete for the cores of one machine; they compete for task slots, as the
replicas of the papers do.
"""

import time
from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

SHORTEST_SLEEP_SECONDS = 0.001
"""Less is put on the bill instead: a sleep is never shorter than the system's timer allows, whatever is asked for."""


class Bill:
    """Time that is owed for rows and not yet slept.

    Sleeping too long is credited to the rows that follow, so that the mean is exact however small the batches are.
    """

    __slots__ = ("owed_seconds",)

    def __init__(self) -> None:
        self.owed_seconds = 0.0

    def charge(self, rows: int, milliseconds: float) -> float:
        """Adds the service of some rows; returns how long to sleep now."""
        self.owed_seconds += rows * milliseconds / 1000
        return self.owed_seconds if self.owed_seconds >= SHORTEST_SLEEP_SECONDS else 0.0

    def paid(self, seconds: float) -> None:
        """Takes off what was really slept."""
        self.owed_seconds -= seconds


_BILL = Bill()
"""One per worker process: Spark uses its workers again, so that the rest of a batch is paid with the next."""


def with_service_time(frame: DataFrame, milliseconds: float) -> DataFrame:
    """The same rows, after `milliseconds` for each, in every partition by itself.

    0 changes nothing and costs nothing. A watermark stays: it is part of the schema.
    """
    if milliseconds < 0:
        raise ValueError(f"a service takes no negative time, got {milliseconds} ms")
    if milliseconds == 0:
        return frame
    return frame.mapInArrow(partial(_served, milliseconds), frame.schema)


def _served(milliseconds: float, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        wanted = _BILL.charge(batch.num_rows, milliseconds)
        if wanted:
            begin = time.perf_counter()
            time.sleep(wanted)
            _BILL.paid(time.perf_counter() - begin)
        yield batch
