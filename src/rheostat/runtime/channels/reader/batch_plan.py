"""Plan of a batch: the rows between two offsets, dealt out to the replicas of an instance.

The answer depends on the two offsets alone, so a batch that Spark repeats gets the same rows. All rows of a key group
go to one partition: their order survives, and what a partition writes next keeps it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rheostat.runtime.channels.port.channel import ManifestLog
from rheostat.runtime.channels.port.places import FIRST_EPOCH, is_over, required
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.key_groups import EVERY, Groups
from rheostat.runtime.channels.records.manifest import Manifest
from rheostat.runtime.channels.records.offset import At, Offset, Position, side_by_side
from rheostat.runtime.channels.records.segment import GroupRun, Strand


@dataclass(frozen=True, slots=True)
class SlotStretch:
    """Consecutive slots of one epoch of a producer that lie between two offsets, for some groups."""

    producer: str
    epoch: int
    groups: Groups
    slots: tuple[tuple[int, Manifest], ...]
    seen_before: int = 0
    """Slots below this one were looked at before."""
    done_after: int = 0
    """Slots below this one are handed over entirely."""
    from_cut: int | None = None
    to_cut: int | None = None


def partitions(log: ManifestLog, start: Offset, end: Offset, replicas: int) -> list[list[Strand]]:
    """The rows between two offsets in at most `replicas` parts of about equal size; no part is empty."""
    found = [stretch for stretch in stretches_between(log, start, end) if any(m.segments for _, m in stretch.slots)]
    # Oldest first: where a key has moved from one producer to another, the old one had published all of it before.
    stretches = sorted(found, key=lambda stretch: stretch.slots[0][1].published_ms)
    weights: dict[int, int] = {}
    for stretch in stretches:
        for _, manifest in stretch.slots:
            everywhere = manifest.rows_by_group.get(EVERY, 0)
            for group in stretch.groups:
                if rows := manifest.rows_by_group.get(group, 0) + everywhere:
                    weights[group] = weights.get(group, 0) + rows
    parts = [
        [strand for stretch in stretches for strand in _strands(stretch, groups)]
        for groups in _dealt(weights, replicas)
    ]
    return [part for part in parts if part]


def stretches_between(log: ManifestLog, start: Offset, end: Offset) -> Iterator[SlotStretch]:
    """Slots between two offsets, producer by producer, epoch by epoch."""
    for groups, before, after in side_by_side(start, end):
        for producer in sorted(after):
            yield from _stretches_of(log, producer, groups, before, after)


def ingest_histogram(log: ManifestLog, start: Offset, end: Offset) -> IngestHistogram:
    """Ingest times of the rows between two offsets. Whole manifests: the share of other owners' groups is in it too.

    What was cleaned meanwhile is left out: a measurement is not worth keeping data for.
    """
    found: dict[tuple[str, int, int], IngestHistogram] = {}
    for _, before, after in side_by_side(start, end):
        for producer, place in after.items():
            first = before.get(producer) or Position.at(FIRST_EPOCH, 0)
            for epoch in range(first.epoch, place.epoch + 1):
                slot = first.done if epoch == first.epoch else log.begin(producer, epoch)
                while epoch < place.epoch or slot < place.done:
                    manifest = log.entry(producer, epoch, slot)
                    if manifest is None:
                        if slot >= log.begin(producer, epoch):
                            break
                    else:
                        found[producer, epoch, slot] = manifest.ingest
                    slot += 1
    return IngestHistogram.merged(found.values())


def _stretches_of(log: ManifestLog, producer: str, groups: Groups, before: At, after: At) -> Iterator[SlotStretch]:
    stop = after[producer]
    start = before.get(producer) or Position.at(FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
    if start == stop:
        return
    for epoch in range(start.epoch, stop.epoch + 1):
        first = start.done if epoch == start.epoch else log.begin(producer, epoch)
        slots = tuple(_slots(log, producer, epoch, first, stop.seen if epoch == stop.epoch else None))
        old, new = epoch == start.epoch, epoch == stop.epoch
        if slots:
            yield SlotStretch(
                producer,
                epoch,
                groups,
                slots,
                start.seen if old else 0,
                stop.done if new else 0,
                start.cut if old else None,
                stop.cut if new else None,
            )


def _slots(log: ManifestLog, producer: str, epoch: int, first: int, stop: int | None) -> Iterator[tuple[int, Manifest]]:
    slot = first
    while slot < stop if stop is not None else not is_over(log, producer, epoch, slot):
        yield slot, required(log, producer, epoch, slot)
        slot += 1


def _strands(stretch: SlotStretch, groups: Groups) -> Iterator[Strand]:
    owned = groups & stretch.groups
    if stretch.from_cut is None and stretch.to_cut is None:
        runs = [run for _, manifest in stretch.slots for run in _runs(stretch, manifest, owned)]
        if runs:
            yield Strand(tuple(runs))
        return
    for group in sorted(owned):
        alone = frozenset({group})
        found = [
            (number, run)
            for number, (_, manifest) in enumerate(stretch.slots)
            for run in _runs(stretch, manifest, alone)
        ]
        if found:
            first = stretch.slots[0][0]
            yield Strand(
                tuple(run for _, run in found),
                tuple(number for number, _ in found),
                max(stretch.seen_before - first, 0),
                max(stretch.done_after - first, 0),
                stretch.from_cut,
                stretch.to_cut,
            )


def _runs(stretch: SlotStretch, manifest: Manifest, groups: Groups) -> Iterator[GroupRun]:
    """The rows of these groups in a manifest, neighbours joined; a broadcast row once per group."""
    for segment in manifest.segments:
        place = (stretch.producer, stretch.epoch, segment.name)
        current: GroupRun | None = None
        for group, first, rows in segment.places():
            if group == EVERY:
                yield from (GroupRun(*place, first, rows, ((owner, rows),)) for owner in sorted(groups))
            elif group in groups:
                if current is not None and current.first + current.rows == first:
                    current = GroupRun(*place, current.first, current.rows + rows, (*current.labels, (group, rows)))
                    continue
                if current is not None:
                    yield current
                current = GroupRun(*place, first, rows, ((group, rows),))
        if current is not None:
            yield current


def _dealt(weights: dict[int, int], parts: int) -> list[Groups]:
    """The groups dealt out so that the parts weigh about the same: the heaviest first, always to the lightest part."""
    hands: list[tuple[int, list[int]]] = [(0, []) for _ in range(parts)]
    for group, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
        index = min(range(parts), key=lambda part: (hands[part][0], part))
        hands[index] = (hands[index][0] + weight, [*hands[index][1], group])
    return [frozenset(groups) for _, groups in hands if groups]
