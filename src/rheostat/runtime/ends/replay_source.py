"""Replay source: a recording played back by its event time, at its original speed or a multiple of it.

```python
def trips(spark, path):
    return replay(spark, path=path, form="csv", event_time="3", speed_up=60)  # columns ts, line

def clicks(spark, path):
    return replay(spark, path=path, form="json", event_time="at", schema="user string, at timestamp", copies=5,
                  surrogates="user")
```

Text is parsed by Spark's own `from_csv` and `from_json`: what cannot be read is null.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import IntegerType, StringType, StructType, TimestampType

from rheostat.runtime.ends.pace import limits_of
from rheostat.runtime.ends.playback import Playback, PlaybackStretch, ReplayPosition
from rheostat.runtime.ends.recordings import CsvRecording, JsonRecording, ParquetRecording, RecordedFiles
from rheostat.runtime.spark.data_sources import register

FORMAT = "rheostat-replay"
TIME, LINE, COPY = "ts", "line", "__copy"
"""Columns that the source adds: event time, text line, and number of the copy of an amplified row."""


def replay(
    spark: SparkSession,
    *,
    path: str,
    form: str,
    event_time: str,
    schema: str = "",
    surrogates: str = "",
    **options: str | float | bool,
) -> DataFrame:
    """A streaming DataFrame of recorded rows in the order of their event time.

    `form` is csv, json or parquet. `event_time` names the column (CSV without a schema: its number, the first is 0).
    With a `schema`, or from Parquet, its columns, the event time replaced by that of the replay; else `ts` and `line`.
    `surrogates` names columns (CSV without a schema: numbers) that get a mark in all copies but the first. Options:
    `header`, `speed_up`, `copies`, `seed`, `total`, `pace`, `rows_per_batch`, `replicas`; see `playback` and `pace`.
    """
    texts = {name: str(value) for name, value in options.items()}
    column = _column_number(event_time, schema) if form == "csv" else event_time
    texts.update(path=path, form=form, event_time=str(column))
    playback_of(texts)  # reports mistakes here, not in a query that fails
    register(spark, ReplaySource)
    frame = spark.readStream.format(FORMAT).options(**texts).load()
    marked = [name.strip() for name in surrogates.split(",") if name.strip()]
    if form == "parquet":
        return _replaced(frame, event_time, marked)
    if not schema:
        return frame.select(TIME, _marked_line(marked).alias(LINE))
    parse = F.from_csv if form == "csv" else F.from_json
    parsed = frame.select(TIME, COPY, parse(LINE, schema).alias("row")).select(TIME, COPY, "row.*")
    return _replaced(parsed, event_time, marked)


def playback_of(options: dict[str, str]) -> Playback:
    """The playback for the options of the data source."""
    return Playback(
        _recording(options),
        limits_of(options),
        float(options.get("speed_up", "1")),
        int(options.get("copies", "1")),
        int(options.get("seed", "0")),
    )


def _recording(options: dict[str, str]) -> RecordedFiles:
    path, column = options["path"], options["event_time"]
    match options["form"]:
        case "csv":
            return CsvRecording(path, int(column), header=options.get("header", "False").lower() == "true")
        case "json":
            return JsonRecording(path, column)
        case "parquet":
            return ParquetRecording(path, column)
    raise ValueError(f"a recording is csv, json or parquet, not {options['form']!r}")


def _column_number(event_time: str, schema: str) -> int:
    if event_time.isdigit():
        return int(event_time)
    fields = StructType.fromDDL(schema)
    if not (isinstance(fields, StructType) and event_time in fields.fieldNames()):
        raise ValueError(f"{event_time!r} is not a column of {schema!r}")
    return fields.fieldNames().index(event_time)


def _surrogate(column: Column, copy: Column) -> Column:
    return F.when(copy > 0, F.concat(column.cast("string"), F.lit("~"), copy.cast("string"))).otherwise(column)


def _marked_line(places: Sequence[str]) -> Column:
    if not places:
        return F.col(LINE)
    numbers = [int(place) for place in places]

    def mark(value: Column, place: Column) -> Column:
        return F.when(place.isin(numbers), _surrogate(value, F.col(COPY))).otherwise(value)

    return F.array_join(F.transform(F.split(F.col(LINE), ","), mark), ",")


def _replaced(frame: DataFrame, event_time: str, marked: Sequence[str]) -> DataFrame:
    """The frame with the times of the replay and marked surrogates, without helper columns; surrogates are strings."""
    names = [name for name in frame.columns if name not in (TIME, COPY) or name == event_time]
    columns = {event_time: F.col(TIME)} | {name: _surrogate(F.col(name), F.col(COPY)) for name in marked}
    return frame.select(*(columns.get(name, F.col(name)).alias(name) for name in names))


class ReplaySource(DataSource):
    """Data source of a recording; `replay` creates it."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns of the recording and of the source."""
        own = StructType().add(TIME, TimestampType())
        recording = playback_of(dict(self.options)).recording
        if not isinstance(recording, ParquetRecording):
            return own.add(LINE, StringType()).add(COPY, IntegerType())
        recorded = from_arrow_schema(recording.schema)
        for field in recorded.fields:
            if field.name != TIME:
                own.add(field)
        return own.add(COPY, IntegerType())

    def streamReader(self, schema: StructType) -> "ReplayStream":  # noqa: N802 - Spark's name
        """Reader of a stream."""
        return ReplayStream(playback_of(dict(self.options)), schema)


@dataclass
class ReplayPart(InputPartition):
    """Input partition of one task."""

    stretch: PlaybackStretch


class ReplayStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of recorded rows as they become due."""

    def __init__(self, playback: Playback, schema: StructType) -> None:
        self._playback, self._schema = playback, schema
        self._bounded_at_ms: int | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The offset of the start: before the first row, now."""
        return self._playback.beginning(_now_ms()).to_document()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Limit of recorded rows per batch."""
        limit = self._playback.limits.rows_per_batch
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Restricts the stream to the rows that are due now."""
        self._bounded_at_ms = _now_ms()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Offset at which the next batch ends; the same document if no row is due."""
        max_rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        now_ms = self._bounded_at_ms if self._bounded_at_ms is not None else _now_ms()
        here = ReplayPosition.from_document(start)
        end = self._playback.advance(here, now_ms, max_rows)
        return start if end.rows == here.rows else end.to_document()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The rows of a batch, in as many partitions as there are replicas."""
        stretches = self._playback.stretches(ReplayPosition.from_document(start), ReplayPosition.from_document(end))
        return [ReplayPart(stretch) for stretch in stretches]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition."""
        if not isinstance(partition, ReplayPart):
            raise TypeError(f"not a part of a replay: {partition}")
        stretch, copies = partition.stretch, self._playback.copies
        found = self._playback.recording.rows(stretch.spot.place, stretch.rows)
        recorded = found if isinstance(found, pa.Table) else pa.table({LINE: pa.array(found, pa.string())})
        table = recorded.take(pa.array(np.repeat(np.arange(recorded.num_rows), copies)))
        columns = {name: table.column(name) for name in table.column_names}
        columns[TIME] = pa.chunked_array([pa.array(self._playback.times(stretch), pa.int64())])
        columns[COPY] = pa.chunked_array([pa.array(np.tile(np.arange(copies), recorded.num_rows))])
        wanted = to_arrow_schema(self._schema, timezone="UTC")
        arrays = [columns[field.name].cast(field.type) for field in wanted]
        yield from pa.Table.from_arrays(arrays, schema=wanted).combine_chunks().to_batches()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
