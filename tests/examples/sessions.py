"""A lean Spark session for tests."""

from collections.abc import Iterator

from pyspark.sql import SparkSession

from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings


def lean_session() -> Iterator[SparkSession]:
    """Two cores, two partitions, another time zone than the nodes have; stopped in the end."""
    settings = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "America/New_York"}
    session = create_session(SparkSettings("local[2]", settings), 2, "examples")
    yield session
    for query in session.streams.active:
        query.stop()
    session.stop()
