"""A tiny log with a position per key group, as a Python data source: its offset is {"<group>": segments read}."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType
from tests.runtime.checkpoints.rounds import Row


def append(log: Path, group: int, rows: Sequence[Row]) -> None:
    """Adds a segment to a key group's log."""
    folder = log / str(group)
    folder.mkdir(parents=True, exist_ok=True)
    segment = folder / f"{len(list(folder.iterdir()))}.json"
    segment.write_text(json.dumps([(row.key, row.value) for row in rows]))


class Segments(InputPartition):
    def __init__(self, paths: list[str]) -> None:
        super().__init__(0)
        self.paths = paths


class LogReader(DataSourceStreamReader):
    def __init__(self, options: dict[str, str]) -> None:
        self.log, self.groups = options["path"], options["groups"].split(",")

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return dict.fromkeys(self.groups, 0)

    def latestOffset(self, start: dict[str, int] | None = None, limit: Any = None) -> dict[str, int]:  # noqa: N802, ARG002
        return {group: len(list(Path(self.log, group).glob("*"))) for group in self.groups}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Segments]:  # type: ignore[override]
        paths = [f"{self.log}/{group}/{n}.json" for group in end for n in range(start.get(group, 0), end[group])]
        return [Segments(paths)]

    def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
        for path in partition.paths:
            yield from (tuple(row) for row in json.loads(Path(path).read_text()))

    def commit(self, end: dict[str, int]) -> None:
        pass


class LogSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "grouped_log"

    def schema(self) -> str:
        return "k string, v bigint"

    def streamReader(self, schema: StructType) -> LogReader:  # noqa: N802, ARG002
        return LogReader(dict(self.options))


def offset_for(groups: frozenset[int]) -> Any:
    """Joins the parents' positions and keeps those of the child's groups."""

    def edit(_: int, parents: Sequence[str | None]) -> str:
        positions = {group: at for text in parents if text for group, at in json.loads(text).items()}
        return json.dumps({group: at for group, at in sorted(positions.items()) if int(group) in groups})

    return edit
