"""Word Count: one query by hand against all operators fused into one query by Rheostat."""

import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.pipeline_parts.batches import median_response_ms, stages_ms, throughput, wait_for_rows, without_first
from benchmarks.pipeline_parts.plain_files import MENDED, files_of
from examples.word_count.app import application
from examples.word_count.handwritten import writer
from experiments.folders import passing_folder
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.query.progress_report import BatchReport, read_batch
from rheostat.runtime.reconfigure.embedded_nodes import embedded

SENTENCES, PER_BATCH = 250_000, 5_000
STEADY_TPS, STEADY_SECONDS = 1000, 18
TRIGGER_MS = 200
PATIENCE_SECONDS = 300.0
LEAST_THROUGHPUT, MOST_RESPONSE = 0.85, 1.3
SATURATED = {"pace": "all", "rows_per_batch": PER_BATCH, "total": SENTENCES}
STEADY = {"curve": str(STEADY_TPS), "total": STEADY_TPS * STEADY_SECONDS}

Source = dict[str, str | float | bool]
Reports = Sequence[BatchReport]
Run = Callable[[SparkSession, Path, Source, int], Reports]


def measure(spark: SparkSession, repeat: float) -> tuple[str, bool]:
    """The table, and whether the goals are met."""
    ways: dict[str, Run] = {"no output": by_hand_noop, "by hand": by_hand, MENDED: by_hand, "Rheostat": fused}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    responses: dict[str, list[float]] = {name: [] for name in ways}
    stages: dict[str, dict[str, float]] = {}
    for number in range(int(repeat)):
        for name, run in ways.items():
            with passing_folder("bench") as folder, files_of(name, spark):
                rates[name].append(throughput(without_first(run(spark, folder / "full", dict(SATURATED), 0))))
                reports = run(spark, folder / "steady", dict(STEADY), TRIGGER_MS)
                responses[name].append(median_response_ms(without_first(reports)))
                stages[name] = stages_ms(reports)
            told = f"{rates[name][-1]:,.0f} sentences/s, response {responses[name][-1]:.0f} ms"
            print(f"words, {name}, {number + 1} of {repeat:g}: {told}", file=sys.stderr, flush=True)
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
    lines += [
        "",
        f"| a batch at {STEADY_TPS} sentences/s, median ms | {' | '.join(ways)} |",
        "|" + "---|" * (1 + len(ways)),
    ]
    for part in stages["by hand"]:
        lines.append(f"| {part} | " + " | ".join(f"{stages[name][part]:.0f}" for name in ways) + " |")
    ours = statistics.median(rates["Rheostat"]) / base_rate
    slower = statistics.median(responses["Rheostat"]) / base_response
    return "\n".join(lines), ours >= LEAST_THROUGHPUT and slower <= MOST_RESPONSE


def by_hand(spark: SparkSession, folder: Path, source: Source, trigger_ms: int) -> Reports:
    """Updates are kept as files, batch by batch, as one would do it."""

    def keep(rows: DataFrame, batch: int) -> None:
        rows.write.mode("overwrite").parquet(str(folder / "out" / f"batch={batch}"))

    def start(session: SparkSession) -> StreamingQuery:
        started = writer(session, folder / "checkpoint", **source).foreachBatch(keep)
        return started.trigger(processingTime=f"{trigger_ms} milliseconds").start()

    return _run(spark, start, source)


def by_hand_noop(spark: SparkSession, folder: Path, source: Source, trigger_ms: int) -> Reports:
    """The query alone: its results are thrown away."""

    def start(session: SparkSession) -> StreamingQuery:
        started = writer(session, folder / "checkpoint", **source).format("noop")
        return started.trigger(processingTime=f"{trigger_ms} milliseconds").start()

    return _run(spark, start, source)


def _run(spark: SparkSession, start: Callable[[SparkSession], StreamingQuery], source: Source) -> Reports:
    session = spark.newSession()
    # As many state partitions as a single replica has.
    session.conf.set("spark.sql.shuffle.partitions", "1")
    query = start(session)

    def told() -> Reports:
        if (failure := query.exception()) is not None:
            raise failure
        return _ran(query)

    wait_for_rows(told, int(source["total"]), PATIENCE_SECONDS)
    query.stop()
    return _ran(query)


def _ran(query: StreamingQuery) -> Reports:
    return [batch for report in query.recentProgress if (batch := read_batch(report)) is not None]


def fused(spark: SparkSession, folder: Path, source: Source, trigger_ms: int) -> Reports:
    """Everything on one node: one query."""
    app = application(**{"curve": "1", **source}).build()  # type: ignore[arg-type]
    one = Infrastructure("one", (Node("n1", 16),))
    with embedded(app, one, folder, spark, RuntimeSettings(trigger_ms=trigger_ms)) as runtime:
        runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in app.operators}))
        (instance,) = runtime.plan.instances
        wait_for_rows(lambda: runtime.progress(instance), int(source["total"]), PATIENCE_SECONDS)
        return runtime.progress(instance)
