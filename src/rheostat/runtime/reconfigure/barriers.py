"""Barriers of a change: instances that run, that rest, that have read the same; channels that are empty."""

import time
from collections.abc import Callable, Mapping, Sequence

from rheostat.errors import RuntimeFault
from rheostat.machine.waits import wait_until
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.reconfigure.instance_ops import InstanceOperations
from rheostat.runtime.reconfigure.read_positions import furthest


class Barriers:
    """Waits for instances, and heals them meanwhile. A wait that takes too long ends in a RuntimeFault."""

    def __init__(
        self,
        operations: InstanceOperations,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._operations, self._clock, self._pause = operations, clock, pause

    def bring_up(self, instances: Sequence[Instance], frontiers: Mapping[str, int] | None = None) -> None:
        """Starts instances, held, and waits until all run: the second barrier of a change."""
        self._operations.hold(instances, starting=True)
        self._operations.start(instances, frontiers)
        self.await_running(instances)

    def await_running(self, instances: Sequence[Instance]) -> None:
        """Waits until instances run."""
        self._await_all(instances, lambda status: status.state == "running", "start")

    def await_resting(self, instances: Sequence[Instance]) -> None:
        """Waits until held instances have seen the order and completed all they had planned."""
        self._await_all(instances, lambda status: status.resting, "come to rest")

    def align(self, instances: Sequence[Instance]) -> None:
        """Lets resting instances of one fragment read on to the same position: the furthest any of them has reached."""
        positions = self._operations.checkpoints.positions()
        reached = [positions.read_offsets(instance) for instance in instances]
        wanted = [furthest(column) for column in zip(*reached, strict=True)]
        behind = []
        for number, instance in enumerate(instances):
            targets = [column[number] for column in wanted]
            if not _same_places(targets, reached[number]):
                behind.append((instance, targets))
        for instance, targets in behind:
            self._operations.order(instance, HoldOrder(limits=tuple(targets)))
        for instance, targets in behind:
            self._await_position(instance, targets)
        late = [instance for instance, _ in behind]
        self._operations.hold(late)
        self.await_resting(late)

    def drain(self, instances: Sequence[Instance]) -> None:
        """Waits until running instances have read everything in their input channels."""
        heads = {
            (channel.address, instance.head): channel
            for instance in instances
            for channel in self._operations.blueprint.inputs_of(instance)
        }
        for (_, head), channel in heads.items():
            self._await_empty(channel, head)

    def _await_position(self, instance: Instance, targets: Sequence[Offset]) -> None:
        def is_there() -> bool:
            here = self._operations.checkpoints.positions().read_offsets(instance)
            self._operations.heal_all_of({instance.name})
            return _same_places(here, targets)

        self._await(is_there, lambda: f"{self._described({instance.name})} did not catch up")

    def _await_empty(self, channel: Channel, head: str) -> None:
        def is_empty() -> bool:
            self._operations.heal()
            return not self._operations.channels.unread(channel, head)

        def left() -> str:
            counts = self._operations.channels.unread(channel, head)
            return ", ".join(f"{count} batches of {producer}" for producer, count in counts.items())

        self._await(is_empty, lambda: f"{head} did not empty {channel.spec.name}: {left()} are left")

    def _await_all(self, instances: Sequence[Instance], reached: Callable[[InstanceStatus], bool], what: str) -> None:
        names = {instance.name for instance in instances}
        late: set[str] = set(names)

        def all_reached() -> bool:
            known = self._operations.heal_all_of(names)
            late.clear()
            late.update(name for name in names if name not in known or not reached(known[name]))
            return not late

        self._await(all_reached, lambda: f"{self._described(late)} did not {what}")

    def _described(self, names: set[str]) -> str:
        """Instances and their statuses, in words."""
        known = self._operations.statuses()
        return ", ".join(
            f"{name} ({known[name].state}, batch {known[name].committed} of {known[name].planned} done)"
            if name in known
            else f"{name} (not there)"
            for name in sorted(names)
        )

    def _await(self, reached: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        patience_seconds = self._operations.blueprint.settings.patience_seconds
        if not wait_until(reached, patience_seconds, clock=self._clock, pause=self._pause):
            raise RuntimeFault(f"{otherwise()} within {patience_seconds:g} s")


def _same_places(some: Sequence[Offset], others: Sequence[Offset]) -> bool:
    return all(one.cohorts == other.cohorts for one, other in zip(some, others, strict=True))
