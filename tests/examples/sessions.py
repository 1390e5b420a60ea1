"""A lean Spark session for tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession


def lean_session() -> Iterator[SparkSession]:
    """Two cores, two partitions, state in RocksDB; stopped in the end."""
    # Spark starts workers of its own: the same Python, with the examples on its path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    root = str(Path(__file__).parents[2])
    if root not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    package = "org.apache.spark.sql.execution.streaming"
    session = (
        SparkSession.builder.master("local[2]")
        .appName("examples")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "America/New_York")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.streaming.stateStore.providerClass", f"{package}.state.RocksDBStateStoreProvider")
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .config(
            "spark.sql.streaming.checkpointFileManagerClass",
            f"{package}.checkpointing.FileSystemBasedCheckpointFileManager",
        )
        .config("spark.sql.streaming.checkpoint.fileChecksum.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    for query in session.streams.active:
        query.stop()
    session.stop()
