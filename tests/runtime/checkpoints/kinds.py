"""Every kind of stateful operator: the streaming query, and independently in Python what its output must be."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, functions
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from tests.runtime.checkpoints.rounds import DELAY_SECONDS, END, EPOCH, ROUND_SECONDS, Row, at, round_of

Output = list[tuple[Any, ...]]
Query = Callable[[list[DataFrame]], DataFrame]
DELAY = f"{DELAY_SECONDS} seconds"


@dataclass(frozen=True, slots=True)
class Kind:
    """A stateful operator under test."""

    name: str
    query: Query
    expected: Callable[[Sequence[Row]], Output]
    mode: str = "append"
    sources: int = 1


def seconds(column: str) -> Any:
    return (functions.unix_timestamp(column) - int(EPOCH.timestamp())).cast("bigint")


def _timed(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", DELAY)


def count_query(frames: list[DataFrame]) -> DataFrame:
    return frames[0].groupBy("k").agg(functions.count("*").alias("n"), functions.sum("v").alias("s"))


def count_expected(rows: Sequence[Row]) -> Output:
    counts, sums = Counter(r.key for r in rows), Counter[str]()
    for r in rows:
        sums[r.key] += r.value
    return [(key, n, sums[key]) for key, n in counts.items()]


def window_query(frames: list[DataFrame]) -> DataFrame:
    counted = (
        _timed(frames[0])
        .groupBy(functions.window("ts", "30 seconds"), "k")
        .agg(functions.count("*"), functions.sum("v"))
    )
    return counted.select("k", seconds("window.start"), "count(1)", "sum(v)")


def window_expected(rows: Sequence[Row]) -> Output:
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for r in rows:
        groups[r.key, r.second // 30 * 30].append(r.value)
    return [(key, start, len(values), sum(values)) for (key, start), values in groups.items()]


def session_query(frames: list[DataFrame]) -> DataFrame:
    counted = _timed(frames[0]).groupBy(functions.session_window("ts", "12 seconds"), "k").count()
    return counted.select("k", seconds("session_window.start"), seconds("session_window.end"), "count")


def session_expected(rows: Sequence[Row]) -> Output:
    output: Output = []
    for key, mine in groupby(sorted(rows, key=lambda r: (r.key, r.second)), key=lambda r: r.key):
        times = [r.second for r in mine]
        cuts = [i + 1 for i, (a, b) in enumerate(pairwise(times)) if b - a > 12]
        for first, last in pairwise([0, *cuts, len(times)]):
            part = times[first:last]
            output.append((key, part[0], part[-1] + 12, len(part)))
    return output


def distinct_query(frames: list[DataFrame]) -> DataFrame:
    return frames[0].dropDuplicates(["v", "k"]).select("k", "v")


def distinct_expected(rows: Sequence[Row]) -> Output:
    return list({(r.key, r.value) for r in rows})


def recent_query(frames: list[DataFrame]) -> DataFrame:
    marked = frames[0].withWatermark("ts", "29 seconds")
    return marked.dropDuplicatesWithinWatermark(["k", "v"]).select("k", "v")


def recent_expected(rows: Sequence[Row]) -> Output:
    """A pair is remembered in the round of its first row and the next one, whatever comes in between."""
    output: Output = []
    for pair, mine in groupby(sorted(rows, key=lambda r: (r.key, r.value, r.second)), key=lambda r: (r.key, r.value)):
        first = -2
        for number in map(round_of, mine):
            if number - first > 1:
                output.append(pair)
                first = number
    return output


def _join(frames: list[DataFrame], how: str) -> DataFrame:
    left = _timed(frames[0]).select("k", "v", "ts")
    right = _timed(frames[1]).select(
        functions.col("k").alias("rk"), functions.col("v").alias("w"), functions.col("ts").alias("rts")
    )
    near = functions.expr("k = rk AND rts >= ts AND rts <= ts + interval 10 seconds")
    return left.join(right, near, how).select("k", "v", seconds("ts"), "w", seconds("rts"))


def join_query(frames: list[DataFrame]) -> DataFrame:
    return _join(frames, "inner")


def outer_join_query(frames: list[DataFrame]) -> DataFrame:
    return _join(frames, "left_outer")


def sides(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Which rows go to which source of a join; the closing row goes to both."""
    left = [r for r in rows if r.value % 2 == 0 or r.key == END]
    return left, [r for r in rows if r.value % 2 or r.key == END]


def join_expected(rows: Sequence[Row]) -> Output:
    left, right = sides(rows)
    near: dict[str, list[Row]] = defaultdict(list)
    for r in right:
        near[r.key].append(r)
    return [
        (a.key, a.value, a.second, b.value, b.second)
        for a in left
        for b in near[a.key]
        if a.second <= b.second <= a.second + 10
    ]


def outer_join_expected(rows: Sequence[Row]) -> Output:
    inner = join_expected(rows)
    met = {(key, value, second) for key, value, second, *_ in inner}
    return inner + [(*key, None, None) for a in sides(rows)[0] if (key := (a.key, a.value, a.second)) not in met]


