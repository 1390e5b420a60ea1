"""The metronome: reports the end of each minute, and the number of trips to wait for.

A tick and the trips of its minute travel on different paths: which is there first depends on batches, nodes and luck.
So a tick brings *control totals*: how many trips of each key group ended in (t - 30 min, t]. An operator that has
counted so many has counted all, without any watermark; a key group without trips learns from a total of 0 that there is
nothing to wait for. The metronome knows the totals since it sees every line and applies the same stateless expressions.

| stream | columns |
|---|---|
| metronome | minute (number), trips: array of one total per key group. One row per minute, in order, without gaps |
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from examples.taxi_routes.definition import WINDOW_MINUTES
from examples.taxi_routes.routes import line_groups
from rheostat import operator, sources

TICKS = "minute bigint, trips array<int>"
_ARRIVED = "key_group int, minute bigint, trips array<int>"


@operator(key="key_group", max_replicas=1)
def metronome(lines: DataFrame, *, groups: int, service_ms: float = 0.0) -> DataFrame:
    """A tick for every minute that is over. The lines come in the order of their event time, batch by batch."""
    seen = line_groups(sources.with_service_time(lines, service_ms), groups)
    arrived = seen.mapInArrow(partial(_totals, groups), _ARRIVED)
    return arrived.groupBy("key_group").transformWithState(Metronome(), TICKS, "append", "none")


def _totals(groups: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Trips by minute and key group, added up before they reach the state: a few rows for thousands of lines."""
    totals: dict[int, Any] = {}
    for batch in batches:
        minutes = batch.column("minute").to_numpy(zero_copy_only=False)
        group = batch.column("key_group").fill_null(groups).to_numpy(zero_copy_only=False)
        for minute in np.unique(minutes):
            found = np.bincount(group[minutes == minute], minlength=groups + 1)[:groups]
            totals[int(minute)] = totals.get(int(minute), 0) + found
    arrays = [
        pa.array([0] * len(totals), pa.int32()),
        pa.array(list(totals), pa.int64()),
        pa.array([found.tolist() for found in totals.values()], pa.list_(pa.int32())),
    ]
    yield pa.RecordBatch.from_arrays(arrays, names=["key_group", "minute", "trips"])


class Metronome(StatefulProcessor):
    """State: the last tick, and the trips of the minutes that may still be in a window."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state."""
        self._state = handle.getValueState("minutes", "ticked bigint, minutes array<bigint>, trips array<array<int>>")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        """Adds what has arrived; ticks for every minute before the latest seen."""
        arrived: dict[int, Any] = {}
        ticked: int | None = None
        if self._state.exists():
            ticked, minutes, trips = self._state.get()
            arrived = dict(zip(minutes, map(np.array, trips), strict=True))
        fresh = [(row["minute"], np.array(row["trips"])) for row in rows]
        for minute, trips in fresh:
            if ticked is not None and minute <= ticked:
                raise ValueError(f"a line of minute {minute} came after the tick of minute {ticked}")
            arrived[minute] = arrived[minute] + trips if minute in arrived else trips
        latest = max(minute for minute, _ in fresh)
        ticked = min(minute for minute, _ in fresh) - 1 if ticked is None else ticked
        nothing = 0 * fresh[0][1]
        for minute in range(ticked + 1, latest):
            window = [arrived.get(past, nothing) for past in range(minute - WINDOW_MINUTES + 1, minute + 1)]
            yield Row(minute=minute, trips=sum(window, nothing).tolist())
        last = max(ticked, latest - 1)
        kept = {minute: trips for minute, trips in arrived.items() if minute > last + 1 - WINDOW_MINUTES}
        self._state.update((last, list(kept), [trips.tolist() for trips in kept.values()]))

    def close(self) -> None:
        """Nothing to release."""
