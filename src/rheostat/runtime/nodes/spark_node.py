"""The node in this process: runs instances in a Spark application, which several nodes may share.

An agent process serves one such node over HTTP, see `agent_api` and `RemoteNode`.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from rheostat.errors import NodeUnreachable
from rheostat.machine.disk import Disk
from rheostat.machine.waits import wait_until
from rheostat.runtime.channels.hold_file import HoldOrder, acknowledged, write_control
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.nodes.node_usage import Usage, UsageMeter
from rheostat.runtime.nodes.spark_checkpoints import SparkCheckpoints
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.failure_attribution import attributed, error_line
from rheostat.runtime.query.progress_report import BatchReport, read_batch
from rheostat.runtime.query.query_builder import start_query
from rheostat.runtime.query.row_counts import RowCounts
from rheostat.runtime.query.udf_timing import TimingNotes, with_own_code
from rheostat.runtime.spark.query_threads import end_idle_monitors, in_spark_thread

GAP_PATIENCE_SECONDS = 3.0
BETWEEN_BATCHES = "Waiting for "
"""... data to arrive, or the next trigger: in the words of Spark."""
METER = UsageMeter()
"""Of this process: its nodes share it as they share what it measures."""


@dataclass(slots=True)
class _Running:
    spec: InstanceSpec
    query: StreamingQuery
    notes: TimingNotes
    tally: RowCounts
    run: str
    has_looked: bool = False


class SparkNode:
    """A node in this process, with a session of its own in a Spark application it may share."""

    def __init__(self, name: str, spark: SparkSession, root: Path) -> None:
        """With the directory of the run, which the node shares with others."""
        self.name = name
        self._spark, self._paths = spark, RunPaths(root)
        self.checkpoints = SparkCheckpoints(spark, root, self._order)
        self._running: dict[str, _Running] = {}
        self._orders = 0
        self._ordered = Condition()
        self.is_killed = False

    @property
    def is_idle(self) -> bool:
        """Whether it runs nothing and was not asked to do anything."""
        return not self._running and self._orders == 0

    @contextmanager
    def _order(self) -> Iterator[None]:
        """Something that must have ended before another controller takes over."""
        self._check_alive()
        with self._ordered:
            self._orders += 1
        try:
            yield
        finally:
            with self._ordered:
                self._orders -= 1
                self._ordered.notify_all()

    def quiesce(self) -> None:
        """Waits for the orders under way."""
        with self._ordered:
            self._ordered.wait_for(lambda: self._orders == 0)

    def start(self, spec: InstanceSpec) -> None:
        """Starts a query; one that failed is started again."""
        with self._order():
            in_spark_thread(lambda: self._start(spec))

    def _start(self, spec: InstanceSpec) -> None:
        known = self._running.get(spec.name)
        if known is not None and known.query.isActive:
            return
        Path(spec.checkpoint).mkdir(parents=True, exist_ok=True)
        Checkpoint(Path(spec.checkpoint)).clear_beginning()
        notes = TimingNotes(Path(spec.control).with_suffix(".notes"))
        tally = RowCounts()
        query = start_query(self._spark, spec, notes, tally)
        self._running[spec.name] = _Running(spec, query, notes, tally, str(query.runId))
        end_idle_monitors(self._spark)

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Stops a query and forgets it."""
        known = self._running.pop(instance, None)
        if known is not None:
            with self._order():
                in_spark_thread(lambda: _end(known, gently=gently))

    def hold(self, instance: str, order: HoldOrder) -> None:
        """Writes the order to a file that the instance reads before every batch."""
        with self._order():
            path = self._paths.control(instance)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_control(path, order, Disk())

    def statuses(self) -> Sequence[InstanceStatus]:
        """As the queries and the checkpoints say."""
        self._check_alive()
        return in_spark_thread(lambda: [self._status(known) for known in list(self._running.values())])

    def progress(self, instance: str, after: int = -1) -> Sequence[BatchReport]:
        """As Spark reports the last batches, with the time they spent in the operators' own code."""
        self._check_alive()
        known = self._running.get(instance)
        return [] if known is None else in_spark_thread(lambda: _batches(known, after))

    def usage(self) -> Usage:
        """Of this process with its children, which embedded nodes share."""
        self._check_alive()
        return METER.usage()

    def round_trip_ms(self) -> float | None:
        """There is no way to go."""
        return None

    def kill(self) -> None:
        """Stops all queries at once; later calls raise NodeUnreachable."""
        for name in list(self._running):
            self.stop(name)
        self.is_killed = True

    def _check_alive(self) -> None:
        if self.is_killed:
            raise NodeUnreachable(self.name, "it was killed")

    def _status(self, known: _Running) -> InstanceStatus:
        spec, query = known.spec, known.query
        checkpoint = Checkpoint(Path(spec.checkpoint))
        planned, committed = checkpoint.last_planned, checkpoint.last_committed
        active = query.isActive
        failure = None if active else _failure(query)
        control, channels = Path(spec.control), [Path(part.channel).name for part in spec.inputs]
        return InstanceStatus(
            spec.name,
            "running" if active else "failed" if failure is not None else "stopped",
            -1 if planned is None else planned,
            -1 if committed is None else committed,
            active and acknowledged(control, channels, 1),
            active and planned == committed and acknowledged(control, channels),
            *(("", False) if failure is None else _told(failure, known)),
            known.run,
            bool(spec.inputs) or _has_looked(known),
        )


