"""Access to Spark's private parts for sessions and running queries. Pinned to pyspark 4.3.0."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def quiet_session(spark: SparkSession) -> SparkSession:
    """A session with the same settings for jobs of our own, without adaptive execution.

    Adaptive execution re-plans after every shuffle; state has a fixed number of partitions, so that is time without a
    gain, and a partition it would leave out for being empty must be written all the same.
    """
    jvm_session = private(spark, "_jsparkSession").cloneSession()
    session = type(spark)(spark.sparkContext, jvm_session, {})
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session


def runs_on(spark: SparkSession, checkpoint: Path) -> bool:
    """Whether a query of this Spark application runs on a checkpoint. Other applications cannot be seen from here."""
    wanted = checkpoint.resolve()
    for query in spark.streams.active:
        root = str(private(query, "_jsq").streamingQuery().resolvedCheckpointRoot())
        if Path(root.removeprefix("file:")).resolve() == wanted:
            return True
    return False


def uri(path: Path) -> str:
    """A local path as Spark's state classes want it."""
    return f"file:{path}"


def private(owner: object, name: str) -> Any:
    """A part of pyspark that has no promise to stay; searching for this name finds every use."""
    return getattr(owner, name)
