"""Batch number of a task in one of Spark's Python workers."""

from pyspark import TaskContext

_BATCH_ID = "streaming.sql.batchId"
"""Name of Spark's local property with the batch number."""


def batch_of(task: TaskContext | None) -> int:
    """The number of the task's batch; -1 if it belongs to none."""
    return int((task and task.getLocalProperty(_BATCH_ID)) or -1)


def turn_of(task: TaskContext | None) -> int:
    """A number that differs between the tasks of a batch and between batches, for dealing out small batches evenly."""
    return batch_of(task) + (task.partitionId() if task is not None else 0)
