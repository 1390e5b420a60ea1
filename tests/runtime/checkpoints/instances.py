"""Runs instances of an operator over their key groups' part of a round of input."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from tests.runtime.checkpoints.kinds import Kind, Output, sides
from tests.runtime.checkpoints.rounds import END, GROUPS, Row, compared

from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.relocate import relocate
from rheostat.runtime.checkpoints.repartition import repartition
from rheostat.runtime.checkpoints.rewrite import Child, EditOffset, rebuild
from rheostat.runtime.checkpoints.state_keys import Key
from rheostat.runtime.checkpoints.state_rows import Parent

SCHEMA = "k string, v bigint, ts timestamp"
KEY = Key.of("k", groups=GROUPS)


def group_table(spark: SparkSession, keys: Sequence[str], key: Key = KEY) -> dict[str, int]:
    """The key group of every key, by the producer's expression."""
    frame = spark.createDataFrame([(k,) for k in keys], "k string")
    return {row[0]: row[1] for row in frame.selectExpr("k", key.of_row()).collect()}


@dataclass(frozen=True, slots=True)
class Instance:
    name: str
    groups: frozenset[int]
    partitions: int


@dataclass
class Operator:
    """All instances of one operator over time, and what they have put out."""

    spark: SparkSession
    kind: Kind
    folder: Path
    groups: dict[str, int]
    key: Key = KEY
    output: list[tuple[int, tuple[Any, ...]]] = field(default_factory=list)
    live: dict[str, Instance] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)
    turn: int = 0
    trigger: dict[str, Any] = field(default_factory=lambda: {"availableNow": True})
    fail: bool = False
    """Makes the sink refuse the next batch, which is then left uncommitted."""
    edit_offset: EditOffset = staticmethod(lambda *_: "-")
    """Every instance has an input folder of its own, which it reads from the start."""

    def checkpoint(self, name: str) -> Checkpoint:
        return Checkpoint(self.places.get(name, self.folder / "checkpoints" / name))

    def begin(self, *instances: Instance) -> None:
        self.live = {one.name: one for one in instances}

    def change(self, *instances: Instance) -> None:
        """Replaces the live instances; one that is live already with the same groups goes on as it is."""
        parents = [Parent(self.checkpoint(one.name), one.groups) for one in self.live.values()]

        def build(one: Instance) -> None:
            child = Child(self.checkpoint(one.name).path, one.groups, one.partitions)
            wanted = [parent for parent in parents if parent.groups & one.groups]
            rebuild(self.spark, child, wanted, self.key, self.edit_offset)

        with ThreadPoolExecutor() as threads:
            list(threads.map(build, [one for one in instances if one.name not in self.live]))
        self.begin(*instances)

    def repartition(self, name: str, partitions: int) -> None:
        assert repartition(self.spark, self.checkpoint(name), partitions)
        self.live[name] = replace(self.live[name], partitions=partitions)

    def relocate(self, name: str) -> None:
        """Moves an instance's checkpoint to another directory and leaves nothing at the old one."""
        old, self.places[name] = self.checkpoint(name), self.folder / "elsewhere" / name
        relocate(old, self.places[name])
        shutil.rmtree(old.path)

    def run(self, rows: Sequence[Row]) -> None:
        """Every live instance reads its part of the rows until nothing is left to do."""
        self.turn += 1
        for query in [self.start(one, rows) for one in self.live.values()]:
            query.awaitTermination()
            if query.exception():
                raise query.exception()

    def start(self, one: Instance, rows: Sequence[Row], trigger: dict[str, Any] | None = None) -> StreamingQuery:
        mine = [r for r in rows if r.key == END or self.groups[r.key] in one.groups]
        parts = sides(mine) if self.kind.sources == 2 else (mine,)
        frames = [self.source(one, number, part) for number, part in enumerate(parts)]
        turn = self.turn
        self.spark.conf.set("spark.sql.shuffle.partitions", one.partitions)
        writer = self.kind.query(frames).writeStream.outputMode(self.kind.mode)
        writer = writer.trigger(**(trigger or self.trigger))
        writer = writer.option("checkpointLocation", str(self.checkpoint(one.name).path))

        def take(frame: DataFrame, _: int) -> None:
            rows = frame.collect()
            if self.fail:
                raise RuntimeError("the sink fails as it was told to")
            self.output.extend((turn, tuple(row)) for row in rows)

        return writer.foreachBatch(take).start()

    def source(self, one: Instance, number: int, rows: Sequence[Row]) -> DataFrame:
        folder = self.folder / "input" / one.name / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"k": r.key, "v": r.value, "ts": r.time.isoformat()}) for r in rows]
        if lines:
            (folder / f"{self.turn}.json").write_text("\n".join(lines))
        return self.spark.readStream.schema(SCHEMA).json(str(folder))

    def result(self) -> Output:
        """Append: all rows. Update: the last row per key."""
        if self.kind.mode == "append":
            return [row for _, row in self.output]
        return list({row[0]: row for _, row in self.output}.values())


def assert_exact(operator: Operator, rows: Sequence[Row]) -> None:
    wanted = Counter(operator.kind.expected(compared(rows)))
    got = Counter(row for row in operator.result() if row[0] != END)
    assert got == wanted, (
        f"missing {sorted((wanted - got).items(), key=str)[:5]}, too many {sorted((got - wanted).items(), key=str)[:5]}"
    )
