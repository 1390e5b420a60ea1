"""Sinks and their guarantees.

- `results` is exact: a batch appears once, also after replays, moves and kills. It alone can be spread over nodes.
  `Runtime.results` gives what it has received as a table in memory.
- `files` is exact for a reader that reads the folder with Spark, which knows the files that count.
- `console` prints at least once: a batch that is repeated is printed again.
- Any other function DataFrame -> DataStreamWriter is as exact as Spark's sink is for one query: a batch that is
  repeated has the same number, and numbers go on through every change. So `foreachBatch` is exact if it passes over
  numbers it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def results(frame: DataFrame) -> DataFrame:
    """All rows unchanged, into the durable results of the application."""
    return frame


def console(frame: DataFrame, rows: int = 20) -> DataStreamWriter:
    """The first rows of every batch, on the terminal of the node."""
    return frame.writeStream.format("console").option("numRows", rows).option("truncate", "false")


def files(frame: DataFrame, path: str, form: str = "parquet") -> DataStreamWriter:
    """Files of Spark's file sink in a folder; read with Spark, every row is there once."""
    return frame.writeStream.format(form).option("path", path)
