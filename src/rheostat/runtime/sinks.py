"""Sinks and what each of them promises.

| sink | exactness |
|---|---|
| `results` | exact: a batch appears once, whatever is replayed, moved or killed; can be spread over nodes |
| `console` | at least once: a replayed batch is printed again |
| any function DataFrame -> DataStreamWriter | what Spark promises of that sink for one query on one node |
"""

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter


def results(frame: DataFrame) -> DataFrame:
    """Everything as it is, into the durable results of the application."""
    return frame


def console(frame: DataFrame, rows: int = 20) -> DataStreamWriter:
    """To the terminal of the node."""
    return frame.writeStream.format("console").option("numRows", rows).option("truncate", "false")
