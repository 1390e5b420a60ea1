"""One small application per kind of stateful operator, with an independent answer: what its output must be, exactly.

All have the same shape: a source in event-time order, a stateless operator that is spread over nodes (so that the
stateful one has several producers, at different event times), the stateful operator, and the exact results sink.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from rheostat import App, operator, sources
from rheostat.model.graph.application import Application
from rheostat.runtime.ends.generation import generation_of

KEYS = 23
DELAY_SECONDS = 1.0
GAP_SECONDS = 3600.0
"""The last row comes that much later: it closes all windows but its own."""

Input = tuple[int, str, int]
"""Event time in microseconds, key, number."""
Output = Counter[tuple[Any, ...]]


def row(draw: sources.Draw) -> tuple[str, int]:
    """Keys come in no order that a hash would know; numbers say which row it is."""
    return f"k{draw.index * 7919 % KEYS}", draw.index


def half_row(draw: sources.Draw) -> tuple[str, int]:
    """The other side of a join: as many keys, other numbers."""
    return f"k{draw.index * 104729 % KEYS}", 10_000_000 + draw.index


def source(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Rows at a rate, in event-time order, a second of event time per second."""
    return sources.rate(
        spark, schema="k string, n bigint", event_time="ts", closing_gap_seconds=GAP_SECONDS, **parameters
    )


@operator(max_replicas=4)
def spread(rows: DataFrame) -> DataFrame:
    """Stateless, and in Python: what a parser is."""
    return rows.mapInPandas(lambda frames: frames, rows.schema)


@operator(key="k", output="update", max_replicas=4)
def counted(rows: DataFrame) -> DataFrame:
    """Count and sum per key."""
    return rows.groupBy("k").agg(F.count("*").alias("c"), F.sum("n").alias("s"))


@operator(key="k", max_replicas=4, watermark_seconds=DELAY_SECONDS)
def windowed(rows: DataFrame) -> DataFrame:
    """Count and sum per key and two seconds of event time."""
    found = rows.groupBy(F.window("ts", "2 seconds"), "k").agg(F.count("*").alias("c"), F.sum("n").alias("s"))
    return found.select("k", F.unix_micros("window.start").alias("start"), "c", "s")


@operator(key="k", max_replicas=4, watermark_seconds=DELAY_SECONDS)
def sessions(rows: DataFrame) -> DataFrame:
    """Count per key and session."""
    found = rows.groupBy(F.session_window("ts", "500 milliseconds"), "k").agg(F.count("*").alias("c"))
    return found.select("k", F.unix_micros("session_window.start").alias("start"), "c")


@operator(key="k", max_replicas=4)
def first_seen(rows: DataFrame) -> DataFrame:
    """One row for every key and hundred of numbers."""
    return rows.select("k", F.floor(F.col("n") / 100).alias("h")).dropDuplicates(["k", "h"])


@operator(key="k", max_replicas=4, watermark_seconds=DELAY_SECONDS)
def joined(left: DataFrame, right: DataFrame) -> DataFrame:
    """Pairs of one key within a second."""
    a = left.select("k", F.col("n").alias("a"), F.col("ts").alias("at"))
    b = right.select(F.col("k").alias("k2"), F.col("n").alias("b"), F.col("ts").alias("bt"))
    near = F.expr("k = k2 AND bt >= at - INTERVAL 200 MILLISECONDS AND bt <= at + INTERVAL 200 MILLISECONDS")
    return a.join(b, near).select("k", "a", "b")


