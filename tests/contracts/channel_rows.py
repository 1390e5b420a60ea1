"""Rows, batches and reads in the contract of channels."""

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from rheostat.runtime.channels.port.channel import Channel, ProducedBatch
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import KEY_GROUP, read_strands

GROUPS = 4
LATER = 10**15
"""A time in ms at which everything is old."""
Written = tuple[int, int]
"""(number, key group) of a row."""

names = st.sampled_from(["count@n1", "count@n2", "sum@n1"])
batches = st.lists(st.lists(st.integers(0, GROUPS - 1), max_size=5), min_size=1, max_size=8)
"""Key groups of the rows of each batch; rows are numbered through."""
# Every example makes a channel of its own, and examples come from no database that two implementations could share.
laws = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]
)


def rows_of(plan: list[list[int]]) -> list[list[Written]]:
    """The rows of each batch."""
    numbers = iter(range(sum(map(len, plan))))
    return [[(next(numbers), group) for group in batch] for batch in plan]


def table(rows: list[Written]) -> tuple[pa.Table, np.ndarray]:
    return pa.table({"number": pa.array([number for number, _ in rows], pa.int64())}), np.array(
        [group for _, group in rows], np.int64
    )


def stage(channel: Channel, producer: str, epoch: int, rows: list[Written]):
    return channel.producers.stage(producer, epoch, *table(rows))


def publish(channel: Channel, producer, number: int, rows: list[Written], *, frontier: int = NEVER, now_ms: int = 0):
    segment = stage(channel, producer.name, producer.epoch, rows)
    return producer.publish(ProducedBatch(number, (segment,) if segment else (), frontier), now_ms)


def start(channel: Channel, groups: frozenset[int] | None = None) -> Offset:
    return Offset.start(channel.spec.name, channel.spec.all_groups if groups is None else groups)


def read(channel: Channel, begin: Offset, max_rows: int | None = None) -> tuple[Offset, list[Written]]:
    """One batch of a reader: its end, and its rows with the key group that they are labelled with."""
    log = channel.log()
    end = advance(log, begin, max_rows)
    strands = [strand for part in partitions(log, begin, end, 2) for strand in part]
    pieces = read_strands(strands, log.fetch, None, labelled=True)
    return end, [(row["number"], row[KEY_GROUP]) for piece in pieces for row in piece.to_pylist()]


def everything(channel: Channel) -> list[Written]:
    return sorted(read(channel, start(channel))[1])
