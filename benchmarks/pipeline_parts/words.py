"""Word Count: one query by hand against all operators fused into one query by Rheostat."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.pipeline_parts.batches import batches_of, median_response_ms, throughput
from examples.word_count.app import application
from examples.word_count.handwritten import writer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from rheostat.model.deployment import Deployment
from rheostat.model.resources import Infrastructure, Node
from rheostat.runtime.embedded import embedded
from rheostat.runtime.node import SparkNode
from rheostat.runtime.progress import Batch
from rheostat.runtime.specs import RuntimeSettings

SENTENCES, PER_BATCH = 400_000, 10_000
STEADY_TPS, STEADY_SECONDS = 1000, 25
TRIGGER_MS = 200
LEAST_THROUGHPUT, MOST_RESPONSE = 0.85, 1.3
SATURATED = {"pace": "all", "rows_per_batch": PER_BATCH, "total": SENTENCES}
STEADY: dict[str, str | float | bool] = {"curve": str(STEADY_TPS), "total": STEADY_TPS * STEADY_SECONDS}

Run = Callable[[SparkSession, Path, dict[str, str | float | bool], int], list[Batch]]


def measure(spark: SparkSession, repeat: float) -> tuple[str, bool]:
    """The table, and whether the goals are met."""
    ways: dict[str, Run] = {"no output": by_hand_noop, "by hand": by_hand, "Rheostat": fused}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    responses: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(int(repeat)):
        for name, run in ways.items():
            with tempfile.TemporaryDirectory(prefix="rheostat-bench-", ignore_cleanup_errors=True) as folder:
                rates[name].append(throughput(run(spark, Path(folder) / "full", SATURATED, 0)))
                responses[name].append(median_response_ms(run(spark, Path(folder) / "steady", STEADY, TRIGGER_MS)))
            print(f"words, {name}, {number + 1} of {repeat:g}", file=sys.stderr, flush=True)
    lines = [
        "| Word Count | sentences/s at saturation | of by hand | median response ms | of by hand |",
        "|" + "---|" * 5,
    ]
    base_rate, base_response = statistics.median(rates["by hand"]), statistics.median(responses["by hand"])
    for name in ways:
        rate, response = statistics.median(rates[name]), statistics.median(responses[name])
        lines.append(
            f"| {name} | {rate:,.0f} | {rate / base_rate:.2f} | {response:.0f} | {response / base_response:.2f} |"
        )
    ours = statistics.median(rates["Rheostat"]) / base_rate
    slower = statistics.median(responses["Rheostat"]) / base_response
    return "\n".join(lines), ours >= LEAST_THROUGHPUT and slower <= MOST_RESPONSE


def by_hand(spark: SparkSession, folder: Path, source: dict[str, str | float | bool], trigger_ms: int) -> list[Batch]:
    """Updates are kept as files, batch by batch, as one would do it."""

    def keep(rows: DataFrame, batch: int) -> None:
        rows.write.mode("overwrite").parquet(str(folder / "out" / f"batch={batch}"))

    def start(session: SparkSession) -> StreamingQuery:
        started = writer(session, folder / "checkpoint", **source).foreachBatch(keep)
        return started.trigger(processingTime=f"{trigger_ms} milliseconds").start()

    return _run(spark, start, source)


def by_hand_noop(
    spark: SparkSession, folder: Path, source: dict[str, str | float | bool], trigger_ms: int
) -> list[Batch]:
    """The query alone: its results are thrown away."""

    def start(session: SparkSession) -> StreamingQuery:
        started = writer(session, folder / "checkpoint", **source).format("noop")
        return started.trigger(processingTime=f"{trigger_ms} milliseconds").start()

    return _run(spark, start, source)


def _run(
    spark: SparkSession, start: Callable[[SparkSession], StreamingQuery], source: dict[str, str | float | bool]
) -> list[Batch]:
    session = spark.newSession()
    # As many state partitions as a single replica has.
    session.conf.set("spark.sql.shuffle.partitions", "1")
    query = start(session)
    while sum(report["numInputRows"] for report in query.recentProgress) < int(source["total"]):
        time.sleep(0.2)
        if (failure := query.exception()) is not None:
            raise failure
    reports = list(query.recentProgress)
    query.stop()
    return batches_of(reports)


def fused(spark: SparkSession, folder: Path, source: dict[str, str | float | bool], trigger_ms: int) -> list[Batch]:
    """Everything on one node: one query."""
    node = SparkNode("n1", spark)
    app = application(**{"curve": "1", **source})  # type: ignore[arg-type]
    one = Infrastructure("one", (Node("n1", 16),))
    with embedded(app, one, folder, spark, RuntimeSettings(trigger_ms=trigger_ms), nodes={"n1": node}) as runtime:
        runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in app.operators}))
        (instance,) = runtime.plan.instances
        while sum(report["numInputRows"] for report in node.progress(instance.name)) < int(source["total"]):
            time.sleep(0.2)
            runtime.heal()
        return batches_of(node.progress(instance.name))
