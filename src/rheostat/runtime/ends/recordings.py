"""Files of recorded rows, read from any position, in the order of recording. Independent of Spark.

A position is a file's number and the place in it: a byte in a text file, a row in a Parquet file. So a stream can
continue from an offset without reading the rows before it. A recording is complete: its files neither grow nor change.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class Place:
    """Position between two rows of a recording."""

    file: int = 0
    at: int = 0


class RecordedFiles(ABC):
    """Rows in one or more files, in the order of the file names."""

    def __init__(self, path: str) -> None:
        self.files = _files(path)

    def times(self, place: Place) -> Iterator[tuple[Place, int | None]]:
        """For every row from a position on: the position after it and its event time (None if it has none)."""
        for number in range(place.file, len(self.files)):
            yield from self._times(number, place.at if number == place.file else 0)

    @abstractmethod
    def rows(self, place: Place, count: int) -> Any:
        """`count` rows from a position on."""

    @abstractmethod
    def _times(self, number: int, at: int) -> Iterator[tuple[Place, int | None]]: ...


class TextRecording(RecordedFiles):
    """Recording with one row per line; blank lines are skipped."""

    def __init__(self, path: str, *, header: bool = False) -> None:
        super().__init__(path)
        self._header = header

    @abstractmethod
    def time_of(self, line: str) -> int | None:
        """The event time of a line."""

    def rows(self, place: Place, count: int) -> list[str]:
        """`count` lines from a position on."""
        lines = (line for number in range(place.file, len(self.files)) for _, line in self._lines(number, place))
        return list(islice(lines, count))

    def _times(self, number: int, at: int) -> Iterator[tuple[Place, int | None]]:
        return ((end, self.time_of(line)) for end, line in self._lines(number, Place(number, at)))

    def _lines(self, number: int, place: Place) -> Iterator[tuple[Place, str]]:
        at = place.at if number == place.file else 0
        with self.files[number].open("rb") as file:
            file.seek(at)
            for raw in file:
                first, at = at == 0, at + len(raw)
                line = raw.decode("utf-8", "replace").rstrip("\r\n")
                if line and not (first and self._header):
                    yield Place(number, at), line


class CsvRecording(TextRecording):
    """Recording in CSV; a line break inside a value is not supported."""

    def __init__(self, path: str, column: int, *, header: bool = False) -> None:
        super().__init__(path, header=header)
        self._column = column

    def time_of(self, line: str) -> int | None:
        """The value of the event-time column."""
        values = line.split(",", self._column + 1)
        return micros(values[self._column].strip().strip('"')) if len(values) > self._column else None


class JsonRecording(TextRecording):
    """Recording with one JSON object per line."""

    def __init__(self, path: str, field: str) -> None:
        super().__init__(path)
        self._field = field

    def time_of(self, line: str) -> int | None:
        """The value of the event-time field."""
        try:
            return micros(json.loads(line)[self._field])
        except (ValueError, KeyError, TypeError):
            return None


class ParquetRecording(RecordedFiles):
    """Recording in Parquet."""

    def __init__(self, path: str, column: str) -> None:
        super().__init__(path)
        self._column = column

    @property
    def schema(self) -> pa.Schema:
        """Columns and their types."""
        return pq.read_schema(self.files[0])

    def rows(self, place: Place, count: int) -> pa.Table:
        """`count` rows from a position on, as a table."""
        parts: list[pa.Table] = []
        for number in range(place.file, len(self.files)):
            at = place.at if number == place.file else 0
            for first, group in _groups(self.files[number]):
                wanted = count - sum(part.num_rows for part in parts)
                low = max(at - first, 0)
                if wanted > 0 and low < group.rows:
                    parts.append(group.table().slice(low, wanted))
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def _times(self, number: int, at: int) -> Iterator[tuple[Place, int | None]]:
        for first, group in _groups(self.files[number]):
            if first + group.rows <= at:
                continue
            for row, value in enumerate(group.table(self._column).column(0).to_pylist()):
                if first + row >= at:
                    yield Place(number, first + row + 1), micros(value)


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group of a Parquet file."""

    path: Path
    number: int
    rows: int

    def table(self, *columns: str) -> pa.Table:
        """The rows of the group."""
        return _open(self.path).read_row_group(self.number, columns=list(columns) or None)


def _groups(path: Path) -> Iterator[tuple[int, _Group]]:
    """(first row, group) of every row group."""
    first, metadata = 0, _open(path).metadata
    for number in range(metadata.num_row_groups):
        rows = metadata.row_group(number).num_rows
        yield first, _Group(path, number, rows)
        first += rows


@lru_cache(maxsize=4)
def _open(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path)


def micros(value: Any) -> int | None:
    """Microseconds since 1970 of a date and time in ISO form (by default in UTC), or of seconds.

    >>> micros("1970-01-01 00:01:00"), micros(1.5), micros("soon")
    (60000000, 1500000, None)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return round(value * 1_000_000)
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _files(path: str) -> Sequence[Path]:
    """The file, or the visible files of a folder by name."""
    place = Path(path)
    files = sorted(file for file in place.iterdir() if file.name[0] not in "._") if place.is_dir() else [place]
    if not files or not all(file.is_file() for file in files):
        raise FileNotFoundError(f"there is no recording at {path}")
    return files
