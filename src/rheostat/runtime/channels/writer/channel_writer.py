"""What a writer does with the rows of a task and with the end of a batch. Pure of Spark; time is given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.log.producer import ProducedBatch, Producer, open_producer
from rheostat.runtime.channels.reader.provenance import Provenance, frontier_after, ingest_of, taken_in
from rheostat.runtime.channels.records.channel import Channel, load_channel
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import NEVER, Segment
from rheostat.runtime.channels.records.segment import event_times, write_segment
from rheostat.runtime.channels.writer.outputs import Output, groups_of, stored_columns

INGEST_NOW = "now"
INGEST_INPUTS = "inputs"


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How a query writes its channels."""

    producer: str
    epoch: int
    outputs: tuple[Output, ...]
    provenance: Provenance
    ingest: str = INGEST_INPUTS
    """Where ingest times come from: the inputs' manifests, "now" (when the batch was planned), or a column."""
    continues: bool = True
    """Batch ids go on where the epoch before ended."""


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """What one task wrote into one channel."""

    segment: Segment | None = None
    earliest: int | None = None
    latest: int | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one task wrote, by output, and how old it was."""

    written: tuple[TaskOutput, ...]
    ingest: IngestHistogram

    @property
    def rows(self) -> int:
        """Rows it was given: every output gets all of them."""
        segment = self.written[0].segment
        return 0 if segment is None else sum(segment.rows.values())


class ChannelWriter:
    """Writes rows in tasks and publishes them when all tasks of a batch are done."""

    def __init__(self, writing: WriteSettings, disk: Disk) -> None:
        self._writing, self._disk = writing, disk
        self._channels = tuple(load_channel(output.path) for output in writing.outputs)

    def declare(self, now_ms: int) -> None:
        """Opens the epoch in every channel, so that consumers wait for this producer. Raises Fenced if it is over."""
        for channel in self._channels:
            self._open(channel, now_ms)

    def write(self, batches: Iterable[pa.RecordBatch], turn: int, now_ms: int) -> TaskResult:
        """Stores the rows of one task durably; nobody sees them yet."""
        kept = [batch for batch in batches if batch.num_rows]
        if not kept:
            return TaskResult(tuple(TaskOutput() for _ in self._channels), IngestHistogram())
        table = pa.Table.from_batches(kept)
        rows = table.select(stored_columns(table.column_names, self._writing.outputs))
        written = []
        for output, channel in zip(self._writing.outputs, self._channels, strict=True):
            segment = write_segment(self._folder(channel), rows, groups_of(table, output, channel, turn), self._disk)
            written.append(TaskOutput(segment, *_time_range(rows, channel.event_time)))
        return TaskResult(tuple(written), self._ages(rows, now_ms))

    def publish(self, batch: int, results: Sequence[TaskResult], now_ms: int) -> int:
        """Makes the batch visible in every channel, exactly once; returns in how many it was new.

        A crash between two channels is repaired by the replay of the batch: the first knows it already.
        """
        published = 0
        for index, channel in enumerate(self._channels):
            parts = [result.written[index] for result in results]
            producer = self._open(channel, now_ms)
            latest = max((part.latest for part in parts if part.latest is not None), default=None)
            ingest = IngestHistogram.merged(result.ingest for result in results)
            if self._writing.ingest == INGEST_INPUTS:
                ingest = ingest_of(self._writing.provenance, batch, producer.last_batch())
            elif self._writing.ingest == INGEST_NOW:
                ingest = taken_in(self._writing.provenance, batch, ingest.rows, now_ms)
            published += producer.publish(
                ProducedBatch(
                    batch,
                    tuple(part.segment for part in parts if part.segment is not None),
                    frontier_after(self._writing.provenance, batch, latest),
                    min((part.earliest for part in parts if part.earliest is not None), default=None),
                    latest,
                    ingest,
                ),
                now_ms,
            )
        return published

    def _open(self, channel: Channel, now_ms: int) -> Producer:
        writing = self._writing
        return open_producer(
            DiskLog(channel), self._disk, writing.producer, writing.epoch, continues=writing.continues, now_ms=now_ms
        )

    def _folder(self, channel: Channel) -> Path:
        return channel.segments(self._writing.producer, self._writing.epoch)

    def _ages(self, rows: pa.Table, now_ms: int) -> IngestHistogram:
        if self._writing.ingest == INGEST_INPUTS:
            return IngestHistogram()
        if self._writing.ingest == INGEST_NOW:
            return IngestHistogram(1, {now_ms: rows.num_rows})
        times = event_times(rows, self._writing.ingest)
        return IngestHistogram.of((times[times > NEVER] // 1000).tolist())


def _time_range(rows: pa.Table, column: str | None) -> tuple[int | None, int | None]:
    """(least, greatest) event time, None if there is none."""
    if column is None:
        return None, None
    times = event_times(rows, column)
    known = times[times > NEVER]
    return (int(known.min()), int(known.max())) if len(known) else (None, None)
