"""Writer of a query: stages the rows of a task and publishes a batch. Free of Spark; time is given."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.port.channel import Channel, ChannelProducer, EpochClaim, ProducedBatch
from rheostat.runtime.channels.reader.provenance import Provenance, frontier_after, ingest_of, taken_in
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import NEVER, Segment
from rheostat.runtime.channels.records.segment import event_times
from rheostat.runtime.channels.writer.outputs import Output, groups_of, stored_columns

INGEST_NOW = "now"
INGEST_INPUTS = "inputs"
MOST_BYTES = 1 << 30
"""Most bytes of rows in one segment: a column of texts in one Arrow batch holds less than 2 GiB."""


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """Settings of a query that writes channels."""

    producer: str
    epoch: int
    outputs: tuple[Output, ...]
    provenance: Provenance
    ingest: str = INGEST_INPUTS
    """Source of ingest times: the inputs' manifests, "now" (when the batch was planned), or a column."""
    continues: bool = True
    """Batch ids go on where the epoch before ended."""
    term: int = 0
    """Term of the owner of the run that started the query."""


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """Rows that one task wrote into one channel, as one segment."""

    segment: Segment | None = None
    earliest: int | None = None
    latest: int | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Rows that one task wrote, by output, and their ages. A task with very many bytes has several results."""

    written: tuple[TaskOutput, ...]
    ingest: IngestHistogram

    @property
    def rows(self) -> int:
        """Rows it was given: every output gets all of them."""
        segment = self.written[0].segment
        return 0 if segment is None else sum(segment.rows.values())


class ChannelWriter:
    """Writes rows in tasks and publishes them when all tasks of a batch are done."""

    def __init__(self, writing: WriteSettings) -> None:
        self._writing = writing
        self._channels = tuple(open_channel(output.path) for output in writing.outputs)

    def declare(self, now_ms: int) -> None:
        """Opens the epoch in every channel, so that consumers wait for this producer. Raises Fenced if it is over."""
        for channel in self._channels:
            self._open(channel, now_ms)

    def write(
        self, batches: Iterable[pa.RecordBatch], turn: int, now_ms: int, *, most_bytes: int = MOST_BYTES
    ) -> list[TaskResult]:
        """Stages the rows of one task durably, in as many segments as they need; readers do not see them yet."""
        return [self._stage(table, turn, now_ms) for table in _tables(batches, most_bytes)]

    def _stage(self, table: pa.Table, turn: int, now_ms: int) -> TaskResult:
        rows = table.select(stored_columns(table.column_names, self._writing.outputs))
        written = []
        for output, channel in zip(self._writing.outputs, self._channels, strict=True):
            groups = groups_of(table, output, channel.spec, turn)
            segment = channel.producers.stage(self._writing.producer, self._writing.epoch, rows, groups)
            written.append(TaskOutput(segment, *_time_range(rows, channel.spec.event_time)))
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

    def _open(self, channel: Channel, now_ms: int) -> ChannelProducer:
        writing = self._writing
        claim = EpochClaim(writing.producer, writing.epoch, writing.term, writing.continues)
        return channel.producers.open(claim, now_ms)

    def _ages(self, rows: pa.Table, now_ms: int) -> IngestHistogram:
        if self._writing.ingest == INGEST_INPUTS:
            return IngestHistogram()
        if self._writing.ingest == INGEST_NOW:
            return IngestHistogram(1, {now_ms: rows.num_rows})
        times = event_times(rows, self._writing.ingest)
        return IngestHistogram.of((times[times > NEVER] // 1000).tolist())


def _tables(batches: Iterable[pa.RecordBatch], most_bytes: int) -> Iterator[pa.Table]:
    """All rows in their order, as tables of at most so many bytes; a batch that has more is a table of its own."""
    kept: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if kept and size + batch.nbytes > most_bytes:
            yield pa.Table.from_batches(kept)
            kept, size = [], 0
        if batch.num_rows:
            kept.append(batch)
            size += batch.nbytes
    if kept:
        yield pa.Table.from_batches(kept)


def _time_range(rows: pa.Table, column: str | None) -> tuple[int | None, int | None]:
    """(least, greatest) event time, None if there is none."""
    if column is None:
        return None, None
    times = event_times(rows, column)
    known = times[times > NEVER]
    return (int(known.min()), int(known.max())) if len(known) else (None, None)
