"""The same Word Count as one would write it without Rheostat: a single query. The benchmark compares with it."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming import DataStreamWriter

from examples.word_count.app import datasource


def word_counts(spark: SparkSession, **source: str | float | bool) -> DataFrame:
    """The query: all four operators."""
    sentences = datasource(spark, **source)
    return sentences.select(F.explode(F.split("text", " ")).alias("word")).groupBy("word").count()


def writer(spark: SparkSession, checkpoint: Path, **source: str | float | bool) -> DataStreamWriter:
    """The query in update mode, ready for a sink, a trigger and `start()`."""
    counts = word_counts(spark, **source)
    return counts.writeStream.outputMode("update").option("checkpointLocation", str(checkpoint))
