"""The checkpoints of a node on its disk, built by its Spark."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pyspark.sql import SparkSession

from rheostat.errors import RuntimeFault
from rheostat.runtime.checkpoints.capabilities import StateKind, describe
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.checkpoint_port import CheckpointName
from rheostat.runtime.checkpoints.job_runner import prepare_job, run_job
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.instance_spec import InstanceSpec
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.query_builder import start_query
from rheostat.runtime.spark.query_threads import in_spark_thread


class SparkCheckpoints:
    """Checkpoints below the directory of a run, which all nodes of this machine share."""

    def __init__(self, spark: SparkSession, root: Path, order: Callable[[], AbstractContextManager[None]]) -> None:
        """`order` surrounds every call: it refuses calls to a dead node, and another controller waits for its end."""
        self._spark, self._paths, self._order = spark, RunPaths(root), order

    def names(self) -> Sequence[CheckpointName]:
        """As the folders say."""
        with self._order():
            folders = self._paths.root.glob("nodes/*/checkpoints/[!.]*/[!.]*")
            return sorted(CheckpointName(each.parts[-4], *each.parts[-2:]) for each in folders if each.is_dir())

    def offsets(self, name: CheckpointName) -> tuple[str, ...] | None:
        """As the offset log says."""
        with self._order():
            checkpoint = self._found(name)
            last = checkpoint.last_committed
            return None if last is None else checkpoint.planned(last).offsets

    def state_kind(self, name: CheckpointName) -> StateKind | None:
        """As the metadata of the stateful operators says."""
        with self._order():
            checkpoint = self._found(name)
            return None if checkpoint.last_committed is None else describe(checkpoint).kind

    def take(self, spec: InstanceSpec) -> None:
        """Replays the uncommitted batch and nothing more."""
        checkpoint = Checkpoint(Path(spec.checkpoint))
        if checkpoint.last_planned is None or checkpoint.is_settled:
            return
        with self._order():
            in_spark_thread(lambda: start_query(self._spark, spec, once=True).awaitTermination())
        if not checkpoint.is_settled:
            raise RuntimeFault(f"{spec.name} could not finish its last batch")

    def place_ahead(self, job: StateJob) -> None:
        """Copies ahead."""
        with self._order():
            prepare_job(job)

    def build(self, job: StateJob) -> None:
        """In a session of its own: a state job has other settings than a query."""
        with self._order():
            in_spark_thread(lambda: run_job(self._spark.newSession(), job))

    def remove(self, names: Sequence[CheckpointName]) -> None:
        """Removes the folders; a state store may still write into one, which `names` will then show again."""
        with self._order():
            for name in names:
                shutil.rmtree(self._path(name), ignore_errors=True)

    def _found(self, name: CheckpointName) -> Checkpoint:
        return Checkpoint(self._path(name))

    def _path(self, name: CheckpointName) -> Path:
        return self._paths.checkpoints(name.node) / name.instance / name.number
