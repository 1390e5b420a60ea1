"""Frequent Pattern Detection [Elastic Storm VI]: Input -> Generator -> Detector -> Reporter.

A pattern is a word or a pair of words of the same tweet; it counts once per tweet. Which patterns are frequent is
said in `definition.py`.

| stream | columns |
|---|---|
| Input | ts (event time), text |
| Generator | ts, pattern: "word" or "first second", in alphabetical order |
| Detector | window_end, pattern, tweets: once per window and pattern, when the watermark has passed the window |
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from examples.frequent_patterns.definition import MORE_THAN, PAIRED_WORDS, SLIDE_SECONDS, WINDOW_SECONDS
from rheostat import App, operator, sources

PAPER_CURVE = "120 for 900; 350 for 900; 900 for 900; 250 for 900; 120 for 900"
"""Tweets per second in the five phases."""


def tweets(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Random tweets; the parameters are those of `rheostat.runtime.ends.rate`.

    The last tweet of a finite run comes two windows after the one before.
    """
    described = {"event_time": "ts", "closing_gap_seconds": 2 * WINDOW_SECONDS, **parameters}
    return sources.rate(spark, rows="examples.frequent_patterns.tweets:tweet", schema="text string", **described)


@operator(max_replicas=2, event_time="ts")
def generator(tweets: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """Every word and every pair of words of a tweet."""
    words = F.array_sort(F.array_distinct(F.split("text", " ")))
    paired = F.slice("words", 1, PAIRED_WORDS)
    pairs = F.flatten(
        F.transform(
            paired,
            lambda a, i: F.transform(F.slice(paired, i + 2, PAIRED_WORDS), lambda b: F.concat_ws(" ", a, b)),
        )
    )
    worded = sources.with_service_time(tweets, service_ms).select("ts", words.alias("words"))
    return worded.select("ts", F.explode(F.concat("words", pairs)).alias("pattern"))


@operator(key="pattern", max_replicas=20, event_time="window_end", watermark_seconds=0.0)
def detector(
    patterns: DataFrame,
    *,
    window_seconds: int = WINDOW_SECONDS,
    slide_seconds: int = SLIDE_SECONDS,
    more_than: int = MORE_THAN,
    service_ms: float = 0.0,
) -> DataFrame:
    """Patterns that are frequent in a window."""
    window = F.window("ts", f"{window_seconds} seconds", f"{slide_seconds} seconds")
    served = sources.with_service_time(patterns, service_ms)
    counts = served.groupBy(window, "pattern").agg(F.count("*").alias("tweets")).where(F.col("tweets") > more_than)
    return counts.select(F.col("window.end").alias("window_end"), "pattern", "tweets")


def application(
    curve: str = PAPER_CURVE, *, rate_tps: float = 120.0, service_ms: float = 0.0, **source: str | float | bool
) -> App:
    """The application. `service_ms` is the Detector's, per pattern; `source`: seed, total, pace, rows_per_batch, ..."""
    app = App("frequent-patterns")
    app.source("Input", tweets, rate_tps=rate_tps, event_time="ts", parameters={"curve": curve, **source})
    app.operator(generator, name="Generator", reads="Input")
    app.operator(detector, name="Detector", reads="Generator", selectivity=10.0, parameters={"service_ms": service_ms})
    app.sink("Reporter", reads="Detector")
    return app
