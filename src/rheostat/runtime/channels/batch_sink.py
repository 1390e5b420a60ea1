"""The same writer for queries in update mode, which Spark does not let write to a Python data source: by foreachBatch.

The rows of a batch are stored by its tasks, what they wrote comes back as one small row per task, and the batch is
published here, in the driver. Replaying a batch does nothing, as always.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from rheostat.runtime.channels.disk import Disk
from rheostat.runtime.channels.histogram import IngestHistogram
from rheostat.runtime.channels.manifest import Segment
from rheostat.runtime.channels.options import writing_of
from rheostat.runtime.channels.writer import ChannelWriter, TaskResult, Written

_RESULT = "result string"


def into_channels(options: Mapping[str, str]) -> Callable[[DataFrame, int], None]:
    """A function for foreachBatch that writes a batch to the channels the options say."""
    own = dict(options)
    ChannelWriter(writing_of(own), Disk()).declare(_now_ms())

    def write(frame: DataFrame, batch: int) -> None:
        def store(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            task = TaskContext.get()
            turn = batch + (task.partitionId() if task is not None else 0)
            result = ChannelWriter(writing_of(own), Disk()).write(batches, turn, _now_ms())
            yield pa.RecordBatch.from_pydict({"result": [json.dumps(_document(result))]})

        told = frame.mapInArrow(store, _RESULT).collect()
        results = [_result(json.loads(row["result"])) for row in told]
        ChannelWriter(writing_of(own), Disk()).publish(batch, results, _now_ms())

    return write


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
        Written(None if segment is None else Segment.from_document(segment), earliest, latest)
        for segment, earliest, latest in document["written"]
    )
    return TaskResult(written, IngestHistogram.from_document(document["ingest"]))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
