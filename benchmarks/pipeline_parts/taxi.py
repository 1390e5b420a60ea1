"""Taxi routes: queries joined by Spark's file sink and source against Rheostat on one node."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from benchmarks.pipeline_parts.plain_files import MENDED, files_of
from examples.taxi_routes.answer import answer
from examples.taxi_routes.app import SPEED_UP, application
from examples.taxi_routes.definition import EVENT_TIME_STEP_MS
from examples.taxi_routes.handwritten import Chain
from experiments.folders import passing_folder
from pyspark.sql import SparkSession

from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.records.manifest import ManifestKind
from rheostat.runtime.ends.generation import ORIGIN_US, generation_of
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

GROUPS = 4
TRIGGER_MS = 200
STEADY_TPS, STEADY_SECONDS = 40, 40
SATURATED = {"pace": "all", "total": 20_000, "rows_per_batch": 2000, "curve": str(STEADY_TPS)}
STEADY = {"total": STEADY_TPS * STEADY_SECONDS, "curve": str(STEADY_TPS)}
WARM_UPS = 2
"""So many whole runs of each are not measured: while Java compiles, who is first is slower by a half."""
PATIENCE_SECONDS = 400.0

Source = dict[str, str | float | bool]
Published = dict[int, float]
"""Minute of event time to the moment its ranking was there, in milliseconds."""

Run = Callable[[SparkSession, Path, Source], tuple[Published, float]]


def measure(spark: SparkSession, repeat: float) -> tuple[str, bool]:
    """The table, and whether Rheostat is ahead in both."""
    ways: dict[str, Run] = {"by hand": by_hand, MENDED: by_hand, "Rheostat": under_rheostat}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    responses: dict[str, list[float]] = {name: [] for name in ways}
    for name, run in WARM_UPS * list(ways.items()):
        with passing_folder("bench") as folder, files_of(name, spark):
            run(spark, folder / "warm", dict(SATURATED))
    for number in range(int(repeat)):
        # In turns, and every other time the other way round: Java's compiled code gets better all the time.
        for name, run in sorted(ways.items(), reverse=bool(number % 2)):
            with passing_folder("bench") as folder, files_of(name, spark):
                published, started_ms = run(spark, folder / "full", dict(SATURATED))
                seconds[name].append((max(published.values()) - started_ms) / 1000)
                published, started_ms = run(spark, folder / "steady", dict(STEADY))
                responses[name].append(_median_response_ms(published, started_ms))
            told = f"{seconds[name][-1]:.1f} s, response {responses[name][-1]:.0f} ms"
            print(f"taxi, {name}, {number + 1} of {repeat:g}: {told}", file=sys.stderr, flush=True)
    lines = [f"| taxi routes | seconds for {SATURATED['total']} trips | median response ms |", "|---|---|---|"]
    for name in ways:
        lines.append(f"| {name} | {statistics.median(seconds[name]):.1f} | {statistics.median(responses[name]):.0f} |")
    faster = statistics.median(seconds["Rheostat"]) < statistics.median(seconds["by hand"])
    sooner = statistics.median(responses["Rheostat"]) < statistics.median(responses["by hand"])
    return "\n".join(lines), faster and sooner


def by_hand(spark: SparkSession, folder: Path, source: Source) -> tuple[Published, float]:
    """Five queries with files between them."""
    wanted = _minutes(source)
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    chain = Chain(session, folder, groups=GROUPS, trigger=f"{TRIGGER_MS} milliseconds")
    queries = chain.start(**source)
    found: Published = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < wanted:
        time.sleep(0.5)
        for query in queries:
            if (failure := query.exception()) is not None:
                raise failure
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(found)} of {wanted} rankings")
        found = _committed(folder / "globalRank")
    for query in queries:
        query.stop()
    return found, _started_ms(folder / "checkpoints" / "dataSource" / "offsets")


def _committed(folder: Path) -> Published:
    """What the file sink has committed, read without Spark: asking must not slow down who is asked."""
    found: Published = {}
    for log in (folder / "_spark_metadata").glob("[0-9]*"):
        for line in log.read_text().splitlines()[1:]:
            path = Path(json.loads(line)["path"].removeprefix("file://"))
            for minute in pq.read_table(path, columns=["minute"]).column("minute").to_pylist():
                found[int(minute.timestamp()) // 60] = 1000 * path.stat().st_mtime
    return found


def under_rheostat(spark: SparkSession, folder: Path, source: Source) -> tuple[Published, float]:
    """All operators on one node."""
    wanted = _minutes(source)
    app = application(groups=GROUPS, **source)  # type: ignore[arg-type]
    one = Infrastructure("one", (Node("n1", 64),))
    settings = RuntimeSettings(trigger_ms=TRIGGER_MS, key_groups=GROUPS)
    with embedded(app, one, folder, spark, settings) as runtime:
        runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in app.operators}))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(runtime.results("rankings")) < wanted:
            time.sleep(0.5)
            runtime.heal()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(runtime.results('rankings'))} of {wanted} rankings")
        found: Published = {}
        rows = iter(runtime.results("rankings").column("minute").to_pylist())
        log = runtime.blueprint.results("rankings").log()
        for producer in log.producers():
            for slot in log.slots(producer, 1):
                manifest = log.entry(producer, 1, slot)
                if manifest is not None and manifest.kind is ManifestKind.BATCH:
                    for _ in range(manifest.rows):
                        found[int(next(rows).timestamp()) // 60] = float(manifest.published_ms)
        checkpoint = runtime.blueprint.checkpoint(runtime.plan.with_operator("dataSource")[0])
        return found, _started_ms(checkpoint / "offsets")


def _minutes(source: Source) -> int:
    """How many rankings there must be."""
    described = {"event_time": "ts", "speed_up": SPEED_UP, "step_ms": EVENT_TIME_STEP_MS, **source}
    described["rows"] = "examples.taxi_routes.trips:trip"
    generation = generation_of({name: str(value) for name, value in described.items()})
    return len(answer((at or 0, values[0]) for at, values in generation.rows(0, int(generation.end))))


def _started_ms(offsets: Path) -> float:
    """When the source began, by the wall clock: it is in every one of its offsets."""
    last = max((path for path in offsets.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    return float(json.loads(last.read_text().splitlines()[-1])["started_ms"])


def _median_response_ms(published: Published, started_ms: float) -> float:
    """From the moment a minute of event time was over, at the source, to its ranking."""
    ages = []
    for minute, at_ms in published.items():
        over_us = 60_000_000 * (minute + 1) - ORIGIN_US
        ages.append(at_ms - (started_ms + over_us / 1000 / SPEED_UP))
    return statistics.median(ages)