@operator(key="k", max_replicas=4)
def numbered(rows: DataFrame) -> DataFrame:
    """Every row with how many of its key came before it, and whether it came in order: pandas state."""

    def count(key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        seen, last = state.get if state.exists else (0, -1)
        for frame in frames:
            numbers = frame["n"].tolist()
            before = [last, *numbers[:-1]]
            yield pd.DataFrame(
                {
                    "k": key[0],
                    "n": numbers,
                    "nth": range(seen, seen + len(numbers)),
                    "in_order": [a < b for a, b in zip(before, numbers, strict=True)],
                }
            )
            seen, last = seen + len(numbers), numbers[-1] if numbers else last
        state.update((seen, last))

    return rows.groupBy("k").applyInPandasWithState(
        count,
        "k string, n long, nth long, in_order boolean",
        "seen long, last long",
        "append",
        GroupStateTimeout.NoTimeout,
    )


class Totals(StatefulProcessor):
    """Running total per key, and the greatest number of every ten: value and map state."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state."""
        self._total = handle.getValueState("total", "total bigint")
        self._last = handle.getMapState("last", "digit int", "n bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        """Tells the total after every row, with the last number of the same digit."""
        total = self._total.get()[0] if self._total.exists() else 0
        for one in sorted(rows, key=lambda r: r["n"]):
            total += one["n"]
            digit = (int(one["n"] % 10),)
            before = self._last.getValue(digit)[0] if self._last.containsKey(digit) else -1
            self._last.updateValue(digit, (one["n"],))
            yield Row(k=key[0], n=one["n"], total=total, before=before)
        self._total.update((total,))

    def close(self) -> None:
        """Nothing to release."""


@operator(key="k", max_replicas=4)
def totalled(rows: DataFrame) -> DataFrame:
    """Arbitrary state by the Row API."""
    output = "k string, n bigint, total bigint, before bigint"
    return rows.groupBy("k").transformWithState(Totals(), output, "append", "none")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of stateful operator under test."""

    name: str
    function: Callable[..., DataFrame]
    answer: Callable[[Sequence[Input], Sequence[Input]], Output]
    update: bool = False
    """Compared by the last row per key."""
    sources: int = 1
    by_key: bool = False
    """Rows are spread by their key: one producer per key at any time, so a key keeps the order of its rows."""


def _counted(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    counts, sums = Counter(k for _, k, _ in rows), Counter[str]()
    for _, k, n in rows:
        sums[k] += n
    return Counter((k, c, sums[k]) for k, c in counts.items())


def _windowed(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    found: dict[tuple[str, int], list[int]] = {}
    for ts, k, n in rows[:-1]:
        found.setdefault((k, ts // 2_000_000 * 2_000_000), []).append(n)
    return Counter((k, start, len(ns), sum(ns)) for (k, start), ns in found.items())


def _sessions(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    found: Output = Counter()
    for k, mine in groupby(sorted((k, ts) for ts, k, _ in rows[:-1]), key=lambda pair: pair[0]):
        times = [ts for _, ts in mine]
        cuts = [i + 1 for i, (a, b) in enumerate(pairwise(times)) if b - a >= 500_000]
        for first, last in pairwise([0, *cuts, len(times)]):
            found[k, times[first], last - first] += 1
    return found


def _first_seen(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    return Counter({(k, n // 100) for _, k, n in rows})


def _joined(left: Sequence[Input], right: Sequence[Input]) -> Output:
    by_key: dict[str, list[tuple[int, int]]] = {}
    for ts, k, n in right:
        by_key.setdefault(k, []).append((ts, n))
    return Counter((k, n, m) for ts, k, n in left for at, m in by_key.get(k, []) if abs(at - ts) <= 200_000)


def _numbered(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    # In which order rows of several producers mix is not fixed; that every place is taken once is.
    seen: Counter[str] = Counter(k for _, k, _ in rows)
    return Counter((k, nth) for k, c in seen.items() for nth in range(c)) + Counter((k, "n", n) for _, k, n in rows)


def _ordered(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    seen: Counter[str] = Counter()
    wanted: Output = Counter()
    for _, k, n in rows:
        wanted[k, n, seen[k], True] += 1
        seen[k] += 1
    return wanted


def _totalled(rows: Sequence[Input], _: Sequence[Input]) -> Output:
    return Counter((k, n) for _, k, n in rows) + Counter({(k, "total", t): 1 for k, t in _sums(rows).items()})


def _sums(rows: Sequence[Input]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for _, k, n in rows:
        sums[k] = sums.get(k, 0) + n
    return sums


KINDS = {
    kind.name: kind
    for kind in (
        Kind("count", counted, _counted, update=True),
        Kind("window", windowed, _windowed),
        Kind("session", sessions, _sessions),
        Kind("duplicates", first_seen, _first_seen),
        Kind("join", joined, _joined, sources=2),
        Kind("pandas-state", numbered, _numbered),
        Kind("row-state", totalled, _totalled),
        Kind("order", numbered, _ordered, by_key=True),
    )
}


def observed(kind: Kind, rows: Sequence[dict[str, Any]]) -> Output:
    """The output in the form of the answer."""
    if kind.update:
        return Counter({next(iter(row.values())): tuple(row.values()) for row in rows}.values())
    if kind.name == "pandas-state":
        return Counter((row["k"], row["nth"]) for row in rows) + Counter((row["k"], "n", row["n"]) for row in rows)
    if kind.name == "row-state":
        last: dict[str, int] = {}
        for row in rows:
            last[row["k"]] = max(last.get(row["k"], 0), row["total"])
        totals = Counter({(k, "total", total): 1 for k, total in last.items()})
        return Counter((row["k"], row["n"]) for row in rows) + totals
    return Counter(tuple(row.values()) for row in rows)


def application(kind: Kind, *, rate_tps: float, total: int, seed: int = 0) -> Application:
    """The application of a kind; its source ends after `total` rows."""
    app = App(f"kind-{kind.name}")
    sides = [("source", "row"), ("other", "half_row")][: kind.sources]
    for name, generator in sides:
        parameters = _parameters(generator, rate_tps, total, seed)
        app.source(name, source, event_time="ts", rate_tps=rate_tps, parameters=parameters)
        by_key = {"grouping": "key", "key": ("k",)} if kind.by_key else {}
        app.operator(spread, name=f"spread-{name}", reads=name, **by_key)
    app.operator(kind.function, name="op", reads=[f"spread-{name}" for name, _ in sides])
    app.sink("out", reads="op", max_replicas=4)
    return app.build()


def inputs(kind: Kind, *, rate_tps: float, total: int, seed: int = 0) -> tuple[list[Input], list[Input]]:
    """The rows the sources bring, computed without Spark."""
    found = []
    for generator in ("row", "half_row")[: kind.sources]:
        options = _parameters(generator, rate_tps, total, seed)
        options |= {"event_time": "ts", "closing_gap_seconds": GAP_SECONDS, "schema_ddl": "k string, n bigint"}
        generation = generation_of({name: str(value) for name, value in options.items()})
        found.append([(time or 0, *values) for time, values in generation.rows(0, total)])
    return found[0], found[1] if len(found) > 1 else []


def _parameters(generator: str, rate_tps: float, total: int, seed: int) -> dict[str, str | float]:
    return {"rows": f"experiments.kinds:{generator}", "curve": str(rate_tps), "total": total, "seed": seed}


def readable(time_us: int) -> str:
    """An event time for people."""
    return datetime.fromtimestamp(time_us / 1e6, UTC).isoformat()
