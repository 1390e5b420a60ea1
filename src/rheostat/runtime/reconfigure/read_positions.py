"""Positions of instances in their inputs, and the positions where their successors begin."""

from collections.abc import Callable, Sequence

from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.channels.records.offset import Offset, format_offset, join, merge, parse_offset, restrict
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan


class ReadPositions:
    """Positions of instances at one moment: every checkpoint is asked once."""

    def __init__(self, blueprint: Blueprint, offsets: Callable[[Instance], tuple[str, ...] | None]) -> None:
        """`offsets` gives the source offsets of an instance's last committed batch, None before the first."""
        self._blueprint, self._ask = blueprint, offsets
        self._known: dict[int, tuple[str, ...] | None] = {}

    def source_offsets(self, instance: Instance) -> tuple[str, ...] | None:
        """Source offsets of an instance's last committed batch; None before its first."""
        if instance.number not in self._known:
            self._known[instance.number] = self._ask(instance)
        return self._known[instance.number]

    def source_line(self, readers: Sequence[Instance]) -> tuple[str, ...]:
        """Offsets of a source, from the first of its readers that has any; a mark to begin if none has.

        The mark is explicit: a checkpoint whose state comes from elsewhere has offsets of another source in it.
        """
        for one in readers:
            offsets = self.source_offsets(one)
            if offsets is not None and any(offset != NO_OFFSET for offset in offsets):
                return offsets
        return (NO_OFFSET,)

    def read_offsets(self, instance: Instance) -> list[Offset]:
        """Offsets of an instance in its channels: of its last committed batch, or those it was told to begin at."""
        channels = self._blueprint.inputs_of(instance)
        begun = [_begin(instance, channel, number) for number, channel in enumerate(channels)]
        written = self.source_offsets(instance)
        if written is None:
            return begun
        return [start if text == NO_OFFSET else parse_offset(text) for text, start in zip(written, begun, strict=True)]

    def starts_of(self, instance: Instance, old: PhysicalPlan) -> tuple[str, ...]:
        """Offsets at which a new instance begins to read its channels.

        It goes on where the instances before it have stopped. If the stream was inside a fragment until now, its
        channel goes on where it had ended, or begins.
        """
        before = [one for one in old.with_head(instance.head) if one.groups & instance.groups]
        starts = []
        for number, channel in enumerate(self._blueprint.inputs_of(instance)):
            if before:
                whole = merge([self.read_offsets(one)[number] for one in before])
                starts.append(format_offset(restrict(whole, instance.groups)))
            elif channel.spec.name in old.parked:
                starts.append(format_offset(restrict(parse_offset(old.parked[channel.spec.name]), instance.groups)))
            else:
                starts.append(format_offset(Offset.start(channel.spec.name, instance.groups)))
        return tuple(starts)

    def parked_offsets(self, old: PhysicalPlan, new: PhysicalPlan) -> dict[str, str]:
        """Offsets at which reading ended of every channel whose stream is inside a fragment from now on."""
        parked = dict(old.parked)
        heads = {instance.head for instance in new.instances}
        for head in {instance.head for instance in old.instances}:
            readers = old.with_head(head)
            for number, channel in enumerate(self._blueprint.inputs_of(readers[0])):
                if head in heads:
                    parked.pop(channel.spec.name, None)
                else:
                    whole = merge([self.read_offsets(reader)[number] for reader in readers])
                    parked[channel.spec.name] = format_offset(whole)
        return parked


def _begin(instance: Instance, channel: Channel, number: int) -> Offset:
    if instance.start and instance.start[number]:
        return restrict(parse_offset(instance.start[number]), instance.groups)
    return Offset.start(channel.spec.name, instance.groups)


def furthest(offsets: Sequence[Offset]) -> list[Offset]:
    """Offsets at which instances with different groups have read the same: the furthest that any has reached."""
    targets = []
    for own in offsets:
        target = own
        for other in offsets:
            if other.groups != own.groups:
                target = join(target, _as_if_owning(other, own))
        targets.append(target)
    return targets


def _as_if_owning(other: Offset, own: Offset) -> Offset:
    """The furthest position of another instance, for one's own groups."""
    cohorts = [type(cohort)(own.groups, cohort.at) for cohort in other.cohorts]
    whole = Offset.of(own.channel, cohorts[:1], other.frontier)
    for cohort in cohorts[1:]:
        whole = join(whole, Offset.of(own.channel, [cohort], other.frontier))
    return whole
