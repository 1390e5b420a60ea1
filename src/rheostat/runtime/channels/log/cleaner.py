"""Removing what everybody has done with, safely against a kill at any moment.

First the mark that says where the slots begin, then the segments, then the manifests: whatever is interrupted is
found and finished by the next run. Of every epoch at least one slot stays, the last one that was consumed: it holds
the frontier, the batch id and, at the end, the seal. Only one cleaner works at a time (a lock that dies with its
process).
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.runtime.channels.log.consumers import committed
from rheostat.runtime.channels.log.disk_log import FIRST_EPOCH, DiskLog, Place, last_epoch
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.disk import TEMPORARY, Disk
from rheostat.runtime.channels.records.offset import Offset


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What one run removed."""

    manifests: int = 0
    segments: int = 0
    orphans: int = 0
    """Segments and drafts no manifest names: of crashed, fenced and repeated tasks."""


@dataclass(slots=True)
class Cleaner:
    """Cleans a channel now and then, each time what everybody had done with the time before.

    So whoever looks at a batch that has just ended, to tell how long its rows were on their way, finds all of them.
    """

    channel: Channel
    disk: Disk
    every_ms: int
    _cleaned_ms: int = 0
    _floors: Mapping[str, Place] = field(default_factory=dict)

    def clean_if_due(self, now_ms: int) -> None:
        """Cleans if the last time is long enough ago."""
        if now_ms - self._cleaned_ms < self.every_ms:
            return
        floors = _floors(self.channel, DiskLog(self.channel).producers())
        both = {name: min(floor, floors[name]) for name, floor in self._floors.items() if name in floors}
        clean(self.channel, self.disk, now_ms, floors=both)
        self._cleaned_ms, self._floors = now_ms, floors


def clean(
    channel: Channel, disk: Disk, now_ms: int, grace_ms: int = 3_600_000, floors: Mapping[str, Place] | None = None
) -> Cleaned:
    """Removes what every subscription has done with, and orphans older than the grace.

    The grace must exceed the time from the first row a task writes to the commit of its batch. With `floors` what lies
    below them is removed instead. Does nothing while another cleaner is at work.
    """
    log = DiskLog(channel)
    manifests = segments = orphans = 0
    with _alone(channel) as alone:
        if not alone:
            return Cleaned()
        floors = _floors(channel, log.producers()) if floors is None else floors
        for producer in log.producers():
            floor = floors.get(producer)
            for epoch in range(FIRST_EPOCH, (last_epoch(log, producer) or 0) + 1):
                slots = log.slots(producer, epoch)
                if floor is not None and slots and (epoch, 1) < floor:
                    begin = floor[1] - 1 if epoch == floor[0] else slots[-1]
                    removed = _clean_epoch(log, disk, producer, epoch, min(begin, slots[-1]))
                    manifests, segments = manifests + removed[0], segments + removed[1]
                orphans += _clean_orphans(log, disk, producer, epoch, now_ms - grace_ms)
    return Cleaned(manifests, segments, orphans)


def _floors(channel: Channel, producers: Iterable[str]) -> dict[str, Place]:
    """Below which every group of every subscription is done; without producers that somebody has not begun with."""
    subscriptions = committed(channel)
    found = ((producer, _floor(channel, subscriptions, producer)) for producer in producers)
    return {producer: floor for producer, floor in found if floor is not None}


def _floor(channel: Channel, subscriptions: Mapping[str, list[Offset]], producer: str) -> Place | None:
    least: Place | None = None
    for offsets in subscriptions.values():
        covered: set[int] = set()
        for cohort in (cohort for offset in offsets for cohort in offset.cohorts):
            place = cohort.at.get(producer)
            if place is None:
                return None
            covered |= cohort.groups
            least = (place.epoch, place.done) if least is None else min(least, (place.epoch, place.done))
        if covered != channel.all_groups:
            return None
    return least


def _clean_epoch(log: DiskLog, disk: Disk, producer: str, epoch: int, begin: int) -> tuple[int, int]:
    """Removes the slots below `begin` and their segments."""
    channel = log.channel
    begin = max(begin, log.begin(producer, epoch))
    if begin > log.begin(producer, epoch):
        disk.replace(channel.begin(producer, epoch), str(begin).encode(), durable=True)
    manifests = segments = 0
    for slot in log.slots(producer, epoch):
        if slot >= begin:
            break
        manifest = log.entry(producer, epoch, slot)
        for segment in manifest.segments if manifest is not None else ():
            disk.remove(channel.segments(producer, epoch) / segment.name)
            segments += 1
        disk.remove(channel.slot(producer, epoch, slot))
        manifests += 1
    return manifests, segments


def _clean_orphans(log: DiskLog, disk: Disk, producer: str, epoch: int, before_ms: int) -> int:
    """Removes old files that no manifest names."""
    folder = log.channel.segments(producer, epoch)
    drafts = log.channel.epoch(producer, epoch).glob(f"{TEMPORARY}*")
    old = [path for path in (*folder.iterdir(), *drafts) if _changed_ms(path) < before_ms]
    if not old:
        return 0
    manifests = (log.entry(producer, epoch, slot) for slot in log.slots(producer, epoch))
    named = {segment.name for manifest in manifests if manifest is not None for segment in manifest.segments}
    orphans = [path for path in old if path.name not in named]
    for path in orphans:
        disk.remove(path)
    return len(orphans)


def _changed_ms(path: Path) -> float:
    try:
        return path.stat().st_mtime * 1000
    except FileNotFoundError:
        return float("inf")


@contextmanager
def _alone(channel: Channel) -> Iterator[bool]:
    """Whether no other process cleans this channel."""
    descriptor = os.open(channel.path / "cleaner.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
