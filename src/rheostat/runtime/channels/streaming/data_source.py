"""Channels as source and sink of Spark's Structured Streaming. Thin: `reader` and `writer` decide.

Spark runs this code in three places: a process per query that plans batches and lives as long as the query, the tasks,
and a process that ends a batch. They share nothing but the options and the disk.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from rheostat.errors import RuntimeFault
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.channels.reader.batch_limit import BatchLimit
from rheostat.runtime.channels.reader.channel_reader import ChannelReader
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER
from rheostat.runtime.channels.records.offset import Offset, parse_offset
from rheostat.runtime.channels.records.segment import KEY_GROUP, Strand, read_strands
from rheostat.runtime.channels.streaming.options import reading_of, writing_of
from rheostat.runtime.channels.writer.channel_writer import ChannelWriter, TaskResult
from rheostat.runtime.spark import data_sources
from rheostat.runtime.spark.task import turn_of

FORMAT = "rheostat"
"""Name of the source and the sink: `spark.readStream.format(FORMAT)`."""
ROWS_PER_ARROW_BATCH = 20_000
FIRST_ROWS_SECONDS = 10.0
"""Time that a query that has never had a batch waits for its first rows. Spark plans a first batch as soon as a Python
source has told its latest offset, with or without rows: half a second of a starting application's work for every query,
just when all of them start."""
LOOK_SECONDS = 0.05
"""Time after which a waiting reader looks at its orders again; new rows end the wait at once where the channel can
tell of them."""
TICK = "__tick"
"""Column of a row that is no data: it carries how far event time has come, for the sake of the watermark.

