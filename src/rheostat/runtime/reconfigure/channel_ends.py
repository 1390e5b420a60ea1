"""The ends of channels during a change: epochs of producers, event time promised, what consumers have read."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rheostat.runtime.channels.port.backlog import must_wait, subscription_backlog
from rheostat.runtime.channels.port.channel import Channel, EpochClaim
from rheostat.runtime.channels.port.places import last_epoch, promised
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan
from rheostat.runtime.reconfigure.run_nodes import RunNodes


@dataclass(frozen=True, slots=True)
class Epoch:
    """One life of a producer: a newer one fences off all older ones."""

    number: int
    continues: bool
    """Whether the instance has run before, so that its batch numbers go on."""
    term: int = 0
    """Term of the owner of the run that opened it."""


class ChannelEnds:
    """Opens and closes producers, and says how far channels were written and read."""

    def __init__(self, run: RunNodes, term: int = 0) -> None:
        """Opens epochs under a term of the run: an owner with an earlier one can open none after that."""
        self._run, self._term = run, term

    def open_epoch(self, instance: Instance, frontier: int = NEVER) -> Epoch:
        """Opens the next epoch of an instance's producer in all its channels; older epochs are fenced off."""
        newest = self.last_epoch(instance)
        # A later epoch than those before this instance means that it has run: its batch numbers go on.
        epoch = Epoch(newest + 1, newest > instance.epochs_before, self._term)
        claim = EpochClaim(instance.producer, epoch.number, epoch.term, epoch.continues, frontier)
        for channel in self._outputs(instance):
            # A controller that died here may have opened an epoch in one channel and not in the next one.
            behind = last_epoch(channel.log(), instance.producer) or 0
            for number in range(behind + 1, epoch.number + 1):
                channel.producers.open(replace(claim, epoch=number), _now_ms())
        return epoch

    def last_epoch(self, instance: Instance) -> int:
        """Number of the newest epoch of an instance's producer; 0 if there is none."""
        logs = [channel.log() for channel in self._outputs(instance)]
        return max((last_epoch(log, instance.producer) or 0 for log in logs), default=0)

    def present_epoch(self, instance: Instance) -> Epoch:
        """The newest epoch of an instance's producer, as it was opened; the first one if there is none."""
        number = self.last_epoch(instance) or 1
        openings = [channel.log().opening(instance.producer, number) for channel in self._outputs(instance)]
        terms = [opening.term for opening in openings if opening is not None]
        return Epoch(number, continues=True, term=max(terms, default=self._term))

    def frontier(self, instances: Iterable[Instance], tail: str) -> int:
        """The event time that all producers of an operator have promised."""
        frontiers = []
        for instance in instances:
            for channel in self._outputs(instance) if instance.tail == tail else ():
                frontiers.append(promised(channel.log(), instance.producer))
        return min((known for known in frontiers if known is not None), default=NEVER)

    def close_unused(self, plan: PhysicalPlan) -> None:
        """Closes producers and forgets consumers that a plan no longer has."""
        blueprint = self._run.blueprint
        producers: dict[str, set[str]] = {}
        consumers: dict[str, set[str]] = {}
        for instance in plan.instances:
            for channel in blueprint.outputs_of(instance):
                producers.setdefault(channel.address, set()).add(instance.producer)
            for channel in blueprint.inputs_of(instance):
                consumers.setdefault(channel.address, set()).add(instance.name)
        for channel in self._all():
            for producer in channel.log().producers():
                if producer not in producers.get(channel.address, set()):
                    channel.producers.close(producer, _now_ms())
            # A channel without a reader keeps the positions: a later change may cut the fragment here again.
            for name in _consumers(channel) if consumers.get(channel.address) else ():
                if name not in consumers[channel.address]:
                    channel.consumers.forget(name)

    def unread(self, channel: Channel, subscription: str) -> dict[str, int]:
        """Producer -> number of its batches that a subscription has not read; only those that have any."""
        producers = channel.log().producers()
        counts = {producer: subscription_backlog(channel, subscription, producer).manifests for producer in producers}
        return {producer: count for producer, count in counts.items() if count}

    def must_wait(self, instance: Instance, rows: int) -> bool:
        """Whether so many rows of an instance wait in one of its channels.

        It is the rule that readers follow themselves, which cannot end in a deadlock over event time.
        """
        outputs = self._outputs(instance)
        return any(must_wait(one.log(), one.consumers.committed(), rows, instance.producer) for one in outputs)

    def _outputs(self, instance: Instance) -> Sequence[Channel]:
        return self._run.blueprint.outputs_of(instance)

    def _all(self) -> list[Channel]:
        application, blueprint = self._run.blueprint.application, self._run.blueprint
        found = [blueprint.channel(stream) for stream in application.streams]
        sinks = [blueprint.results(operator.name) for operator in application.operators]
        return found + [channel for channel in sinks if channel.exists()]


def is_drained(channel: Channel, subscription: str) -> bool:
    """Whether a subscription has read all there is."""
    return subscription_backlog(channel, subscription).manifests == 0


def _consumers(channel: Channel) -> list[str]:
    """Instances that have said how far they have read."""
    return [name for by_consumer in channel.consumers.committed().values() for name in by_consumer]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
