"""Figures of the monitor for a real application at a known rate, on embedded nodes."""

import time
from collections.abc import Iterator

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType

from rheostat.app import App, operator
from rheostat.control.knowledge.averages import Readings
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import FIGURES, Sample, Subject
from rheostat.runtime.ends.emulated_delay import with_service_time
from rheostat.runtime.ends.rate import rate
from rheostat.runtime.ends.seeded_random import Draw
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.query.progress_report import BatchReport, CountedBatches
from rheostat.runtime.query.row_counts import READ, equal_observation
from rheostat.runtime.reconfigure.embedded_nodes import embedded
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = pytest.mark.spark
RATE_TPS, KEYS, SERVICE_MS = 80.0, 23, 10.0
CURVE = "sine 40 120 4"
"""80 on average, in waves: batches of different sizes, for another reason than that the machine was slow just now."""
MEASURED_SECONDS, PATIENCE_SECONDS = 16.0, 240.0


def row(draw: Draw) -> tuple[str, int]:
    return f"k{draw.index % KEYS}", draw.index


def numbers(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    return rate(spark, rows=f"{__name__}:row", schema="k string, n bigint", **parameters)


@operator(max_replicas=4)
def served(rows: DataFrame) -> DataFrame:
    return with_service_time(rows, SERVICE_MS)


@operator(max_replicas=4)
def halved(rows: DataFrame) -> DataFrame:
    return rows.where(F.col("n") % 2 == 0)


@operator(key="k", output="update", max_replicas=4)
def counted(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").count()


@operator(max_replicas=4)
def parted(rows: DataFrame) -> DataFrame:
    """Uses its input twice: Spark reads it twice, but these are the same rows."""
    return rows.where(F.col("n") % 3 == 0).union(rows.where(F.col("n") % 3 != 0))


ROW_MS, RANGE_MS = 4.0, 1.0


@F.udf(returnType=LongType(), useArrow=False)  # type: ignore[untyped-decorator]
def looked_up(n: int) -> int:
    """Made when the module is read, long before it is known which operator uses it."""
    time.sleep(ROW_MS / 1000)
    return n


@operator(max_replicas=4)
def by_row(rows: DataFrame) -> DataFrame:
    return rows.withColumn("n", looked_up("n"))


@operator(max_replicas=4)
def by_range(rows: DataFrame) -> DataFrame:
    def scored(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in parts:
            time.sleep(RANGE_MS / 1000 * len(part))
            yield part

    return rows.mapInPandas(scored, rows.schema)


def application() -> Application:
    app = App("watched")
    app.source("numbers", numbers, rate_tps=RATE_TPS, parameters={"curve": CURVE})
    app.operator(served, reads="numbers")
    app.operator(halved, reads="served")
    app.operator(counted, reads="halved")
    app.sink("out", reads="counted")
    return app.build()


DEPLOYMENT = Deployment.of(
    {
        "numbers": Replicas.on("n1"),
        "served": Replicas.on("n2", "n2"),
        "halved": Replicas.on("n2", "n2"),
        "counted": Replicas.on("n1"),
        "out": Replicas.on("n1"),
    }
)


@pytest.fixture(scope="module")
def spark():
    session = create_session(SparkSettings(), 6, "monitoring")
    yield session
    session.stop()


def batches_of(runtime: Runtime, instance: Instance) -> list[BatchReport]:
    return CountedBatches().take_new(runtime._run.nodes[instance.node].progress(instance.name))


def watch(runtime: Runtime) -> tuple[Readings, list[Sample]]:
    """Everything that was told over one long period, after the first batches, which compile, are over."""
    runtime.monitor.settings = CollectorSettings(period_seconds=1.0)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not all(len(batches_of(runtime, i)) >= 12 for i in runtime.plan.instances):
        assert time.monotonic() < deadline, runtime.symptoms()
        runtime.heal()  # a worker that does not come up in time on a busy machine
        runtime.samples()
        time.sleep(0.25)
    runtime.monitor.settings = CollectorSettings(period_seconds=MEASURED_SECONDS)
    samples = []
    while not samples:
        time.sleep(0.25)
        samples = list(runtime.samples())
    assert not runtime.samples(), "every sample is handed out once"
    readings = Readings(0.0, FIGURES)
    readings.take(samples, time.time())
    return readings, samples


@pytest.mark.parametrize(
    ("operator", "known"),
    [
        pytest.param(lambda rows: rows, READ, id="nothing is done"),
        pytest.param(lambda rows: rows.withColumn("m", F.hash("n")).select("k", "m"), READ, id="columns are added"),
        pytest.param(by_row, None, id="a function that should not be called twice"),
        pytest.param(lambda rows: rows.observe("mine", F.max("n")), READ, id="the user observes"),
        pytest.param(lambda rows: counting(rows).drop("k"), "to:it", id="columns of what was counted"),
        pytest.param(lambda rows: rows.select(F.explode(F.array("n", "n")).alias("n")), None, id="more rows"),
        pytest.param(lambda rows: counting(rows).where("n > 1"), None, id="fewer rows"),
        pytest.param(by_range, None, id="Python over batches"),
        pytest.param(lambda rows: rows.dropDuplicates(["k"]), None, id="state"),
        pytest.param(lambda rows: rows.union(rows), None, id="twice"),
    ],
)
def test_rows_are_known_without_counting_where_an_operator_has_one_for_each(spark, operator, known):
    assert equal_observation(operator(numbers(spark, curve="1")), {"to:it"}) == known


def counting(rows: DataFrame) -> DataFrame:
    return rows.observe("to:it", F.count(F.lit(1)).alias("rows"))


def test_what_is_not_observed_is_told_all_the_same(spark, tmp_path):
    app = App("fused")
    app.source("numbers", numbers, rate_tps=RATE_TPS, parameters={"curve": "80", "total": 800})
    for step, before in ((by_row, "numbers"), (halved, "by_row"), (counted, "halved")):
        app.operator(step, reads=before)
    app.sink("out", reads="counted")
    one = Infrastructure("one", (Node("n1", 8),))
    # Spark remembers a hundred batches, and ten seconds of these are forty at most.
    with embedded(app.build(), one, tmp_path, spark, RuntimeSettings(trigger_ms=250)) as runtime:
        runtime.launch(Deployment.of({name: {"n1": 1} for name in ("numbers", "by_row", "halved", "counted", "out")}))
        (instance,) = runtime.plan.instances
        deadline = time.monotonic() + PATIENCE_SECONDS
        while sum(batch.rows_read for batch in batches_of(runtime, instance)) < 800:
            assert time.monotonic() < deadline, runtime.symptoms()
            time.sleep(0.25)
        batches = batches_of(runtime, instance)
        reports = list(runtime._run.nodes["n1"]._running[instance.name].query.recentProgress)
    assert {name for told in reports for name in told["observedMetrics"]} == {"to:halved", "to:counted"}
    for name in ("by_row", "halved"):
        assert [batch.rows(f"to:{name}") for batch in batches] == [batch.rows_read for batch in batches]
    assert sum(batch.rows("to:counted") or 0 for batch in batches) == 400
    assert all(batch.written == min(KEYS, batch.rows("to:counted") or 0) for batch in batches)


def test_what_a_query_reads_twice_are_not_twice_as_many_rows(spark, tmp_path):
    app = App("twice")
    app.source("numbers", numbers, rate_tps=RATE_TPS, parameters={"curve": "80", "total": 400})
    app.operator(parted, reads="numbers")
    app.sink("out", reads="parted")
    one = Infrastructure("one", (Node("n1", 8),))
    with embedded(app.build(), one, tmp_path, spark, RuntimeSettings(trigger_ms=250)) as runtime:
        runtime.launch(Deployment.of({name: {"n1": 1} for name in ("numbers", "parted", "out")}))
        (instance,) = runtime.plan.instances
        deadline = time.monotonic() + PATIENCE_SECONDS
        while sum(batch.written or 0 for batch in batches_of(runtime, instance)) < 400:
            assert time.monotonic() < deadline, runtime.symptoms()
            time.sleep(0.25)
        batches = batches_of(runtime, instance)
    assert sum(batch.rows("to:parted") or 0 for batch in batches) == 400


@pytest.mark.alone
def test_figures_of_a_known_load(spark, tmp_path):
    nodes = Infrastructure("two", (Node("n1", 8), Node("n2", 8)))
    with embedded(application(), nodes, tmp_path / "run", spark, RuntimeSettings(trigger_ms=100)) as runtime:
        runtime.launch(DEPLOYMENT)
        assert [i.operators for i in runtime.plan.instances] == [("numbers",), ("served", "halved"), ("counted", "out")]
        seen, samples = watch(runtime)
        symptoms = runtime.symptoms()
    for sample in samples:
        for figure, measured in sorted(sample.figures.items()):
            print(f"{sample.subject!s:24} {figure:20} {measured:,.3f}")
    assert not symptoms

    def value(subject: Subject, figure: str) -> float:
        found = seen.value(subject, figure)
        assert found is not None, f"{figure} of {subject} is not known"
        return found

    truth = {"numbers": RATE_TPS, "served": RATE_TPS, "halved": RATE_TPS, "counted": RATE_TPS / 2}
    for name, wanted in truth.items():
        assert value(Subject.operator(name), "input_rate") == pytest.approx(wanted, rel=0.25), name
    assert value(Subject.operator("halved"), "output_rate") == pytest.approx(RATE_TPS / 2, rel=0.25)
    assert value(Subject.stream("served", "halved"), "input_rate") == pytest.approx(RATE_TPS, rel=0.25)
    assert value(Subject.stream("halved", "counted"), "output_rate") == pytest.approx(RATE_TPS / 2, rel=0.25)
    busy = value(Subject.operator("served"), "utilization")
    assert busy == pytest.approx(SERVICE_MS / 1000 * RATE_TPS / 2, rel=0.5), "b x rate / k"
    assert value(Subject.operator("served"), "true_rate") == pytest.approx(1000 / SERVICE_MS, rel=0.5)
    assert SERVICE_MS * 0.9 < value(Subject.operator("served"), "user_code_ms") < SERVICE_MS * 1.5
    assert seen.value(Subject.operator("halved"), "user_code_ms") is None, "it is Spark's own code that works there"
    assert value(Subject.operator("counted"), "state_rows") == KEYS
    assert value(Subject.operator("counted"), "state_bytes") > 0
    median, late = (value(Subject.application("watched"), f"response_{p}_ms") for p in ("p50", "p99"))
    way = value(Subject.stream("numbers", "served"), "hop_ms") + value(Subject.stream("halved", "counted"), "hop_ms")
    assert 0 < median <= late
    assert median == pytest.approx(way, rel=0.5), "two hops lead from the source to the sink"
    assert value(Subject.operator("served"), "backlog") < 10 * RATE_TPS
    assert value(Subject.node("n2"), "slots_used") == 4
    assert value(Subject.node("n1"), "availability") == 1
    assert value(Subject.node("n1"), "memory_bytes") > 100e6


@pytest.mark.alone
def test_an_input_that_is_used_twice_is_counted_once(spark, tmp_path):
    app = App("parting")
    app.source("numbers", numbers, rate_tps=RATE_TPS, parameters={"curve": CURVE})
    app.operator(parted, reads="numbers")
    app.sink("out", reads="parted")
    nodes = Infrastructure("two", (Node("n1", 8), Node("n2", 8)))
    where = {"numbers": Replicas.on("n1"), "parted": Replicas.on("n2"), "out": Replicas.on("n2")}
    with embedded(app.build(), nodes, tmp_path / "run", spark, RuntimeSettings(trigger_ms=100)) as runtime:
        runtime.launch(Deployment.of(where))
        seen, _ = watch(runtime)
    assert seen.value(Subject.operator("parted"), "input_rate") == pytest.approx(RATE_TPS, rel=0.25)
    assert seen.value(Subject.operator("out"), "input_rate") == pytest.approx(RATE_TPS, rel=0.25)


@pytest.mark.alone
def test_each_operator_of_a_chain_is_charged_for_its_own_code(spark, tmp_path):
    """All run in one query, row by row behind one another; what one waits for another does not count."""
    app = App("charged")
    app.source("numbers", numbers, rate_tps=RATE_TPS, parameters={"curve": CURVE})
    app.operator(by_row, reads="numbers")
    app.operator(halved, reads="by_row")
    app.operator(by_range, reads="halved")
    app.sink("out", reads="by_range")
    where = dict.fromkeys(("numbers", "by_row", "halved", "by_range", "out"), Replicas.on("n1"))
    nodes = Infrastructure("one", (Node("n1", 8),))
    with embedded(app.build(), nodes, tmp_path / "run", spark, RuntimeSettings(trigger_ms=100)) as runtime:
        runtime.launch(Deployment.of(where))
        assert [i.operators for i in runtime.plan.instances] == [tuple(where)], "one query"
        seen, _ = watch(runtime)
    times = {name: seen.value(Subject.operator(name), "user_code_ms") for name in where}
    print(times)
    assert times["by_row"] == pytest.approx(ROW_MS, rel=0.3)
    assert times["by_range"] == pytest.approx(RANGE_MS, rel=0.3), "per row that comes to it"
    assert times["halved"] is None
    used = seen.value(Subject.operator("by_row"), "cpu_seconds")
    assert used is not None
    assert 0 < used < MEASURED_SECONDS * RATE_TPS * ROW_MS / 1000, "who sleeps needs no processor"
