"""Writer for queries in update mode, by foreachBatch: Spark does not let them write to a Python data source.

The rows of a batch are stored by its tasks, what they wrote comes back as one small row per segment, and the batch is
published here, in the driver. Replaying a batch does nothing, as always. Storing is part of the query, so that it is
planned with it: handed to Spark anew with every batch it took 15 ms of each.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import Segment
from rheostat.runtime.channels.streaming.options import writing_of
from rheostat.runtime.channels.writer.channel_writer import ChannelWriter, TaskOutput, TaskResult
from rheostat.runtime.spark.task import turn_of

_RESULT = "result string"


Wrote = Callable[[int, int], None]
"""Is told the number of a batch and its rows: Spark does not know what is written this way."""


def into_channels(frame: DataFrame, options: Mapping[str, str], wrote: Wrote) -> DataStreamWriter:
    """A query that writes the frame to the channels the options say."""
    own = dict(options)
    ChannelWriter(writing_of(own)).declare(_now_ms())

    def store(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        results = ChannelWriter(writing_of(own)).write(batches, turn_of(TaskContext.get()), _now_ms())
        yield pa.RecordBatch.from_pydict({"result": pa.array(map(json.dumps, map(_document, results)), pa.string())})

    def publish(stored: DataFrame, batch: int) -> None:
        results = [_result(json.loads(row["result"])) for row in stored.collect()]
        ChannelWriter(writing_of(own)).publish(batch, results, _now_ms())
        wrote(batch, sum(result.rows for result in results))

    return frame.mapInArrow(store, _RESULT).writeStream.foreachBatch(publish)


def _document(result: TaskResult) -> dict[str, Any]:
    return {
        "written": [
            [None if part.segment is None else part.segment.to_document(), part.earliest, part.latest]
            for part in result.written
        ],
        "ingest": result.ingest.to_document(),
    }


def _result(document: dict[str, Any]) -> TaskResult:
    written = tuple(
        TaskOutput(None if segment is None else Segment.from_document(segment), earliest, latest)
        for segment, earliest, latest in document["written"]
    )
    return TaskResult(written, IngestHistogram.from_document(document["ingest"]))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
