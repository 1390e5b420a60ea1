"""The node in memory: keeps the contract of a node and processes nothing, for tests and for trying out a change.

Batches are made by `advance`. Several nodes share a `MemoryDisk` as real nodes share a directory, so one can stand in
for another that is lost.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.channels.records.key_groups import parse_groups
from rheostat.runtime.channels.records.offset import Offset, format_offset
from rheostat.runtime.checkpoints.capabilities import StateKind
from rheostat.runtime.checkpoints.checkpoint_port import CheckpointName
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.node_usage import Usage, measured_usage
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.query.progress_report import BatchReport, SourceRead

GATE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class MemoryCheckpoint:
    """A checkpoint in memory."""

    kind: StateKind = StateKind.STATELESS
    planned: int = -1
    committed: int = -1
    offsets: tuple[str, ...] = ()


@dataclass(slots=True)
class MemoryDisk:
    """Checkpoints and orders of all nodes that share it."""

    checkpoints: dict[CheckpointName, MemoryCheckpoint] = field(default_factory=dict)
    orders: dict[str, HoldOrder] = field(default_factory=dict)


@dataclass(slots=True)
class _Started:
    spec: InstanceSpec
    run: str
    error: str = ""
    by_user: bool = False
    shown: InstanceStatus | None = None
    batches: list[BatchReport] = field(default_factory=list)


class MemoryCheckpoints:
    """The checkpoints of a disk in memory."""

    def __init__(self, node: "MemoryNode") -> None:
        self._node = node

    def names(self) -> Sequence[CheckpointName]:
        """In order."""
        self._node.check("names")
        return sorted(self._node.disk.checkpoints)

    def offsets(self, name: CheckpointName) -> tuple[str, ...] | None:
        """Of the last committed batch."""
        self._node.check("offsets")
        found = self._node.disk.checkpoints.get(name)
        return None if found is None or found.committed < 0 else found.offsets

    def state_kind(self, name: CheckpointName) -> StateKind | None:
        """As it was built, or as the kinds of the steps say."""
        self._node.check("state_kind")
        found = self._node.disk.checkpoints.get(name)
        return None if found is None or found.committed < 0 else found.kind

    def take(self, spec: InstanceSpec) -> None:
        """Commits the last planned batch."""
        self._node.check("take")
        name = name_of(spec.checkpoint)
        if (found := self._node.disk.checkpoints.get(name)) is not None:
            self._node.disk.checkpoints[name] = replace(found, committed=found.planned)

    def place_ahead(self, job: StateJob) -> None:
        """Only looks whether the parents are there: there are no files to copy."""
        self._node.check("place_ahead")
        for path, _ in job.parents:
            if name_of(path) not in self._node.disk.checkpoints:
                raise RuntimeFault(f"there is no checkpoint {path} to build {job.target} from")

    def build(self, job: StateJob) -> None:
        """Copies the first parent, with other offsets if the job has any."""
        self._node.check("build")
        parents = [self._node.disk.checkpoints.get(name_of(path)) for path, _ in job.parents]
        if parents[0] is None:
            raise RuntimeFault(f"there is no checkpoint {job.parents[0][0]} to build {job.target} from")
        offsets = job.offsets or parents[0].offsets
        self._node.disk.checkpoints[name_of(job.target)] = replace(parents[0], offsets=offsets)

    def remove(self, names: Sequence[CheckpointName]) -> None:
        """Forgets them."""
        self._node.check("remove")
        for name in names:
            self._node.disk.checkpoints.pop(name, None)


class MemoryNode:
    """A node whose instances are started at once, and rest as soon as they are held."""

    def __init__(
        self,
        name: str,
        disk: MemoryDisk | None = None,
        *,
        gate: threading.Event | None = None,
        is_working: bool = False,
    ) -> None:
        """With a `gate`, starting an instance waits until it is set: a change that takes its time.

        If it is working, every question for the statuses lets each instance run one more batch.
        """
        self.name, self.gate, self.is_working = name, gate, is_working
        self.disk = MemoryDisk() if disk is None else disk
        self.checkpoints = MemoryCheckpoints(self)
        self.complaints: dict[str, str] = {}
        """Call -> why it fails with a RuntimeFault the next time."""
        self.broken = ""
        """Why instances fail as soon as they are started here; empty if they do not."""
        self.asked: list[str] = []
        """Calls so far, in order."""
        self.is_killed = False
        self._started: dict[str, _Started] = {}
        self._starts = 0

    def check(self, call: str) -> None:
        """Notes a call; fails if the node was killed, or if it was told to fail."""
        if self.is_killed:
            raise NodeUnreachable(self.name, "it was killed")
        self.asked.append(call)
        if call in self.complaints:
            raise RuntimeFault(self.complaints.pop(call))

    def start(self, spec: InstanceSpec) -> None:
        """Starts an instance; one that runs already is left alone."""
        if self.gate is not None:
            self.gate.wait(GATE_SECONDS)
        self.check("start")
        known = self._started.get(spec.name)
        if known is None or known.error:
            kind = StateKind.AGGREGATION if spec.is_stateful else StateKind.STATELESS
            self.disk.checkpoints.setdefault(name_of(spec.checkpoint), MemoryCheckpoint(kind))
            self._starts += 1
            self._started[spec.name] = _Started(spec, f"{self.name} {self._starts}", self.broken)

    def stop(self, instance: str, *, gently: bool = False) -> None:  # noqa: ARG002 - it is always between two batches
        """Stops an instance."""
        self.check("stop")
        self._started.pop(instance, None)

    def hold(self, instance: str, order: HoldOrder) -> None:
        """Gives an instance an order; with limits it is there at once."""
        self.check("hold")
        self.disk.orders[instance] = order
        if order.limits and instance in self._started:
            self._commit(self._started[instance], tuple(format_offset(limit) for limit in order.limits))

    def advance(self, instance: str) -> None:
        """Lets an instance run one batch, unless it is held."""
        started = self._started[instance]
        if not started.error and not self.disk.orders.get(instance, HoldOrder()).hold:
            self._commit(started, None)

    def _commit(self, started: _Started, offsets: tuple[str, ...] | None) -> None:
        name = name_of(started.spec.checkpoint)
        before = self.disk.checkpoints[name]
        number = before.planned + 1
        read = offsets or before.offsets or _beginning(started.spec)
        self.disk.checkpoints[name] = replace(before, planned=number, committed=number, offsets=read)
        reads = tuple(SourceRead(1, end=offset) for offset in read)
        started.batches.append(BatchReport(str(name), number, float(number), 1.0, 1.0, {}, reads))

    def fail(self, instance: str, error: str, *, by_user: bool = True) -> None:
        """Lets an instance fail: in the user's code, or elsewhere."""
        self._started[instance].error, self._started[instance].by_user = error, by_user

    def show(self, status: InstanceStatus) -> None:
        """Lets an instance have another status than it would have, until it is started again."""
        self._started[status.name].shown = status

    @property
    def running(self) -> frozenset[str]:
        """Names of the instances that run."""
        return frozenset(name for name, started in self._started.items() if not started.error)

    def statuses(self) -> Sequence[InstanceStatus]:
        """Every instance that was started here and not stopped."""
        self.check("statuses")
        for instance in self.running if self.is_working else ():
            self.advance(instance)
        return [self._status(started) for started in list(self._started.values())]

    def _status(self, started: _Started) -> InstanceStatus:
        if started.shown is not None:
            return started.shown
        spec = started.spec
        checkpoint = self.disk.checkpoints.get(name_of(spec.checkpoint), MemoryCheckpoint())
        is_held = self.disk.orders.get(spec.name, HoldOrder()).hold and bool(spec.inputs) and not started.error
        return InstanceStatus(
            spec.name,
            "failed" if started.error else "running",
            checkpoint.planned,
            checkpoint.committed,
            is_held,
            is_held and checkpoint.planned == checkpoint.committed,
            started.error,
            started.by_user,
            started.run,
        )

    def progress(self, instance: str, after: int = -1) -> Sequence[BatchReport]:
        """The batches that `advance` has made since the instance was started."""
        self.check("progress")
        started = self._started.get(instance)
        return [] if started is None else [batch for batch in started.batches if batch.number > after]

    def usage(self) -> Usage:
        """Of this process."""
        self.check("usage")
        return measured_usage()

    def round_trip_ms(self) -> float | None:
        """None: the node is in this process."""
        return None

    def quiesce(self) -> None:
        """Returns at once: every order is carried out when its call returns."""
        self.check("quiesce")

    def kill(self) -> None:
        """Ends everything here; later calls raise NodeUnreachable."""
        self._started.clear()
        self.is_killed = True

    def revive(self) -> None:
        """Starts the node again after `kill`; it runs nothing."""
        self.is_killed = False


def name_of(checkpoint: str) -> CheckpointName:
    """The name of a checkpoint, from its path."""
    parts = Path(checkpoint).parts
    return CheckpointName(parts[-4], *parts[-2:])


def _beginning(spec: InstanceSpec) -> tuple[str, ...]:
    """The offsets at which an instance begins; a source has one of its own."""
    if not spec.inputs:
        return ('{"rows": 0}',)
    return tuple(
        part.start or format_offset(Offset.start(Path(part.channel).name, parse_groups(spec.groups)))
        for part in spec.inputs
    )
