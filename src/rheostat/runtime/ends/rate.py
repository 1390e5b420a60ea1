"""Rate source: a stream of generated rows at a rate that follows a curve.

```python
def sentences(spark, **parameters):
    return rate(spark, rows="examples.word_count.sentences:sentence", schema="text string", **parameters)
```

The offset is the number of rows and the wall-clock time of the first start: `{"rows": 120, "started_ms": 1700000000}`.
While the source is paused the curve goes on; the rows that became due meanwhile are delivered afterwards.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from rheostat.runtime.ends.generation import Generation, generation_of
from rheostat.runtime.ends.pace import batch_end, even_parts
from rheostat.runtime.spark.data_sources import register

FORMAT = "rheostat-rate"
ROWS_PER_ARROW_BATCH = 10_000


def rate(
    spark: SparkSession, *, rows: str, schema: str, curve: str = "100", **options: str | float | bool
) -> DataFrame:
    """A streaming DataFrame of generated rows.

    `rows` is the import path of a generator, `schema` the schema of its results, `curve` is explained in `rate_curve`.
    Options: `event_time` (name of a timestamp column to put first), `origin_us`, `speed_up`, `step_ms`,
    `closing_gap_seconds`, `seed`, `total`, `pace` ("clock" or "all"), `rows_per_batch`, `replicas`; see `generation`
    and `pace`.
    """
    return spark.readStream.format(_registered(spark)).options(**_texts(rows, schema, curve, options)).load()


def rate_batch(
    spark: SparkSession, *, rows: str, schema: str, curve: str = "100", **options: str | float | bool
) -> DataFrame:
    """The same rows as a batch DataFrame; the stream must have an end."""
    return spark.read.format(_registered(spark)).options(**_texts(rows, schema, curve, options)).load()


def _registered(spark: SparkSession) -> str:
    return register(spark, RateSource)


def _texts(rows: str, schema: str, curve: str, options: dict[str, str | float | bool]) -> dict[str, str]:
    texts = {name: str(value) for name, value in options.items()}
    texts.update(rows=rows, schema_ddl=schema, curve=str(curve))
    generation_of(texts)  # reports mistakes here, not in a query that fails
    return texts


class RateSource(DataSource):
    """Data source of generated rows; `rate` creates it."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """The event-time column, if any, then the columns of the generator."""
        column = self.options.get("event_time")
        return f"`{column}` timestamp, {self.options['schema_ddl']}" if column else self.options["schema_ddl"]

    def streamReader(self, schema: StructType) -> "RateStream":  # noqa: N802 - Spark's name
        """Reader of a stream."""
        return RateStream(generation_of(dict(self.options)), schema)

    def reader(self, schema: StructType) -> "RateBatch":
        """Reader of a batch."""
        return RateBatch(generation_of(dict(self.options)), schema)


@dataclass
class RowRange(InputPartition):
    """Input partition with the rows [start, end)."""

    start: int
    end: int


class RateBatch(DataSourceReader):
    """Reader of all rows as a batch."""

    def __init__(self, generation: Generation, schema: StructType) -> None:
        self._generation, self._schema = generation, schema

    def partitions(self) -> Sequence[InputPartition]:
        """All rows, in as many partitions as there are replicas."""
        return [RowRange(*part) for part in even_parts(0, int(self._generation.end), self._generation.limits.replicas)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition."""
        return _arrow(self._generation, self._schema, partition)


class RateStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of rows as they become due."""

    def __init__(self, generation: Generation, schema: StructType) -> None:
        self._generation, self._schema = generation, schema
        self._bounded = False
        self._bound: int | None = None
        self._seen: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The offset of the start: no rows, now."""
        return {"rows": 0, "started_ms": _now_ms()}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Limit of rows per batch."""
        limit = self._generation.limits.rows_per_batch
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Restricts the stream to the rows that are due when the first batch is planned."""
        self._bounded = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Offset at which the next batch ends; the same document if there is nothing new."""
        self._seen = start
        available = self._generation.reachable(_elapsed_seconds(start), start["rows"])
        if self._bounded:
            self._bound = self._available(start) if self._bound is None else self._bound
            available = min(available, self._bound)
        end = batch_end(start["rows"], available, limit.max_rows if isinstance(limit, ReadMaxRows) else None)
        return start if end == start["rows"] else {**start, "rows": end}

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Offset of the rows that are due, from which Spark computes the lag."""
        return None if self._seen is None else {**self._seen, "rows": self._available(self._seen)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The rows of a batch, in as many partitions as there are replicas."""
        return [RowRange(*part) for part in even_parts(start["rows"], end["rows"], self._generation.limits.replicas)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition."""
        return _arrow(self._generation, self._schema, partition)

    def _available(self, start: dict[str, Any]) -> int:
        return self._generation.available(_elapsed_seconds(start), start["rows"])


def _arrow(generation: Generation, schema: StructType, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    if not isinstance(partition, RowRange):
        raise TypeError(f"not a part of a rate source: {partition}")
    fields = to_arrow_schema(schema, timezone="UTC")
    for start in range(partition.start, partition.end, ROWS_PER_ARROW_BATCH):
        made = list(generation.rows(start, min(start + ROWS_PER_ARROW_BATCH, partition.end)))
        columns = [list(column) for column in zip(*(values for _, values in made), strict=True)]
        if generation.clockwork is not None:
            columns.insert(0, [event_time for event_time, _ in made])
        arrays = [pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=fields)


def _elapsed_seconds(start: dict[str, Any]) -> float:
    return (_now_ms() - int(start["started_ms"])) / 1000


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
