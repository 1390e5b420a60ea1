"""The state of an old instance as raw rows at a committed batch, and its size per key group."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, functions

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.checkpoint import Checkpoint, settled_batch
from rheostat.runtime.checkpoints.log_entries import CommittedBatch, PlannedBatch
from rheostat.runtime.checkpoints.state_keys import PARTITION_KEY, Key
from rheostat.runtime.spark.private_api import non_adaptive_session, uri


@dataclass(frozen=True, slots=True)
class Parent:
    """An old instance whose state is read."""

    checkpoint: Checkpoint
    groups: frozenset[int]
    """The key groups it owns."""
    batch: int | None = None
    """The committed batch whose state is taken; None for the last one, which then must be committed."""


@dataclass(frozen=True, slots=True)
class Source:
    """A parent that has state, at the batch that is taken."""

    checkpoint: Checkpoint
    groups: frozenset[int]
    batch: int

    @property
    def planned(self) -> PlannedBatch:
        """What that batch had read, and when."""
        return self.checkpoint.planned(self.batch)

    @property
    def committed(self) -> CommittedBatch:
        """What that batch left behind."""
        return self.checkpoint.committed(self.batch)


def source_at(parent: Parent) -> Source | None:
    """A parent at the batch that is taken; None if it never finished one."""
    batch = settled_batch(parent.checkpoint) if parent.batch is None else parent.batch
    if batch is not None and not (parent.checkpoint.path / "commits" / str(batch)).exists():
        raise CannotMove(str(parent.checkpoint.path), f"batch {batch} is not committed")
    return None if batch is None else Source(parent.checkpoint, parent.groups, batch)


def state_rows(session: SparkSession, source: Source, operator: str, store: str) -> DataFrame:
    """The raw rows of one state store, of all its column families."""
    reader = (
        session.read.format("statestore").option("path", uri(source.checkpoint.path)).option("batchId", source.batch)
    )
    return (
        reader.option("operatorId", operator).option("storeName", store).option("_readAllColumnFamilies", "true").load()
    )


def key_fields(rows: DataFrame) -> list[str]:
    """The fields of the key that Spark shuffles the state by."""
    return list(rows.select(f"{PARTITION_KEY}.*").columns)


def group_sizes(spark: SparkSession, parent: Parent, key: Key) -> dict[int, int]:
    """Bytes of state per key group, for deciding which groups to move."""
    source = source_at(parent)
    if source is None:
        return {}
    session, sizes = non_adaptive_session(spark), dict[int, int]()
    for operator in source.checkpoint.operators():
        for store in operator.stores:
            rows = state_rows(session, source, str(operator.number), store)
            group = functions.expr(key.of_state(key_fields(rows))).alias("key_group")
            size = functions.sum(functions.octet_length("key_bytes") + functions.octet_length("value_bytes")).alias(
                "size"
            )
            for row in rows.groupBy(group).agg(size).collect():
                sizes[row["key_group"]] = sizes.get(row["key_group"], 0) + int(row["size"] or 0)
    return sizes
