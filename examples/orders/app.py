"""Orders of some shops: each counted once, revenue by shop and minute, and everything kept as files."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat import App, operator, sinks, sources


def order(draw: sources.Draw) -> tuple[str, str, int]:
    """Every tenth order is sent twice."""
    number = draw.index - draw.index // 10
    return f"order-{number}", f"shop-{number % 7}", 100 + number % 50


def orders(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Any streaming DataFrame is a source: spark.readStream of files or Kafka, `replay`, or this generator."""
    columns = "order string, shop string, cents bigint"
    return sources.rate(spark, rows="examples.orders.app:order", schema=columns, event_time="ts", **parameters)


@operator(key="order", max_replicas=4, event_time="ts", watermark_seconds=60)
def once(orders: DataFrame) -> DataFrame:
    """Stateful: its state is spread and moved by its key, so what it keeps must be kept by that."""
    return orders.dropDuplicatesWithinWatermark(["order"])


@operator(max_replicas=4, event_time="ts")
def taxed(orders: DataFrame) -> DataFrame:
    """Stateless: any transformation, Python code as well (udf, mapInPandas, mapInArrow)."""
    return orders.withColumn("cents", F.col("cents") * 119 / 100)


@operator(key="shop", max_replicas=4, watermark_seconds=60)
def revenue(orders: DataFrame) -> DataFrame:
    """The watermark was set by the runtime, at 60 s: all replicas agree on one, through every change."""
    minute = F.window("ts", "1 minute")
    return orders.groupBy(minute, "shop").agg(F.sum("cents").alias("cents")).select("window.end", "shop", "cents")


def application(folder: str = "orders") -> App:
    """The graph: a stream is named by the operator that it comes from."""
    app = App("orders")
    app.source("orders", orders, rate_tps=50, event_time="ts", parameters={"curve": "sine 20 80 60"})
    app.operator(once, reads="orders")
    app.operator(taxed, reads="once")
    app.operator(revenue, reads="taxed")
    app.sink("results", reads="revenue")
    app.sink("archive", sinks.files, reads="once", parameters={"path": folder})
    return app
