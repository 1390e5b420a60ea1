"""A small world around a channel: rows with a name, producers that repeat batches exactly, and a disk that dies."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rheostat.machine.disk import TEMPORARY, Disk
from rheostat.runtime.channels.log.channel_folder import ChannelFolder
from rheostat.runtime.channels.log.disk_channel import DiskChannel
from rheostat.runtime.channels.port.backlog import must_wait
from rheostat.runtime.channels.port.channel import Channel, ChannelProducer, EpochClaim, ProducedBatch
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.reader.channel_reader import ChannelReader
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import event_times, read_strands


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


def channel_at(path: Path, groups: int = 4, event_time: str | None = None) -> DiskChannel:
    channel = DiskChannel(ChannelFolder(path, ChannelSpec("c", groups, event_time)))
    channel.create()
    return channel


def on(channel: Any, disk: Disk | None) -> Any:
    """The channel as a process with this disk has it; a channel that is not on disk has none that could die."""
    return replace(channel, disk=disk) if disk is not None and isinstance(channel, DiskChannel) else channel


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


def opened(channel: Channel, name: str, epoch: int = 1, disk: Disk | None = None, **how: Any) -> ChannelProducer:
    return on(channel, disk).producers.open(EpochClaim(name, epoch, **how))


def publish(
    channel: Channel,
    producer: ChannelProducer,
    number: int,
    rows: list[Row],
    *,
    frontier: int = NEVER,
    disk: Disk | None = None,
    now_ms: int = 0,
) -> bool:
    """One batch as a writer does it: segment first, manifest after. Broadcast if a row's group is -1."""
    groups = None if rows and rows[0].group < 0 else np.array([row.group for row in rows], np.int64)
    segment = on(channel, disk).producers.stage(producer.name, producer.epoch, table_of(rows), groups)
    times = [row.time for row in rows if row.time is not None] if channel.spec.event_time else []
    segments = (segment,) if segment else ()
    batch = ProducedBatch(number, segments, frontier, min(times, default=None), max(times, default=None))
    return producer.publish(batch, now_ms)


def rows_between(channel: Channel, start: Offset, end: Offset, replicas: int = 2) -> list[Row]:
    """What a reader is handed, in order of the partitions."""
    log = channel.log()
    return [
        row
        for part in partitions(log, start, end, replicas)
        for row in rows_in(read_strands(part, log.fetch, channel.spec.event_time, labelled=False))
    ]


def waits(channel: Channel, max_rows: int, producer: str | None = None) -> bool:
    """Whether a producer has to pause."""
    return must_wait(channel.log(), channel.consumers.committed(), max_rows, producer)


def turn(reader: ChannelReader, start: Offset, max_rows: int | None, now_ms: int) -> Offset:
    """One trigger of a reader, as Spark's source does it: acts first, then the answer."""
    reader.commit_progress(start, now_ms)
    reader.clean_if_due(now_ms)
    order = reader.order()
    if order.hold:
        reader.acknowledge_hold(order)
    return reader.next_offset(start, max_rows, now_ms, order)
