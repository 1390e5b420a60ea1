"""The ends of channels during a change: epochs of producers, event time promised, what consumers have read."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rheostat.runtime.channels.log.consumers import committed, forget, lag, should_wait
from rheostat.runtime.channels.log.disk_log import DiskLog, last_epoch
from rheostat.runtime.channels.log.producer import close_producer, open_producer
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan
from rheostat.runtime.reconfigure.run_nodes import RunNodes


@dataclass(frozen=True, slots=True)
class Epoch:
    """One life of a producer: a newer one fences off all older ones."""

    number: int
    continues: bool
    """Whether the instance has run before, so that its batch numbers go on."""


class ChannelEnds:
    """Opens and closes producers, and says how far channels were written and read."""

    def __init__(self, run: RunNodes, disk: Disk) -> None:
        self._run, self._disk = run, disk

    def open_epoch(self, instance: Instance, frontier: int = NEVER) -> Epoch:
        """Opens the next epoch of an instance's producer in all its channels; older epochs are fenced off."""
        newest = self.last_epoch(instance)
        # A later epoch than those before this instance means that it has run: its batch numbers go on.
        epoch = Epoch(newest + 1, newest > instance.epochs_before)
        for log in self._outputs(instance):
            open_producer(
                log,
                self._disk,
                instance.producer,
                epoch.number,
                continues=epoch.continues,
                frontier=frontier,
                now_ms=_now_ms(),
            )
        return epoch

    def last_epoch(self, instance: Instance) -> int:
        """Number of the newest epoch of an instance's producer; 0 if there is none."""
        return max((last_epoch(log, instance.producer) or 0 for log in self._outputs(instance)), default=0)

    def frontier(self, instances: Iterable[Instance], tail: str) -> int:
        """The event time that all producers of an operator have promised."""
        frontiers = []
        for instance in instances:
            for log in self._outputs(instance) if instance.tail == tail else ():
                epoch = last_epoch(log, instance.producer)
                if epoch is not None:
                    frontiers.append(open_producer(log, self._disk, instance.producer, epoch).frontier())
        return min(frontiers, default=NEVER)

    def close_unused(self, plan: PhysicalPlan) -> None:
        """Closes producers and forgets consumers that a plan no longer has."""
        blueprint = self._run.blueprint
        producers: dict[Path, set[str]] = {}
        consumers: dict[Path, set[str]] = {}
        for instance in plan.instances:
            for channel in blueprint.outputs_of(instance):
                producers.setdefault(channel.path, set()).add(instance.producer)
            for channel in blueprint.inputs_of(instance):
                consumers.setdefault(channel.path, set()).add(instance.name)
        for channel in self._all():
            for producer in DiskLog(channel).producers():
                if producer not in producers.get(channel.path, set()):
                    close_producer(channel, self._disk, producer, _now_ms())
            # A channel without a reader keeps the positions: a later change may cut the fragment here again.
            for name in _consumers(channel) if consumers.get(channel.path) else ():
                if name not in consumers[channel.path]:
                    forget(channel, name, self._disk)

    def unread(self, channel: Channel, subscription: str) -> dict[str, int]:
        """Producer -> number of its batches that a subscription has not read; only those that have any."""
        log = DiskLog(channel)
        counts = {producer: lag(log, subscription, producer).manifests for producer in log.producers()}
        return {producer: count for producer, count in counts.items() if count}

    def must_wait(self, instance: Instance, rows: int) -> bool:
        """Whether so many rows of an instance wait in one of its channels.

        It is the rule that readers follow themselves, which cannot end in a deadlock over event time.
        """
        return any(should_wait(log, rows, instance.producer) for log in self._outputs(instance))

    def _outputs(self, instance: Instance) -> list[DiskLog]:
        return [DiskLog(channel) for channel in self._run.blueprint.outputs_of(instance)]

    def _all(self) -> list[Channel]:
        application, blueprint = self._run.blueprint.application, self._run.blueprint
        found = [blueprint.channel(stream) for stream in application.streams]
        sinks = [blueprint.results(operator.name) for operator in application.operators]
        return found + [channel for channel in sinks if (channel.path / "channel.json").exists()]


def is_drained(channel: Channel, subscription: str) -> bool:
    """Whether a subscription has read all there is."""
    return lag(DiskLog(channel), subscription).manifests == 0


def _consumers(channel: Channel) -> list[str]:
    """Instances that have said how far they have read."""
    names = []
    for subscription in committed(channel):
        names += [path.stem for path in (channel.subscriptions() / subscription).glob("*.json")]
    return names


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
