"""Rows on the disk: an Arrow file with one record batch, sorted by key group.

One sorted batch, not one batch per group: measured with 5,000 rows in 128 groups, the file is a quarter smaller,
written 2.4 times and half of its groups read 12 times as fast, since neighbouring groups of an owner are one slice.
The file is mapped, so a reader touches only the pages of its own groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rheostat.runtime.channels.disk import Disk
from rheostat.runtime.channels.groups import EVERY
from rheostat.runtime.channels.manifest import NEVER, Segment

KEY_GROUP = "key_group"
"""Reserved column: a reader whose schema has it is told the key group of every row."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring rows of one segment."""

    path: str
    first: int
    rows: int
    labels: tuple[tuple[int, int], ...]
    """(key group, rows) of the parts, in order."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Rows to hand over in this order. With cuts: those of one producer and key group, as far as event time allows."""

    runs: tuple[Run, ...]
    before: int = 0
    """So many of the runs were looked at before."""
    from_cut: int | None = None
    """Of those, everything up to the last row at or below this event time was handed over before."""
    to_cut: int | None = None
    """Hand over up to the last row at or below this event time; None: all."""


def write_segment(folder: Path, table: pa.Table, groups: npt.NDArray[np.int64] | None, disk: Disk) -> Segment | None:
    """Writes the rows durably, `groups` naming the key group of each (None: broadcast). None if there are no rows."""
    if table.num_rows == 0:
        return None
    if groups is None:
        counts = {EVERY: table.num_rows}
    else:
        if not np.all(groups[:-1] <= groups[1:]):
            order = np.argsort(groups, kind="stable")
            table, groups = table.take(pa.array(order)), groups[order]
        names, sizes = np.unique(groups, return_counts=True)
        counts = dict(zip(names.tolist(), sizes.tolist(), strict=True))
    path = folder / f"{uuid4().hex}.arrow"
    disk.step("write segment")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_batch(table.combine_chunks().to_batches()[0])
    disk.sync_file(path)
    disk.sync_folder(folder)
    return Segment(path.name, path.stat().st_size, counts)


def read_strands(strands: Sequence[Strand], event_time: str | None, *, labelled: bool) -> Iterator[pa.RecordBatch]:
    """The rows of the strands, as few large pieces as there are different schemas; `labelled` adds the key group."""
    opened: dict[str, pa.RecordBatch] = {}
    for strand in strands:
        pieces = [_rows_of(run, opened, labelled=labelled) for run in strand.runs]
        if strand.from_cut is None and strand.to_cut is None:
            yield from pieces
            continue
        times = [event_times(piece, event_time or "") for piece in pieces]
        first = 0 if strand.from_cut is None else _rows_up_to(times[: strand.before], strand.from_cut)
        end = sum(map(len, times)) if strand.to_cut is None else _rows_up_to(times, strand.to_cut)
        yield from _between(pieces, first, end)


def event_times(rows: pa.RecordBatch | pa.Table, column: str) -> npt.NDArray[np.int64]:
    """The event times in microseconds; a row without one holds nobody back."""
    name, *inner = column.split(".")
    values = rows.column(name)
    if inner:
        values = pc.struct_field(values, inner)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64())
    elif pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    filled = pc.fill_null(values.cast(pa.int64()), NEVER)
    return np.asarray(filled.to_numpy(zero_copy_only=False) if isinstance(filled, pa.Array) else filled.to_numpy())


def _rows_of(run: Run, opened: dict[str, pa.RecordBatch], *, labelled: bool) -> pa.RecordBatch:
    if run.path not in opened:
        with pa.memory_map(run.path) as source:
            opened[run.path] = pa.ipc.open_file(source).get_batch(0)
    rows = opened[run.path].slice(run.first, run.rows)
    # Rows that carry a column of that name themselves (a partial result per key group, say) keep their own.
    if not labelled or KEY_GROUP in rows.schema.names:
        return rows
    groups, sizes = zip(*run.labels, strict=True)
    return rows.append_column(KEY_GROUP, pa.array(np.repeat(np.array(groups, np.int32), sizes)))


def _rows_up_to(times: Sequence[npt.NDArray[np.int64]], cut: int) -> int:
    """Number of rows up to the last one at or below the cut."""
    end = sum(map(len, times))
    for part in reversed(times):
        below = np.flatnonzero(part <= cut)
        if len(below):
            return end - len(part) + int(below[-1]) + 1
        end -= len(part)
    return 0


def _between(pieces: Sequence[pa.RecordBatch], first: int, end: int) -> Iterator[pa.RecordBatch]:
    at = 0
    for piece in pieces:
        low, high = max(first - at, 0), min(end - at, piece.num_rows)
        if low < high:
            yield piece.slice(low, high - low)
        at += piece.num_rows
