"""A source, a count by key, a sink: what changes are measured with."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat import App, operator, sources
from rheostat.model.graph.application import Application

RATE_TPS = 500


def key_1000(draw: sources.Draw) -> tuple[str]:
    """Every key once, then again and again: the state has them all from the beginning."""
    return (f"key-{draw.index % 1_000:08d}",)


def key_100000(draw: sources.Draw) -> tuple[str]:
    """As many."""
    return (f"key-{draw.index % 100_000:08d}",)


def key_1000000(draw: sources.Draw) -> tuple[str]:
    """As many."""
    return (f"key-{draw.index % 1_000_000:08d}",)


def keys(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """All keys in the first seconds, then a steady stream."""
    return sources.rate(spark, schema="k string", **parameters)  # type: ignore[arg-type]


@operator(key="k", output="update", max_replicas=4)
def counted(rows: DataFrame) -> DataFrame:
    """A count per key."""
    return rows.groupBy("k").agg(F.count("*").alias("c"))


def application(number_of_keys: int) -> Application:
    """Source, count, results."""
    curve = f"{number_of_keys / 5:.0f} for 5; {RATE_TPS}"
    rows = f"benchmarks.counting:key_{number_of_keys}"
    app = App("reconfiguration")
    app.source("source", keys, rate_tps=RATE_TPS, parameters={"curve": curve, "rows": rows})
    app.operator(counted, name="count", reads="source")
    app.sink("out", reads="count")
    return app.build()