def _deadline(second: int) -> int:
    """Half a minute after the end of the round: not reached while the next round is read, surely reached after it."""
    return (second // ROUND_SECONDS + 1) * ROUND_SECONDS + 30


def visits_expected(rows: Sequence[Row]) -> Output:
    """Per key: its rows, counted and summed from when it woke up until it was silent for a round."""
    output: Output = []
    for key, mine in groupby(sorted(rows, key=lambda r: (r.key, r.second)), key=lambda r: r.key):
        visit: list[Row] = []
        for r in mine:
            if visit and round_of(r) - round_of(visit[-1]) > 1:
                output.append((key, len(visit), sum(v.value for v in visit)))
                visit = []
            visit.append(r)
        output.append((key, len(visit), sum(v.value for v in visit)))
    return output


def _second(time: Any) -> int:
    stamp = time.timestamp() if time.tzinfo else time.replace(tzinfo=EPOCH.tzinfo).timestamp()
    return int(stamp - EPOCH.timestamp())


def _millis(second: int) -> int:
    return int(at(second).timestamp() * 1000)


def map_groups_query(frames: list[DataFrame]) -> DataFrame:
    def visit(key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        if state.hasTimedOut:
            n, s, _ = state.get
            state.remove()
            yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s]})
            return
        n, s, last = state.get if state.exists else (0, 0, 0)
        for frame in frames:
            n, s = n + len(frame), s + int(frame["v"].sum())
            last = max(last, *(_second(t) for t in frame["ts"]))
        state.update((n, s, last))
        state.setTimeoutTimestamp(_millis(_deadline(last)))

    return (
        _timed(frames[0])
        .groupBy("k")
        .applyInPandasWithState(
            visit,
            "k string, n bigint, s bigint",
            "n bigint, s bigint, last bigint",
            "append",
            GroupStateTimeout.EventTimeTimeout,
        )
    )


class Visits(StatefulProcessor):
    """A value (the last second), a list (all values), a map (rows per second) and an event-time timer, per key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.last = handle.getValueState("last", "last bigint")
        self.values = handle.getListState("all", "v bigint")
        self.counts = handle.getMapState("counts", "second bigint", "n bigint")

    def take(self, pairs: list[tuple[int, int]]) -> None:
        last = self.last.get()[0] if self.last.exists() else -1
        if last >= 0:
            self.handle.deleteTimer(_millis(_deadline(last)))
        for second, value in pairs:
            self.values.appendValue((value,))
            before = self.counts.getValue((second,))[0] if self.counts.containsKey((second,)) else 0
            self.counts.updateValue((second,), (before + 1,))
        last = max(last, *(second for second, _ in pairs))
        self.last.update((last,))
        self.handle.registerTimer(_millis(_deadline(last)))

    def result(self) -> tuple[int, int]:
        n = sum(row[0] for row in self.counts.values())
        s = sum(row[0] for row in self.values.get())
        self.last.clear()
        self.values.clear()
        self.counts.clear()
        return n, s

    def close(self) -> None:
        pass


class RowVisits(Visits):
    def handleInputRows(self, key: Any, rows: Iterator[SparkRow], timerValues: Any) -> Iterator[SparkRow]:  # noqa: N802, N803, ARG002
        self.take([(_second(row["ts"]), row["v"]) for row in rows])
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[SparkRow]:  # noqa: N802, N803, ARG002
        n, s = self.result()
        yield SparkRow(k=key[0], n=n, s=s)


class PandasVisits(Visits):
    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803, ARG002
        self.take([(_second(t), int(v)) for frame in rows for t, v in zip(frame["ts"], frame["v"], strict=True)])
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803, ARG002
        n, s = self.result()
        yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s]})


def transform_query(frames: list[DataFrame]) -> DataFrame:
    grouped = _timed(frames[0]).groupBy("k")
    return grouped.transformWithState(RowVisits(), "k string, n bigint, s bigint", "append", "eventtime")


def transform_pandas_query(frames: list[DataFrame]) -> DataFrame:
    grouped = _timed(frames[0]).groupBy("k")
    return grouped.transformWithStateInPandas(PandasVisits(), "k string, n bigint, s bigint", "append", "eventtime")


CLOCK_SECONDS = 15
"""How long the clock-time operator remembers a key."""


class Clock(StatefulProcessor):
    """Counts a key's visits in state that expires by the clock, and sets a clock-time timer at every visit."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.visits = handle.getValueState("visits", "n bigint", ttlDurationMs=CLOCK_SECONDS * 1000)
        self.timers = handle.getValueState("timers", "n bigint")

    def handleInputRows(self, key: Any, rows: Iterator[SparkRow], timerValues: Any) -> Iterator[SparkRow]:  # noqa: N802, N803
        n = (self.visits.get()[0] if self.visits.exists() else 0) + len(list(rows))
        self.visits.update((n,))
        self.timers.update((n,))
        self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + CLOCK_SECONDS * 1000)
        yield SparkRow(k=key[0], what="seen", n=n)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[SparkRow]:  # noqa: N802, N803, ARG002
        yield SparkRow(k=key[0], what="timer", n=self.timers.get()[0])

    def close(self) -> None:
        pass


def clock_query(frames: list[DataFrame]) -> DataFrame:
    grouped = frames[0].groupBy("k")
    return grouped.transformWithState(Clock(), "k string, what string, n bigint", "update", "processingtime")


KINDS = [
    Kind("keyed aggregation", count_query, count_expected, mode="update"),
    Kind("windowed aggregation", window_query, window_expected),
    Kind("session window", session_query, session_expected),
    Kind("dropDuplicates", distinct_query, distinct_expected),
    Kind("dropDuplicatesWithinWatermark", recent_query, recent_expected),
    Kind("inner join", join_query, join_expected, sources=2),
    Kind("left outer join", outer_join_query, outer_join_expected, sources=2),
    Kind("applyInPandasWithState", map_groups_query, visits_expected),
    Kind("transformWithState", transform_query, visits_expected),
    Kind("transformWithStateInPandas", transform_pandas_query, visits_expected),
]
