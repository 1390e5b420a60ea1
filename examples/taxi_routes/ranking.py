"""Counting and ranking: the stateful operators, which wait for control totals and for nothing else (see `ticks`).

| stream | columns |
|---|---|
| countByWindow | key_group, minute, route, trips: every route of the window, when all its trips are counted |
| partialRank | minute, key_group, top: array of (route, trips). One row per minute and key group, be it empty |
| globalRank | minute (timestamp), ranking: array of (route, trips), when all key groups have reported |

Where many rows meet Python they go as arrays: a window leaves `CountByWindow` as one row and becomes a row per route in
Spark, and `partialRank` ranks every Arrow batch as a whole before the few rows that are left reach its state.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from examples.taxi_routes.definition import RANKS, WINDOW_MINUTES
from rheostat import operator, sources

_TOP = "array<struct<route: string, trips: bigint>>"
_COUNTED = "routes array<string>, trips array<bigint>"
_RANKED = f"key_group int, minute bigint, {_COUNTED}, counted bigint"
"""The first ten of what has arrived for a minute, and how many trips all of it has. Routes are null in a tick."""


@operator(key="key_group", max_replicas=3)
def count_by_window(routes: DataFrame, ticks: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """Trips of every route in the 30 minutes up to each tick."""
    rows = sources.with_service_time(routes, service_ms).select(
        "key_group", "minute", "route", F.lit(1).cast("bigint").alias("trips")
    )
    ticking = _awaited(ticks).select("key_group", "minute", F.lit(None).cast("string").alias("route"), "trips")
    grouped = rows.unionByName(ticking).groupBy("key_group")
    output = f"key_group int, minute bigint, {_COUNTED}"
    windows = grouped.transformWithState(CountByWindow(), output, "append", "none")
    return windows.select("key_group", "minute", F.inline(F.arrays_zip("routes", "trips")).alias("route", "trips"))


@operator(key="key_group", max_replicas=3)
def partial_rank(counts: DataFrame, ticks: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """The first ten of every key group and minute."""
    rows = sources.with_service_time(counts, service_ms).select("key_group", "minute", "route", "trips")
    nothing = ("CAST(NULL AS ARRAY<STRING>) AS routes", "CAST(NULL AS ARRAY<BIGINT>) AS trips")
    ticking = _awaited(ticks).selectExpr("key_group", "minute", *nothing, "trips AS counted")
    grouped = rows.mapInArrow(ranked, _RANKED).unionByName(ticking).groupBy("key_group")
    return grouped.transformWithState(PartialRank(), f"minute bigint, key_group int, top {_TOP}", "append", "none")


@operator(key="minute", max_replicas=1)
def global_rank(reports: DataFrame, *, groups: int, service_ms: float = 0.0) -> DataFrame:
    """The first ten of every minute."""
    grouped = sources.with_service_time(reports, service_ms).groupBy("minute")
    closed = grouped.transformWithState(GlobalRank(groups), f"minute bigint, ranking {_TOP}", "append", "none")
    return closed.select(F.timestamp_seconds(60 * F.col("minute")).alias("minute"), "ranking")


def _awaited(ticks: DataFrame) -> DataFrame:
    """What a tick says to one key group: the trips to wait for.

    The application may use fewer key groups than the runtime has; a tick then reaches groups that nothing is in.
    """
    awaited = F.get("trips", F.col("key_group")).cast("bigint").alias("trips")
    mine = ticks.where(F.col("key_group") < F.size("trips"))
    return mine.select("key_group", "minute", awaited)


def ranked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The first ten routes of every key group and minute in a batch, and the trips of all its routes."""
    for batch in batches:
        if batch.num_rows == 0:
            continue
        order = [("key_group", "ascending"), ("minute", "ascending"), ("trips", "descending"), ("route", "ascending")]
        rows = batch.sort_by(order)
        groups, minutes, trips = (rows.column(name).to_numpy() for name in ("key_group", "minute", "trips"))
        changes = np.flatnonzero((np.diff(groups) != 0) | (np.diff(minutes) != 0)) + 1
        begins, ends = np.append(0, changes), np.append(changes, len(rows))
        first = [rows.slice(begin, min(RANKS, end - begin)) for begin, end in zip(begins, ends, strict=True)]
        columns = {
            "key_group": pa.array(groups[begins], pa.int32()),
            "minute": pa.array(minutes[begins], pa.int64()),
            "routes": pa.array([part.column("route").to_pylist() for part in first], pa.list_(pa.string())),
            "trips": pa.array([part.column("trips").to_pylist() for part in first], pa.list_(pa.int64())),
            "counted": pa.array(np.add.reduceat(trips, begins), pa.int64()),
        }
        yield pa.RecordBatch.from_pydict(columns)


