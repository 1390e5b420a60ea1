"""Everything that cannot work is told before anything runs: all of it at once, each with its place and a remedy."""

import pytest
from examples.orders import app as orders
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamWriter

from rheostat.app import App, operator
from rheostat.errors import InvalidModel
from rheostat.runtime.ends.emulated_delay import with_service_time
from rheostat.runtime.query.schema_discovery import discover_columns

pytestmark = pytest.mark.spark


def numbers(spark: SparkSession) -> DataFrame:
    rows = spark.readStream.format("rate").load()
    return rows.selectExpr("value AS n", "CAST(value AS string) AS k", "timestamp AS ts")


def known_once(spark: SparkSession) -> DataFrame:
    return numbers(spark).dropDuplicates(["k"])


@operator(max_replicas=4)
def forgetful(rows: DataFrame) -> DataFrame:
    return rows.dropDuplicates(["k"])


@operator(key="k", output="update", max_replicas=4)
def by_another(rows: DataFrame) -> DataFrame:
    return rows.groupBy((F.col("n") % 7).alias("seventh")).count()


@operator(key="k", output="update")
def total(rows: DataFrame) -> DataFrame:
    """Has no key, so that it can never be spread; it declares one because it has state."""
    return rows.groupBy().count()


@operator(key="k", output="update", max_replicas=4)
def counted(rows: DataFrame) -> DataFrame:
    return with_service_time(rows, 1.0).groupBy("k").count()


@operator(max_replicas=4)
def parted(counts: DataFrame) -> DataFrame:
    """Has no state itself, but twice that of the one before it in its plan."""
    return counts.where(F.col("count") > 5).union(counts.where(F.col("count") <= 5))


@operator()
def enriched(rows: DataFrame) -> DataFrame:
    """What is joined is no stream, however it was made."""
    known = rows.sparkSession.range(10).selectExpr("CAST(id AS string) AS k").groupBy("k").count()
    return rows.join(known, "k", "left")


def printed(rows: DataFrame) -> DataStreamWriter:
    return rows.writeStream.format("console")


def unfinished(rows: DataFrame) -> DataFrame:
    return rows


def told(spark: SparkSession, app: App) -> list[str]:
    with pytest.raises(InvalidModel) as caught:
        discover_columns(spark, app.build())
    return [f"{mistake.what}; {mistake.remedy}" for mistake in caught.value.mistakes]


def test_state_without_a_key_or_by_another_one_is_told_before_it_is_lost(nodes_session):
    app = App("wrong").source("numbers", numbers).source("once", known_once)
    app.operator(forgetful, reads="numbers").operator(by_another, reads="numbers")
    app.sink("a", reads="forgetful").sink("b", reads="by_another").sink("c", reads="once")
    first, second, third = sorted(told(nodes_session, app))
    assert first.startswith(
        "'by_another' keeps its state (an aggregation) by (n % CAST(7 AS BIGINT)), not by its key k; "
    )
    assert second.startswith("'forgetful' keeps state (dropDuplicates) and declares no key; ")
    assert third.startswith("'once' keeps state (dropDuplicates) and declares no key; ")


def test_state_that_is_declared_as_it_is_kept_is_fine(nodes_session):
    app = App("right").source("numbers", numbers).operator(counted, reads="numbers").operator(total, reads="numbers")
    app.operator(parted, reads="counted").operator(enriched, reads="numbers")
    app.sink("a", reads="parted").sink("b", reads="total").sink("c", printed, reads="enriched")
    assert set(discover_columns(nodes_session, app.build())) == {"numbers", "counted", "total", "parted", "enriched"}


def test_the_application_of_the_guide_is_sound(nodes_session, tmp_path):
    found = discover_columns(nodes_session, orders.application(str(tmp_path)).build())
    assert {name: columns.event_time for name, columns in found.items()} == {
        "orders": "ts", "once": "ts", "taxed": "ts", "revenue": "",
    }  # fmt: skip


def test_a_sink_that_is_none_is_told(nodes_session):
    app = App("unfinished").source("numbers", numbers).sink("out", unfinished, reads="numbers")
    (only,) = told(nodes_session, app)
    assert "sink out gave a DataFrame, not a DataStreamWriter: end it with .writeStream" in only


def test_results_take_several_streams_of_the_same_columns_only(nodes_session):
    app = App("several").source("numbers", numbers).operator(counted, reads="numbers").operator(parted, reads="counted")
    app.operator(enriched, reads="numbers").sink("out", reads=["parted", "enriched"])
    (only,) = told(nodes_session, app)
    assert "'out' reads streams with different columns" in only
