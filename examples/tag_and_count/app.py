"""Tag-and-Count [ODP 7.1]: source -> tag -> split -> normalise -> count -> format -> consumer.

The paper says that it "tags and counts the sentences" and that five operators stand in sequence; which ones is ours.

| stream | columns |
|---|---|
| source | number, text |
| tag | number, tag, text: a sentence is a question, an exclamation or a statement |
| split | tag, token |
| normalise | tag, word: lower case, without punctuation marks; what has no letter is dropped |
| count | tag, word, count (update: the last row of a tag and word counts) |
| format | tag, word, text |
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat import App, operator, sources

EXECUTORS = 2
"""Replicas of each of the five operators."""


def source(spark: SparkSession, **parameters: str | float | bool) -> DataFrame:
    """Random sentences; the parameters are those of `rheostat.runtime.ends.rate`."""
    rows, schema = "examples.tag_and_count.sentences:sentence", "number bigint, text string"
    return sources.rate(spark, rows=rows, schema=schema, **parameters)


@operator(max_replicas=EXECUTORS)
def tag(sentences: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """What kind of sentence it is, by its last mark."""
    last = F.substring("text", -1, 1)
    kind = F.when(last == "?", "question").when(last == "!", "exclamation").otherwise("statement")
    return sources.with_service_time(sentences, service_ms).select("number", kind.alias("tag"), "text")


@operator(max_replicas=EXECUTORS)
def split(sentences: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """A row for each token."""
    return sources.with_service_time(sentences, service_ms).select(
        "tag", F.explode(F.split("text", " ")).alias("token")
    )


@operator(max_replicas=EXECUTORS)
def normalise(tokens: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """Words as they are counted."""
    word = F.regexp_replace(F.lower("token"), "[^a-z]", "")
    return sources.with_service_time(tokens, service_ms).select("tag", word.alias("word")).where("word != ''")


@operator(key=("tag", "word"), output="update", max_replicas=EXECUTORS)
def count(words: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """How often each word occurs in sentences of each tag."""
    return sources.with_service_time(words, service_ms).groupBy("tag", "word").count()


@operator(max_replicas=EXECUTORS)
def format_counts(counts: DataFrame, *, service_ms: float = 0.0) -> DataFrame:
    """A line to be read by people."""
    text = F.concat_ws(" ", F.col("count").cast("string"), F.lit("x"), "word", F.lit("in a"), "tag")
    return sources.with_service_time(counts, service_ms).select("tag", "word", text.alias("text"))


def application(
    curve: str = "10", *, rate_tps: float = 10.0, service_ms: float = 0.0, **source_parameters: str | float | bool
) -> App:
    """The application; the source and the consumer have one replica. `source_parameters`: seed, total, pace, ..."""
    app, served = App("tag-and-count"), {"service_ms": service_ms}
    app.source("source", source, rate_tps=rate_tps, parameters={"curve": curve, **source_parameters})
    app.operator(tag, reads="source", parameters=served)
    app.operator(split, reads="tag", parameters=served)
    app.operator(normalise, reads="split", selectivity=5.0, parameters=served)
    app.operator(count, reads="normalise", parameters=served)
    app.operator(format_counts, name="format", reads="count", parameters=served)
    app.sink("consumer", reads="format")
    return app