def first_ten(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Most trips first, then by route."""
    return sorted(counts, key=lambda count: (-count[1], count[0]))[:RANKS]


class CountByWindow(StatefulProcessor):
    """State per key group: trips by minute and route, and the ticks that wait for trips."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state."""
        self._minutes = handle.getMapState("minutes", "minute bigint", "routes array<string>, trips array<bigint>")
        self._ticks = handle.getValueState("ticks", "minutes array<bigint>, trips array<bigint>")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        """Adds what has arrived, then answers ticks, in order, until one whose trips are not all there."""
        fresh: dict[int, Counter[str]] = {}
        waiting = self._waiting()
        known = len(waiting)
        for minute, route, trips in ((row["minute"], row["route"], row["trips"]) for row in rows):
            if route is None:
                waiting[minute] = trips
            else:
                fresh.setdefault(minute, Counter())[route] += trips
        held = self._add(fresh, everything=bool(waiting))
        done = []
        for minute in sorted(waiting):
            window: Counter[str] = Counter()
            for past in range(minute - WINDOW_MINUTES + 1, minute + 1):
                window.update(held.get(past, {}))
            if window.total() != waiting[minute]:
                break
            done.append(minute)
            if window:
                yield Row(key_group=key[0], minute=minute, routes=list(window), trips=list(window.values()))
        if done or len(waiting) != known:
            self._forget(held, waiting, done)

    def _waiting(self) -> dict[int, int]:
        if not self._ticks.exists():
            return {}
        minutes, trips = self._ticks.get()
        return dict(zip(minutes, trips, strict=True))

    def _add(self, fresh: dict[int, Counter[str]], *, everything: bool) -> dict[int, Counter[str]]:
        """Stores what is new; returns what is held, of all minutes if asked for."""
        held: dict[int, Counter[str]] = {}
        if everything:
            held = {minute: _counter(value) for (minute,), value in self._minutes.iterator()}
        for minute, counts in fresh.items():
            if not everything and self._minutes.containsKey((minute,)):
                held[minute] = _counter(self._minutes.getValue((minute,)))
            held.setdefault(minute, Counter()).update(counts)
            self._minutes.updateValue((minute,), (list(held[minute]), list(held[minute].values())))
        return held

    def _forget(self, held: dict[int, Counter[str]], waiting: dict[int, int], done: list[int]) -> None:
        """Keeps the ticks that wait, and the minutes the next tick can ask for."""
        left = {minute: trips for minute, trips in waiting.items() if minute not in done}
        self._ticks.update((list(left), list(left.values())))
        for minute in held:
            if done and minute <= done[-1] + 1 - WINDOW_MINUTES:
                self._minutes.removeKey((minute,))

    def close(self) -> None:
        """Nothing to release."""


def _counter(value: Any) -> Counter[str]:
    routes, trips = value
    return Counter(dict(zip(routes, trips, strict=True)))


class PartialRank(StatefulProcessor):
    """State per key group and minute: trips seen, trips to wait for (-1: not yet known), and the first ten so far."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state."""
        value = "seen bigint, awaited bigint, routes array<string>, trips array<bigint>"
        self._minutes = handle.getMapState("minutes", "minute bigint", value)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        """Ranks what has arrived; reports minutes that are complete."""
        fresh: dict[int, list[tuple[str, int]]] = {}
        ticks: dict[int, int] = {}
        counted: Counter[int] = Counter()
        for row in rows:
            minute, routes = row["minute"], row["routes"]
            first = fresh.setdefault(minute, [])
            if routes is None:
                ticks[minute] = row["counted"]
            else:
                first += zip(routes, row["trips"], strict=True)
                counted[minute] += row["counted"]
        for minute, counts in sorted(fresh.items()):
            seen, awaited, top = self._held(minute)
            seen += counted[minute]
            awaited = ticks.get(minute, awaited)
            top = first_ten([*top, *counts])
            if seen == awaited:
                self._minutes.removeKey((minute,))
                best = [Row(route=route, trips=trips) for route, trips in top]
                yield Row(minute=minute, key_group=key[0], top=best)
            else:
                self._minutes.updateValue((minute,), (seen, awaited, [r for r, _ in top], [n for _, n in top]))

    def _held(self, minute: int) -> tuple[int, int, list[tuple[str, int]]]:
        if not self._minutes.containsKey((minute,)):
            return 0, -1, []
        seen, awaited, routes, trips = self._minutes.getValue((minute,))
        return seen, awaited, list(zip(routes, trips, strict=True))

    def close(self) -> None:
        """Nothing to release."""


class GlobalRank(StatefulProcessor):
    """State per minute: how many key groups have reported, and the first ten so far."""

    def __init__(self, groups: int) -> None:
        self._groups = groups

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state."""
        self._state = handle.getValueState("reports", "reports int, routes array<string>, trips array<bigint>")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        """Merges reports; closes the minute with the last one."""
        reports, routes, trips = self._state.get() if self._state.exists() else (0, [], [])
        counts = list(zip(routes, trips, strict=True))
        for row in rows:
            reports += 1
            counts += [(entry["route"], entry["trips"]) for entry in row["top"]]
        top = first_ten(counts)
        if reports < self._groups:
            self._state.update((reports, [route for route, _ in top], [trips for _, trips in top]))
        else:
            self._state.clear()
            yield Row(minute=key[0], ranking=[Row(route=route, trips=trips) for route, trips in top])

    def close(self) -> None:
        """Nothing to release."""
