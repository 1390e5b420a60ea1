"""A small world around a channel: rows with a name, producers that repeat batches exactly, and a disk that dies."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.log.producer import ProducedBatch, Producer, open_producer
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.records.channel import Channel, create_channel
from rheostat.runtime.channels.records.disk import TEMPORARY, Disk
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import event_times, read_strands, write_segment


class Died(BaseException):
    """The process is gone: nothing may catch it."""


class MortalDisk(Disk):
    """Dies before its n-th step, and stays dead; a file that was being written is left torn."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self, what: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise Died(what)

    def _draft(self, path: Path, content: bytes, *, durable: bool) -> Path:
        if self.left == 0:
            (path.parent / f"{TEMPORARY}torn{id(content)}").write_bytes(content[: len(content) // 2])
        return super()._draft(path, content, durable=durable)


@dataclass(frozen=True)
class Row:
    producer: str
    number: int
    group: int
    time: int | None = 0


SCHEMA = pa.schema(
    [("producer", pa.string()), ("number", pa.int64()), ("group", pa.int64()), ("time", pa.timestamp("us"))]
)


def channel_at(path: Path, groups: int = 4, event_time: str | None = None) -> Channel:
    return create_channel(Channel(path, "c", groups, event_time), Disk())


def table_of(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"producer": r.producer, "number": r.number, "group": r.group, "time": r.time} for r in rows], schema=SCHEMA
    )


def rows_in(batches: Iterable[pa.RecordBatch]) -> list[Row]:
    found = []
    for batch in batches:
        times = event_times(batch, "time").tolist()
        for row, time in zip(batch.select(["producer", "number", "group"]).to_pylist(), times, strict=True):
            found.append(Row(row["producer"], row["number"], row["group"], time))
    return found


def opened(channel: Channel, name: str, epoch: int = 1, disk: Disk | None = None, **how: object) -> Producer:
    return open_producer(DiskLog(channel), disk or Disk(), name, epoch, **how)  # type: ignore[arg-type]


def publish(
    channel: Channel,
    producer: Producer,
    number: int,
    rows: list[Row],
    *,
    frontier: int = NEVER,
    disk: Disk | None = None,
    now_ms: int = 0,
) -> bool:
    """One batch as a writer does it: segment first, manifest after. Broadcast if a row's group is -1."""
    groups = None if rows and rows[0].group < 0 else np.array([row.group for row in rows], np.int64)
    folder = channel.segments(producer.name, producer.epoch)
    segment = write_segment(folder, table_of(rows), groups, disk or Disk())
    times = [row.time for row in rows if row.time is not None]
    return producer.publish(
        ProducedBatch(
            number,
            (segment,) if segment else (),
            frontier,
            min(times) if channel.event_time and times else None,
            max(times) if channel.event_time and times else None,
        ),
        now_ms,
    )


def rows_between(channel: Channel, start: Offset, end: Offset, replicas: int = 2) -> list[Row]:
    """What a reader is handed, in order of the partitions."""
    log = DiskLog(channel)
    return [
        row
        for part in partitions(log, start, end, replicas)
        for row in rows_in(read_strands(part, channel.event_time, labelled=False))
    ]
