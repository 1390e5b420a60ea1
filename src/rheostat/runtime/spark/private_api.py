"""Access to Spark's private parts for sessions and running queries. Pinned to pyspark 4.3.0."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def non_adaptive_session(spark: SparkSession) -> SparkSession:
    """A session with the same settings for our own jobs, without adaptive execution.

    Adaptive execution re-plans after every shuffle. State has a fixed number of partitions, so that only takes time,
    and a partition left out as empty must be written all the same.
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
    """A local path in the form that Spark's state classes expect."""
    return f"file:{path}"


def private(owner: object, name: str) -> Any:
    """A private part of pyspark; searching for this function finds every use."""
    return getattr(owner, name)
