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
"""Shortest sleep; less is added to the debt instead, since the system's timer cannot sleep any shorter."""


class SleepDebt:
    """Service time that is owed for rows and was not slept yet.

    Sleeping too long is credited to the following rows, so that the mean is exact however small the batches are.
    """

    __slots__ = ("owed_seconds",)

    def __init__(self) -> None:
        self.owed_seconds = 0.0

    def charge(self, rows: int, milliseconds: float) -> float:
        """Adds the service time of some rows; returns how many seconds to sleep now."""
        self.owed_seconds += rows * milliseconds / 1000
        return self.owed_seconds if self.owed_seconds >= SHORTEST_SLEEP_SECONDS else 0.0

    def pay(self, seconds: float) -> None:
        """Subtracts the time that was really slept."""
        self.owed_seconds -= seconds


_BILL = SleepDebt()
"""One per worker process: Spark reuses its workers, so the rest of a batch is slept with the next."""


def with_service_time(frame: DataFrame, milliseconds: float) -> DataFrame:
    """The same rows, delayed by `milliseconds` each, separately in every partition.

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
            _BILL.pay(time.perf_counter() - begin)
        yield batch