def _has_looked(known: _Running) -> bool:
    """What its query says between two batches, also if the first one was none; asked until it has said so once."""
    if not known.has_looked:
        known.has_looked = str(known.query._jsq.status().message()).startswith(BETWEEN_BATCHES)  # noqa: SLF001
    return known.has_looked


def _end(known: _Running, *, gently: bool) -> None:
    if known.query.isActive:
        if gently:
            _await_gap(Checkpoint(Path(known.spec.checkpoint)))
        known.query.stop()


def _batches(known: _Running, after: int) -> list[BatchReport]:
    found: list[dict[str, Any]] = []
    # PySpark's `recentProgress` would fetch and parse all of the last hundred every time; each step is a call to Java.
    reports = known.query._jsq.recentProgress()  # noqa: SLF001 - PySpark has no public way
    for number in range(len(reports) - 1, -1, -1):
        report = reports[number]
        if report.batchId() <= after:
            break
        found.append(json.loads(report.json()))
    worked = known.notes.times_of([report["batchId"] for report in found]) if found else {}
    whole = [with_own_code(known.tally.completed(report), worked[report["batchId"]]) for report in found[::-1]]
    return [batch for report in whole if (batch := read_batch(report)) is not None]


def _await_gap(checkpoint: Checkpoint) -> None:
    """Waits for a moment between two batches: one that is cut off has to be done again, which takes a new query.

    Even a busy query has such moments, after a commit and before the plan of the next batch is written.
    """
    wait_until(lambda: checkpoint.is_settled, GAP_PATIENCE_SECONDS, look_seconds=0.002)


def _failure(query: StreamingQuery) -> str | None:
    """What Spark says of a failed query. PySpark's `exception()` says the same, and logs it whenever it is asked."""
    failure = query._jsq.exception()  # noqa: SLF001 - PySpark has no public way
    return str(failure.get().toString()).partition(": ")[2] if failure.isDefined() else None


def _told(text: str, known: _Running) -> tuple[str, bool]:
    """The failure as operator, node and the user's line, or Spark's own words if it was not the user's code."""
    spec = known.spec
    found = attributed(text, spec.node, {step.name: step.code for step in spec.steps}, known.notes.in_python)
    if found is not None:
        return str(found), True
    return f"query {spec.name} on node {spec.node}: {error_line(text)}", False
