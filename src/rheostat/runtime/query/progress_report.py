"""Reader of Spark's progress reports that drops reports already counted.

Reports overlap from call to call: Spark returns its last hundred every time. `CountedBatches` passes every batch
through once. A report of a trigger that ran nothing is no batch.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

NUMBERS_REMEMBERED = 1000
"""Batch numbers remembered to recognise repetitions; Spark repeats its last hundred reports."""
SIZE_ON_DISK = "rocksdbSstFileSize"


@dataclass(frozen=True, slots=True)
class CodeTime:
    """Time inside an operator's own code."""

    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    by_partition: tuple[float, ...] = ()
    """Wall time of each partition: they run in parallel, and the longest decides."""


@dataclass(frozen=True, slots=True)
class SourceRead:
    """Rows that a batch read from one source."""

    rows: int
    start: str = ""
    """Offset before the batch, as text; empty if there was none."""
    end: str = ""
    behind: int | None = None
    """Rows available at the end of the batch and not read; None if the source does not report it."""
    channel: str = ""
    """Name of the channel, if the source is one. Spark reports reads in the order of its plan, not of the inputs."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """Report of one completed micro-batch."""

    query: str
    """Identity of the query, which outlives restarts: a repeated batch has the same number again."""
    number: int
    start_seconds: float
    """Wall time at which it was planned: it holds the rows that had arrived by then."""
    duration_ms: float
    """Milliseconds from the trigger to the commit."""
    work_ms: float
    """Part of the duration spent reading, computing and writing; the rest is planning and logging."""
    counted: Mapping[str, int]
    """Rows by name of the observation."""
    reads: tuple[SourceRead, ...] = ()
    written: int | None = None
    """Rows given to the sink; None if the sink does not report it."""
    state_rows: int | None = None
    """Rows in the state store after the batch; None without state."""
    late_rows: int = 0
    """Rows dropped by a watermark."""
    state_bytes: int | None = None
    """Size of the state: of its files, or of the memory until there are files."""
    own_code: Mapping[str, CodeTime] = field(default_factory=dict)
    """Time in the Python code of the operators that have any."""

    stages_ms: Mapping[str, float] = field(default_factory=dict)
    """Time of each stage of the batch, by Spark's names."""

    @property
    def end_seconds(self) -> float:
        """Time of the commit."""
        return self.start_seconds + self.duration_ms / 1000

    @property
    def behind(self) -> int | None:
        """Rows available at all sources and not yet read; None if one of the sources does not report it."""
        parts = [read.behind for read in self.reads]
        return None if not parts or None in parts else sum(part for part in parts if part is not None)

    @property
    def rows_read(self) -> int:
        """Rows read from all sources."""
        return sum(read.rows for read in self.reads)

    def read_of(self, channel: str) -> SourceRead | None:
        """The read of a channel; None if the batch does not read it."""
        return next((read for read in self.reads if read.channel == channel), None)

    def rows(self, observation: str) -> int | None:
        """Rows that passed an observation; None if it is not known.

        Spark leaves out what it optimised away: observations behind inputs that were empty.
        """
        found = self.counted.get(observation)
        return 0 if found is None and self.rows_read == 0 else found


def read_batch(report: Mapping[str, Any]) -> BatchReport | None:
    """The batch of a report; None if its trigger ran nothing."""
    durations = report.get("durationMs") or {}
    if "addBatch" not in durations:
        return None
    states = report.get("stateOperators") or []
    return BatchReport(
        query=str(report["id"]),
        number=int(report["batchId"]),
        start_seconds=datetime.fromisoformat(report["timestamp"]).timestamp(),
        duration_ms=float(durations.get("triggerExecution", durations["addBatch"])),
        work_ms=float(durations["addBatch"]),
        counted={name: _count(value) for name, value in (report.get("observedMetrics") or {}).items()},
        reads=tuple(
            SourceRead(
                int(source["numInputRows"]),
                _text(source.get("startOffset")),
                _text(source.get("endOffset")),
                rows_between(source.get("endOffset"), source.get("latestOffset")),
                _channel(source.get("endOffset")),
            )
            for source in report.get("sources") or []
        ),
        written=_written(report.get("sink") or {}),
        state_rows=sum(int(state["numRowsTotal"]) for state in states) if states else None,
        late_rows=sum(int(state.get("numRowsDroppedByWatermark", 0)) for state in states),
        state_bytes=sum(_state_bytes(state) for state in states) if states else None,
        stages_ms={name: float(value) for name, value in durations.items()},
        own_code={
            name: CodeTime(wall, cpu, tuple(parts))
            for name, (wall, cpu, parts) in (report.get("ownCode") or {}).items()
        },
    )


def _count(observed: Any) -> int:
    """The count in an observation: a row with one column, in JSON an object or a list."""
    return int(observed["rows"] if isinstance(observed, Mapping) else observed[0])


def rows_between(end: Any, latest: Any) -> int | None:
    """Rows from `end` to `latest`, if both offsets count rows: as one number, or one per part of a source.

    >>> rows_between({"clicks": {"0": 10, "1": 20}}, {"clicks": {"0": 15, "1": 20}})
    5
    >>> rows_between({"rows": 10}, None)
    """
    if isinstance(end, str) and isinstance(latest, str):
        with suppress(ValueError):
            return rows_between(json.loads(end), json.loads(latest))
        return None
    if isinstance(end, Mapping) and isinstance(latest, Mapping) and end.keys() == latest.keys():
        parts = [rows_between(end[key], latest[key]) for key in end]
        return None if None in parts else sum(part for part in parts if part is not None)
    if isinstance(end, int) and isinstance(latest, int):
        return max(0, latest - end)
    return None


def _channel(offset: Any) -> str:
    """Name of the channel in an offset."""
    return str(offset.get("channel", "")) if isinstance(offset, Mapping) else ""


def _written(sink: Mapping[str, Any]) -> int | None:
    """Rows written; None for a sink that does not count, for which Spark reports -1."""
    rows = int(sink.get("numOutputRows", -1))
    return rows if rows >= 0 else None


def _text(offset: Any) -> str:
    """An offset as text; Spark embeds a JSON offset in its own JSON unchanged."""
    return offset if isinstance(offset, str) else "" if offset is None else json.dumps(offset)


def _state_bytes(state: Mapping[str, Any]) -> int:
    """Size on disk; a state that was never written out is in memory only."""
    on_disk = int((state.get("customMetrics") or {}).get(SIZE_ON_DISK, 0))
    return on_disk if on_disk > 0 else int(state.get("memoryUsedBytes", 0))


@dataclass(slots=True)
class CountedBatches:
    """Batches of an instance that were counted already."""

    _counted: dict[str, set[int]] = field(default_factory=dict)

    def take_new(self, batches: Iterable[BatchReport]) -> list[BatchReport]:
        """Batches not returned by an earlier call, oldest first. Each is returned once, even if reports overlap."""
        found = []
        for batch in batches:
            if batch.number not in self._counted.setdefault(batch.query, set()):
                self._counted[batch.query].add(batch.number)
                found.append(batch)
        for query, numbers in self._counted.items():
            if len(numbers) > 2 * NUMBERS_REMEMBERED:
                self._counted[query] = set(sorted(numbers)[-NUMBERS_REMEMBERED:])
        return sorted(found, key=lambda batch: (batch.start_seconds, batch.number))

    def last(self) -> int:
        """The greatest batch number so far, -1 before the first."""
        return max((number for numbers in self._counted.values() for number in numbers), default=-1)
