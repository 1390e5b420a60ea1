"""Writes one new checkpoint whose state is the union of its parents' rows in given key groups: split, merge, rebalance.

This is the only file that knows Spark's private `StateRewriter`, the class behind its own repartitioning. It reads
state as raw rows (partition key, key bytes, value bytes, column family), lets a function change the set of rows, and
writes them as the state of a batch. We give it a function that keeps the wanted groups of every parent. Pinned to
pyspark 4.3.0; the matrix in `tests/runtime/checkpoints` says for which operators the result is exact.

Only the new directory is written. Parents stay as they are until the caller deletes them.

Event time: the child's watermarks are the highest of its parents'. That is exact if the parents have consumed the same
range of the input, because then no row older than the highest watermark is still to come; results the slower parent
still held back are emitted by the child's first batch. Bring the parents to the same frontier first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession, functions

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints import completion as construction
from rheostat.runtime.checkpoints import durable_files as durable
from rheostat.runtime.checkpoints.capabilities import StateWay, require
from rheostat.runtime.checkpoints.checkpoint import Checkpoint, copy_skeleton
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET, CommittedBatch, PlannedBatch
from rheostat.runtime.checkpoints.state_keys import PARTITION_KEY, Key, among
from rheostat.runtime.checkpoints.state_rows import Parent, Source, key_fields, source_at, state_rows
from rheostat.runtime.spark.private_api import non_adaptive_session, private, uri

EditOffset = Callable[[int, Sequence[str | None]], str]
"""(number of the source, its offset in every parent, None where the parent has none) -> its offset in the child."""


@dataclass(frozen=True, slots=True)
class Child:
    """A new instance whose checkpoint is written."""

    target: Path
    """A directory that does not exist yet, or holds an interrupted attempt at the same."""
    groups: frozenset[int]
    """The key groups it will own."""
    partitions: int
    """The number of its state partitions: its replicas."""
    watermark_ms: int | None = None
    """Its event time: state older than this is evicted by its first batch. None for the highest of its parents'."""

    def __post_init__(self) -> None:
        """Refuses instances that could not run."""
        if not self.target.is_absolute() or not self.groups or self.partitions < 1:
            raise ValueError(f"need an absolute path, groups and at least one partition, got {self}")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did, and where its time went."""

    batch: int
    """The number of the batch that holds the state; the query goes on with the next."""
    skeleton_seconds: float = 0.0
    state_seconds: float = 0.0
    sync_seconds: float = 0.0


def rebuild(spark: SparkSession, child: Child, parents: Sequence[Parent], key: Key, edit_offset: EditOffset) -> Rebuilt:
    """Writes the child's checkpoint from its parents'. Repeating it after a crash, or after success, is safe.

    Parents that never finished a batch have no state; they only count for the offsets. The child's batch numbers go on
    after the highest of its parents'.
    """
    taken = _taken(child, parents)
    sources = [source for source in taken if source is not None]
    recipe = {
        "groups": sorted(child.groups),
        "partitions": child.partitions,
        "watermark": child.watermark_ms,
        "parents": [[str(source.checkpoint.path), source.batch] for source in sources],
    }
    batch = max(source.batch for source in sources) + 1
    if not construction.begin(child.target, recipe):
        return Rebuilt(batch)
    clock = [perf_counter()]
    primary = _primary(sources, child)
    entry = _entry(child, taken, batch, edit_offset)
    copy_skeleton(primary.checkpoint, entry, child.target)
    for number in (batch - 1, batch):
        Checkpoint(child.target).plan(replace(entry, number=number))
    clock.append(perf_counter())
    _Rewrite(non_adaptive_session(spark), child, sources, key).run(primary, batch)
    clock.append(perf_counter())
    highest = max(source.committed.next_watermark_ms for source in sources)
    watermark_ms = highest if child.watermark_ms is None else child.watermark_ms
    for number in (batch - 1, batch):
        Checkpoint(child.target).commit(CommittedBatch(number, watermark_ms))
    durable.sync_tree(child.target)
    construction.finish(child.target)
    clock.append(perf_counter())
    return Rebuilt(batch, *(later - earlier for earlier, later in pairwise(clock)))


def _taken(child: Child, parents: Sequence[Parent]) -> list[Source | None]:
    """Every parent at its batch, after checking that this change can be made at all."""
    owned = [group for parent in parents for group in parent.groups]
    if len(owned) != len(set(owned)):
        raise ValueError("two parents own the same key group, so its rows would be counted twice")
    if not child.groups <= set(owned):
        raise ValueError(f"no parent owns the key groups {sorted(child.groups - set(owned))}")
    taken = [source_at(parent) for parent in parents]
    for source in taken:
        if source is not None:
            require(StateWay.REBUILD, source.checkpoint)
    if not any(taken):
        raise CannotMove(str(child.target), "none of its parents has finished a batch; start it without a checkpoint")
    return taken


def _primary(sources: Sequence[Source], child: Child) -> Source:
    """The parent that lends its skeleton: the one most of whose groups stay together."""
    return max(sources, key=lambda source: len(source.groups & child.groups))


def _entry(child: Child, taken: Sequence[Source | None], batch: int, edit_offset: EditOffset) -> PlannedBatch:
    """The batch that holds the child's state."""
    plans = [source.planned if source is not None else None for source in taken]
    known = [plan for plan in plans if plan is not None]
    offsets = tuple(
        edit_offset(number, [_offset(plan, number) for plan in plans]) for number in range(len(known[0].offsets))
    )
    evicted_ms = max(plan.watermark_ms for plan in known)
    late_ms = evicted_ms if child.watermark_ms is None else min(evicted_ms, child.watermark_ms)
    timestamp_ms = max(plan.timestamp_ms for plan in known)
    entry = PlannedBatch(batch, known[0].metadata, offsets).with_partitions(child.partitions)
    return entry.with_times(watermark_ms=late_ms, timestamp_ms=timestamp_ms)


