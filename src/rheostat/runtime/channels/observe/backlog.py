"""What lies in a channel and was not read yet, and how long did it lie there that was?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rheostat.runtime.channels.log.disk_log import FIRST_EPOCH, DiskLog, Log, Place, is_over, last_epoch
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.manifest import Manifest, ManifestKind
from rheostat.runtime.channels.records.offset import Offset, Position, side_by_side

BEHIND_SECONDS = 1.5
"""What has waited for less says little: rows are published in batches, some every second."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What an instance has before it in one channel."""

    rows: int = 0
    oldest_ms: int | None = None
    """When the oldest of it was published; None if nothing waits."""
    oldest_rows: int = 0
    """So many rows were published then: they had arrived before."""

    def lag_seconds(self, now_seconds: float) -> float:
        """Age of the oldest, 0 if nothing waits."""
        return 0.0 if self.oldest_ms is None else max(0.0, now_seconds - self.oldest_ms / 1000)

    def arriving_tps(self, now_seconds: float) -> float | None:
        """What arrives, told by what waits; None if it has not waited for long enough to tell.

        The oldest is read first, so that everything since the oldest that waits is waiting.
        """
        lag = self.lag_seconds(now_seconds)
        return (self.rows - self.oldest_rows) / lag if lag >= BEHIND_SECONDS else None


def waiting(log: Log, offsets: Sequence[Offset], groups: Groups) -> Backlog:
    """What the owner of these groups has not looked at, by what the instances of its operator say they are done with.

    Over all instances of a subscription it is what `channels.consumers.lag` tells.
    """
    rows, oldest, oldest_rows = 0, None, 0
    for producer in log.producers():
        for (epoch, slot), owned in _places(log, offsets, groups, producer).items():
            for manifest in _from(log, producer, epoch, slot):
                mine = manifest.rows_for(owned)
                rows += mine
                if mine and (oldest is None or manifest.published_ms <= oldest):
                    oldest_rows = mine if manifest.published_ms != oldest else oldest_rows + mine
                    oldest = manifest.published_ms
    return Backlog(rows, oldest, oldest_rows)


def consumed(log: Log, start: Offset, end: Offset) -> list[tuple[str, Manifest]]:
    """(producer, manifest) of all that was finished between two offsets, as far as it was not cleaned away."""
    found: dict[tuple[str, int, int], Manifest] = {}
    for _, before, after in side_by_side(start, end):
        for producer, stop in after.items():
            first = before.get(producer) or Position.at(FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
            for epoch in range(first.epoch, stop.epoch + 1):
                slot = first.done if epoch == first.epoch else log.begin(producer, epoch)
                slot = max(slot, log.begin(producer, epoch))
                while epoch < stop.epoch or slot < stop.done:
                    manifest = log.entry(producer, epoch, slot)
                    if manifest is None:
                        break
                    if manifest.rows:
                        found[producer, epoch, slot] = manifest
                    slot += 1
    return [(producer, manifest) for (producer, _, _), manifest in found.items()]


def finished_before(offsets: Sequence[Offset], producer: str) -> Place | None:
    """The place before which everybody is done with a producer, None if somebody has not begun."""
    places = [cohort.at.get(producer) for offset in offsets for cohort in offset.cohorts]
    known = [(place.epoch, place.done) for place in places if place is not None]
    return min(known) if known and len(known) == len(places) else None


@dataclass(slots=True)
class UnorderedTail:
    """Follows a channel that nobody reads in order: what was published since the last time."""

    log: DiskLog
    _next: dict[str, Place] = field(default_factory=dict)

    def fresh(self, since_ms: float) -> list[Manifest]:
        """Every manifest once. Of a producer that is new here, only those after `since_ms`."""
        found: list[Manifest] = []
        for producer in self.log.producers():
            epoch, slot = self._next.get(producer) or self._begin(producer, since_ms)
            # What was read and cleaned away meanwhile is gone; who waited for it would wait for ever.
            slot = max(slot, self.log.begin(producer, epoch))
            for manifest in _from(self.log, producer, epoch, slot):
                if manifest.kind is ManifestKind.BATCH:
                    found.append(manifest)
            # Where to go on: the end of the newest epoch, of which the last manifest is remembered and no more.
            newest = last_epoch(self.log, producer, epoch) or epoch
            slot = slot if newest == epoch else self.log.begin(producer, newest)
            while self.log.entry(producer, newest, slot) is not None:
                slot += 1
            self._next[producer] = (newest, slot)
            self.log.forget_before(producer, newest, slot - 1)
        return found

    def _begin(self, producer: str, since_ms: float) -> Place:
        epoch = last_epoch(self.log, producer) or FIRST_EPOCH
        slots = self.log.slots(producer, epoch)
        slot = slots[-1] + 1 if slots else self.log.begin(producer, epoch)
        while slot - 1 in slots:
            last = self.log.entry(producer, epoch, slot - 1)
            if last is None or last.published_ms <= since_ms:
                break
            slot -= 1
        return epoch, slot


def _from(log: Log, producer: str, epoch: int, slot: int) -> Iterator[Manifest]:
    """The manifests from a place to the end, through all epochs."""
    while True:
        found = log.entry(producer, epoch, slot)
        if found is None:
            if not is_over(log, producer, epoch, slot) or log.opening(producer, epoch + 1) is None:
                return
            epoch, slot = epoch + 1, log.begin(producer, epoch + 1)
            continue
        yield found
        slot += 1


def _places(log: Log, offsets: Sequence[Offset], groups: Groups, producer: str) -> dict[Place, Groups]:
    """Groups by the furthest place somebody has come to with them."""
    begin = (FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
    best = dict.fromkeys(groups, begin)
    for offset in offsets:
        for cohort in offset.cohorts:
            at = cohort.at.get(producer)
            if at is not None:
                for group in cohort.groups & groups:
                    best[group] = max(best[group], (at.epoch, at.seen))
    places: dict[Place, set[int]] = {}
    for group, place in best.items():
        places.setdefault(place, set()).add(group)
    return {place: frozenset(owned) for place, owned in places.items()}
