"""Gives a stopped query another number of state partitions in place: Spark's own way, with its traps guarded.

Spark writes a batch without input whose state is shuffled anew. It does so even under a running query, leaves a
half-made batch behind when it refuses a stateless one, and an interrupted attempt blocks every other number of
partitions.
"""

from collections.abc import Callable

from pyspark.sql import SparkSession

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.capabilities import StateWay, require
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.spark.private_api import non_adaptive_session, private, runs_on, uri

Replay = Callable[[], None]
"""Runs the query just until its uncommitted batch is committed, and stops it: `trigger(once=True)`."""


def repartition(spark: SparkSession, checkpoint: Checkpoint, partitions: int, replay: Replay | None = None) -> bool:
    """Changes the number of state partitions; False if it is that number already. Repeat it after a crash.

    An uncommitted last batch is replayed with `replay` first: it may have reached the sink under its number.
    """
    if partitions < 1:
        raise ValueError(f"need at least one partition, got {partitions}")
    if runs_on(spark, checkpoint.path):
        raise CannotMove(str(checkpoint.path), "its query is running; stop it first")
    require(StateWay.REPARTITION, checkpoint)
    _settle(spark, checkpoint, replay)
    last = checkpoint.last_committed
    if last is None:
        raise CannotMove(str(checkpoint.path), "its query has not finished a batch yet")
    if checkpoint.planned(last).partitions == partitions:
        return False
    _repartition(spark, checkpoint, partitions)
    return True


def _settle(spark: SparkSession, checkpoint: Checkpoint, replay: Replay | None) -> None:
    """Brings the last planned batch to its end, whatever it was."""
    last = checkpoint.last_planned
    if last is None or checkpoint.is_settled:
        return
    if checkpoint.is_repartitioning(last):
        _repartition(spark, checkpoint, checkpoint.planned(last).partitions)
    elif replay is not None:
        replay()
    if not checkpoint.is_settled:
        raise CannotMove(str(checkpoint.path), f"batch {last} is not committed; run the query once to replay it")


def _repartition(spark: SparkSession, checkpoint: Checkpoint, partitions: int) -> None:
    private(non_adaptive_session(spark), "_streamingCheckpointManager").repartition(
        uri(checkpoint.path), partitions, True
    )
