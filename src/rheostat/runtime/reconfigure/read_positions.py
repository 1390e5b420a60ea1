"""How far has an instance read, and where do its successors begin?"""

from collections.abc import Sequence

from rheostat.runtime.channels.port.channel import Channel
from rheostat.runtime.channels.records.offset import Offset, format_offset, join, merge, parse_offset, restrict
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan


def source_offsets(blueprint: Blueprint, instance: Instance) -> tuple[str, ...] | None:
    """How far the sources of a stopped instance were read, as its checkpoint has it; None before its first batch."""
    path = blueprint.checkpoint(instance)
    if not path.exists():
        return None
    checkpoint = Checkpoint(path)
    return None if checkpoint.last_committed is None else checkpoint.planned(checkpoint.last_committed).offsets


def source_line(blueprint: Blueprint, readers: Sequence[Instance]) -> tuple[str, ...]:
    """How far a source was read, by whoever of its readers knows; that it has to begin, if nobody does.

    Said in so many words: a checkpoint whose state comes from somewhere else has offsets of something else in it.
    """
    for one in readers:
        offsets = source_offsets(blueprint, one)
        if offsets is not None and any(offset != NO_OFFSET for offset in offsets):
            return offsets
    return (NO_OFFSET,)


def read_offsets(blueprint: Blueprint, instance: Instance) -> list[Offset]:
    """How far an instance has read its channels, by its last committed batch or by where it was told to begin."""
    channels = blueprint.inputs_of(instance)
    begun = [_begin(instance, channel, number) for number, channel in enumerate(channels)]
    written = source_offsets(blueprint, instance)
    if written is None:
        return begun
    return [start if text == NO_OFFSET else parse_offset(text) for text, start in zip(written, begun, strict=True)]


def _begin(instance: Instance, channel: Channel, number: int) -> Offset:
    if instance.start and instance.start[number]:
        return restrict(parse_offset(instance.start[number]), instance.groups)
    return Offset.start(channel.spec.name, instance.groups)


def furthest(offsets: Sequence[Offset]) -> list[Offset]:
    """Where instances with different groups have to go to have read the same: to the furthest any of them is."""
    targets = []
    for own in offsets:
        target = own
        for other in offsets:
            if other.groups != own.groups:
                target = join(target, _as_if_owning(other, own))
        targets.append(target)
    return targets


def _as_if_owning(other: Offset, own: Offset) -> Offset:
    """The furthest position of another instance, said of one's own groups."""
    cohorts = [type(cohort)(own.groups, cohort.at) for cohort in other.cohorts]
    whole = Offset.of(own.channel, cohorts[:1], other.frontier)
    for cohort in cohorts[1:]:
        whole = join(whole, Offset.of(own.channel, [cohort], other.frontier))
    return whole


def starts_of(blueprint: Blueprint, instance: Instance, old: PhysicalPlan) -> tuple[str, ...]:
    """Where a new instance begins to read each of its channels.

    Where the ones before it had come to that read the same channels; if the stream was inside a fragment until now, the
    channel goes on where it had ended, or begins.
    """
    before = [one for one in old.with_head(instance.head) if one.groups & instance.groups]
    starts = []
    for number, channel in enumerate(blueprint.inputs_of(instance)):
        if before:
            whole = merge([read_offsets(blueprint, one)[number] for one in before])
            starts.append(format_offset(restrict(whole, instance.groups)))
        elif channel.spec.name in old.parked:
            starts.append(format_offset(restrict(parse_offset(old.parked[channel.spec.name]), instance.groups)))
        else:
            starts.append(format_offset(Offset.start(channel.spec.name, instance.groups)))
    return tuple(starts)


def parked_offsets(blueprint: Blueprint, old: PhysicalPlan, new: PhysicalPlan) -> dict[str, str]:
    """Where reading ended of every channel whose stream is inside a fragment from now on."""
    parked = dict(old.parked)
    heads = {instance.head for instance in new.instances}
    for head in {instance.head for instance in old.instances}:
        readers = old.with_head(head)
        for number, channel in enumerate(blueprint.inputs_of(readers[0])):
            if head in heads:
                parked.pop(channel.spec.name, None)
            else:
                whole = merge([read_offsets(blueprint, reader)[number] for reader in readers])
                parked[channel.spec.name] = format_offset(whole)
    return parked
