"""Word Count [E2DF 5]: datasource -> split -> counter -> consumer.

| stream | columns |
|---|---|
| datasource | text |
| split | word |
| counter | word, count (update: the last row of a word counts) |
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat import App, operator, sources

PAPER_CURVE = "ramp 5 550 for 1800; ramp 550 5 for 1800"
"""From 5 to 550 sentences per second and back. The duration is not in the paper: an hour is taken."""


def datasource(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Random sentences; the parameters are those of `rheostat.runtime.ends.rate`."""
    return sources.rate(spark, rows="examples.word_count.sentences:sentence", schema="text string", **parameters)


@operator(max_replicas=2)
def split(sentences: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """A row for each word."""
    return sources.with_service_time(sentences, service_ms).select(F.explode(F.split("text", " ")).alias("word"))


@operator(key="word", output="update", max_replicas=6)
def counter(words: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """How many times each word has appeared."""
    return sources.with_service_time(words, service_ms).groupBy("word").count()


def application(
    curve: str = PAPER_CURVE, *, rate_tps: float = 5.0, service_ms: float = 0.0, **source: str | float | bool
) -> App:
    """The application. `source`: further parameters of the source (seed, total, pace, rows_per_batch, replicas)."""
    app = App("word-count")
    app.source("datasource", datasource, rate_tps=rate_tps, parameters={"curve": curve, **source})
    app.operator(split, reads="datasource", parameters={"service_ms": service_ms})
    app.operator(counter, reads="split", selectivity=10.0, parameters={"service_ms": service_ms})
    app.sink("consumer", reads="counter", max_replicas=6)
    return app