Spark's watermark is the greatest event time an instance has *seen*. Instances of one operator see different rows, and
one whose keys are quiet would fall behind; with a tick in every batch all of them come to the same watermark at the
same place.
"""


def register(spark: SparkSession) -> None:
    """Makes `format("rheostat")` known to a session; repeating it does nothing."""
    data_sources.register(spark, ChannelSource)


class ChannelSource(DataSource):
    """The data source. Its options are described in `options`."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Columns of the channel, if it was created with them."""
        schema = open_channel(self.options["path"]).spec.schema
        if schema is None:
            raise ValueError(f"channel {self.options['path']} was created without a schema: give one to the reader")
        return schema

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802 - Spark's name
        """Reads a channel."""
        return StreamReader(dict(self.options), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> "StreamWriter":  # noqa: ARG002, N802 - Spark's
        """Writes channels; declares the producer, so that consumers wait for it from the start of the query."""
        writer = StreamWriter(dict(self.options))
        writer.writer().declare(_now_ms())
        return writer


@dataclass
class ReadPart(InputPartition):
    """The rows that one task reads."""

    strands: Sequence[Strand]
    tick: int | None = None
    """Event time to tell besides, in microseconds."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a channel."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._reading = reading_of(options)
        self._max_rows = int(options["max_rows_per_batch"]) if "max_rows_per_batch" in options else None
        self._batch_limit = BatchLimit(float(options["batch_seconds"])) if "batch_seconds" in options else None
        self._schema = schema
        self._reader = ChannelReader(self._reading)
        self._bounded = False
        self._end: Offset | None = None
        self._waits_until = time.monotonic() + FIRST_ROWS_SECONDS
        self._is_first = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The offset at which a query without a checkpoint begins."""
        self._is_first = True
        return self._reader.first_offset().to_document()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Rows per batch."""
        return ReadAllAvailable() if self._max_rows is None else ReadMaxRows(self._max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Bounds the reader to what is there when the first batch is planned."""
        self._bounded = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The offset at which the next batch ends; the same document if there is none, since Spark compares texts."""
        here = parse_offset(start)
        while True:
            ends = self._reader.ends() if self._is_first and not self._bounded else {}
            order = self._reader.order()
            end = self._next(here, limit, order)
            if end != here or not self._may_wait():
                break
            self._reader.wait(ends, LOOK_SECONDS)
        self._is_first = False
        return start if end == here else end.to_document()

    def _may_wait(self) -> bool:
        first = self._is_first and not self._bounded and time.monotonic() < self._waits_until
        return first and self._reader.may_wait(self._reader.order())

    def _next(self, here: Offset, limit: ReadLimit, order: HoldOrder) -> Offset:
        now_ms = _now_ms()
        # Spark plans a batch only when the one before is committed, but calls `commit` only when it plans the next one:
        # an idle reader would seem to lag for ever and a producer would wait for it for ever.
        self._commit(here, now_ms)
        if order.hold:
            self._reader.acknowledge_hold(order)
        max_rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        # A reader that was ordered to an offset goes there as fast as it can.
        if self._batch_limit is not None and not self._reader.has_limit(order):
            self._batch_limit.note_start(here, time.monotonic())
            max_rows = _least(max_rows, self._batch_limit.most_rows())
        if self._bounded and self._end is None:
            self._end = self._reader.head(here)
        end = self._reader.next_offset(here, max_rows, now_ms, order)
        if self._end is not None and end != here:
            end = self._reader.bounded(here, end, self._end)
        return end

    def _commit(self, offset: Offset, now_ms: int) -> None:
        self._reader.commit_progress(offset, now_ms)
        self._reader.clean_if_due(now_ms)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The rows of a batch, in at most as many parts as there are replicas."""
        self._is_first = False  # a batch that is done again is planned without asking where it ends
        begin, stop = parse_offset(start), parse_offset(end)
        parts = [ReadPart(strands) for strands in self._reader.plan(begin, stop)]
        if self._batch_limit is not None:
            rows = sum(run.rows for part in parts for strand in part.strands for run in strand.runs)
            self._batch_limit.note_planned(stop, rows, time.monotonic())
        if TICK not in self._schema.names or stop.frontier in (NEVER, FOREVER) or stop.frontier == begin.frontier:
            return parts
        first, *rest = parts or [ReadPart(())]
        return [ReadPart(first.strands, stop.frontier), *rest]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one part, in few large batches: Spark pays per batch."""
        wanted = to_arrow_schema(self._schema, timezone="UTC")
        if not isinstance(partition, ReadPart):
            return
        strands, channel = partition.strands, self._reading.channel
        if partition.tick is not None:
            yield _tick(wanted, channel.spec.event_time, partition.tick)
        fetch = channel.log().fetch
        pieces = read_strands(strands, fetch, channel.spec.event_time, labelled=KEY_GROUP in wanted.names)
        fitted = [_fitted(piece, wanted) for piece in pieces]
        if fitted:
            yield from pa.Table.from_batches(fitted).combine_chunks().to_batches(ROWS_PER_ARROW_BATCH)

    def commit(self, end: dict[str, Any]) -> None:
        """Commits that everything before the offset is done."""
        self._commit(parse_offset(end), _now_ms())


@dataclass
class Message(WriterCommitMessage):
    """The result of a task, on its way to the end of the batch."""

    results: tuple[TaskResult, ...]


class StreamWriter(DataSourceStreamArrowWriter):
    """Writes channels."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    def writer(self) -> ChannelWriter:
        """The writer that does the work; made anew in every process."""
        return ChannelWriter(writing_of(self._options))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Message:
        """Stores the rows of a task."""
        return Message(tuple(self.writer().write(iterator, turn_of(TaskContext.get()), _now_ms())))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Publishes a batch. RuntimeFault if it is not told what every task wrote: rows would be lost."""
        results: list[TaskResult] = []
        for message in messages:
            if not isinstance(message, Message):
                raise RuntimeFault(f"a task of batch {batchId} told {message!r} in place of the segments it wrote")
            results += message.results
        self.writer().publish(batchId, results, _now_ms())

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Removes nothing: a query that is stopped while its batch is being published aborts that batch as well.

        Segments that were really not published are orphans, which the cleaner removes when their grace is over.
        """


def _fitted(rows: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
    """The rows with the columns Spark asked for, in its order and types: sessions may differ in their time zone."""
    if TICK in wanted.names:
        rows = rows.append_column(TICK, pa.nulls(rows.num_rows, pa.bool_()))
    rows = rows.select(wanted.names)
    if rows.schema.equals(wanted):
        return rows
    arrays = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(rows.columns, wanted, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _tick(wanted: pa.Schema, event_time: str | None, at: int) -> pa.RecordBatch:
    """A row with nothing but the event time and the mark that it is no data."""
    arrays = []
    for field in wanted:
        if field.name == TICK:
            arrays.append(pa.array([True]))
        elif field.name == event_time:
            arrays.append(pa.array([at], pa.timestamp("us", "UTC")).cast(field.type))
        else:
            # Where the query was promised no nulls, a null would break its compiled code.
            arrays.append(pa.nulls(1, field.type) if field.nullable else pa.array([_anything(field.type)], field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _anything(kind: pa.DataType) -> Any:
    """A value of a type that is no null."""
    if pa.types.is_struct(kind):
        return {field.name: _anything(field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return []
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ""
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return b""
    if pa.types.is_decimal(kind):
        return Decimal(0)
    return pa.array([0], pa.int64()).cast(pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)[0].as_py()


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
