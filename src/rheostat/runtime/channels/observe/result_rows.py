"""Rows that the results sink has received: a channel read in the order of publication, and never cleaned."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rheostat.runtime.channels.port.channel import Channel, ChannelLog
from rheostat.runtime.channels.port.places import last_epoch
from rheostat.runtime.channels.records.manifest import ManifestKind
from rheostat.runtime.channels.records.segment import GroupRun


@dataclass(frozen=True)
class ResultPart:
    """A segment of results, as it was published."""

    log: ChannelLog
    place: GroupRun
    published_ms: int

    @property
    def rows(self) -> int:
        """Number of its rows."""
        return self.place.rows

    def read(self) -> pa.Table:
        """Its rows. On disk they are mapped: only what is looked at is read."""
        return pa.Table.from_batches(list(self.log.fetch([self.place])))

    def schema(self) -> pa.Schema:
        """Its columns."""
        return self.read().schema


def published(channel: Channel) -> list[ResultPart]:
    """All parts in the order of publication."""
    log = channel.log()
    found = []
    for producer in log.producers():
        for epoch in range(1, (last_epoch(log, producer) or 0) + 1):
            for slot in log.slots(producer, epoch):
                manifest = log.entry(producer, epoch, slot)
                if manifest is not None and manifest.kind is ManifestKind.BATCH:
                    counts = [(one.name, sum(one.rows.values())) for one in manifest.segments]
                    runs = [GroupRun(producer, epoch, name, 0, rows, ()) for name, rows in counts]
                    parts = [ResultPart(log, run, manifest.published_ms) for run in runs]
                    found.append((manifest.published_ms, producer, epoch, slot, parts))
    found.sort(key=lambda batch: batch[:4])
    return [part for *_, parts in found for part in parts]


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """One table of several; none has no columns."""
    # What may be null is concluded from the plan of a query: it differs between deployments.
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def read_results(channel: Channel) -> pa.Table:
    """All rows in the order they were published, each exactly once."""
    return together([part.read() for part in published(channel)])


def last_rows(parts: Sequence[ResultPart], rows: int) -> pa.Table:
    """The last so many rows; only the files that hold them are read."""
    found: list[pa.Table] = []
    for part in reversed(parts):
        if rows <= 0:
            break
        table = part.read()
        found.append(table.slice(max(0, table.num_rows - rows)))
        rows -= table.num_rows
    return together(found[::-1])


def latest_rows(parts: Sequence[ResultPart], columns: Sequence[str]) -> pa.Table:
    """The last row of every value of the columns, for sinks where later rows replace earlier ones."""
    return together([*_latest(parts, columns)][::-1])


def _latest(parts: Sequence[ResultPart], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Parts from the end, so that only values are remembered and not rows."""
    known: set[str] = set()
    for part in reversed(parts):
        table = part.read()
        # As texts: a window is a struct, which Python has no hash for, and not-a-number is not equal to itself.
        values = [repr(row) for row in table.select(columns).to_pylist()]
        standing = []
        for row in range(len(values) - 1, -1, -1):
            if values[row] not in known:
                known.add(values[row])
                standing.append(row)
        yield table.take(pa.array(standing[::-1], pa.int64()))