def _offset(plan: PlannedBatch | None, number: int) -> str | None:
    return None if plan is None or plan.offsets[number] == NO_OFFSET else plan.offsets[number]


class _Rewrite:
    """The function Spark calls with the state of every store, and what it answers: the child's rows."""

    class Java:
        """Tells py4j what this object is for the JVM."""

        implements: ClassVar = ["scala.Function1"]

    def __init__(self, session: SparkSession, child: Child, sources: Sequence[Source], key: Key) -> None:
        self.session, self.child, self.sources, self.key = session, child, sources, key
        self.failure: Exception | None = None

    def run(self, primary: Source, batch: int) -> None:
        """Writes the state of a batch."""
        context = self.session.sparkContext
        ensure_callback_server_started(private(context, "_gateway"))  # type: ignore[no-untyped-call]
        jvm, jvm_session = private(context, "_jvm"), private(self.session, "_jsparkSession")
        rewriter = jvm.org.apache.spark.sql.execution.streaming.state.StateRewriter(
            jvm_session,
            primary.batch,
            batch,
            uri(self.child.target),
            jvm_session.sessionState().newHadoopConf(),
            jvm.scala.Some(uri(primary.checkpoint.path)),
            jvm.scala.Some(self),
            jvm.scala.Option.empty(),
        )
        try:
            identifiers = rewriter.run()
        except Exception as failure:
            raise self.failure or failure from failure
        if not identifiers.isEmpty():
            raise CannotMove(str(primary.checkpoint.path), "its state has checkpoint format version 2")

    def apply(self, jvm_rows: Any) -> Any:
        """Called from the JVM: the state of one store of the primary parent -> the child's rows for that store."""
        try:
            options = jvm_rows.queryExecution().analyzed().options()
            return private(self.rows(options.get("operatorId"), options.get("storeName")), "_jdf")
        except Exception as failure:
            self.failure = failure
            raise

    def rows(self, operator: str, store: str) -> DataFrame:
        """The rows of the wanted groups of every parent that owns some, in the child's partitions.

        If the parents that own them never finished a batch, the child gets an empty state in another parent's shape.
        """
        owners = [source for source in self.sources if source.groups & self.child.groups] or self.sources[:1]
        parts = [
            self._kept(state_rows(self.session, source, operator, store), source.groups & self.child.groups)
            for source in owners
        ]
        union = parts[0]
        for part in parts[1:]:
            union = union.union(part)
        return union.repartition(self.child.partitions, functions.col(PARTITION_KEY))

    def _kept(self, rows: DataFrame, groups: frozenset[int]) -> DataFrame:
        return rows.where(among(self.key.of_state(key_fields(rows)), groups))
