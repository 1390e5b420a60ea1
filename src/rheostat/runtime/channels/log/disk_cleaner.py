"""Removal of consumed slots on disk, safe against a kill at any moment.

First the mark that says where the slots begin, then the segments, then the manifests: an interrupted cleaning is found
and finished by the next one. Of every epoch at least one slot stays, the last one that was consumed: it holds the
frontier, the batch id and, at the end, the seal. Only one cleaner works at a time (a lock that dies with its process).
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rheostat.machine.disk import TEMPORARY, Disk
from rheostat.runtime.channels.log.channel_folder import ChannelFolder
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.port.channel import Cleaned, Place
from rheostat.runtime.channels.port.places import FIRST_EPOCH, last_epoch


def clean_folder(
    folder: ChannelFolder, disk: Disk, floors: Callable[[], Mapping[str, Place]], orphans_before_ms: int
) -> Cleaned:
    """Removes rows and manifests below the floors, and old orphans. Does nothing while another cleaner is at work."""
    log = DiskLog(folder, disk)
    manifests = segments = orphans = 0
    with _alone(folder) as alone:
        if not alone:
            return Cleaned()
        found = floors()
        for producer in log.producers():
            floor = found.get(producer)
            for epoch in range(FIRST_EPOCH, (last_epoch(log, producer) or 0) + 1):
                slots = log.slots(producer, epoch)
                if floor is not None and slots and (epoch, 1) < floor:
                    begin = floor[1] - 1 if epoch == floor[0] else slots[-1]
                    removed = _clean_epoch(log, producer, epoch, min(begin, slots[-1]))
                    manifests, segments = manifests + removed[0], segments + removed[1]
                orphans += _clean_orphans(log, producer, epoch, orphans_before_ms)
    return Cleaned(manifests, segments, orphans)


def _clean_epoch(log: DiskLog, producer: str, epoch: int, begin: int) -> tuple[int, int]:
    """Removes the slots below `begin` and their segments."""
    folder, disk = log.folder, log.disk
    begin = max(begin, log.begin(producer, epoch))
    if begin > log.begin(producer, epoch):
        disk.replace(folder.begin(producer, epoch), str(begin).encode(), durable=True)
    manifests = segments = 0
    for slot in log.slots(producer, epoch):
        if slot >= begin:
            break
        manifest = log.entry(producer, epoch, slot)
        for segment in manifest.segments if manifest is not None else ():
            disk.remove(folder.segments(producer, epoch) / segment.name)
            segments += 1
        disk.remove(folder.slot(producer, epoch, slot))
        manifests += 1
    return manifests, segments


def _clean_orphans(log: DiskLog, producer: str, epoch: int, before_ms: int) -> int:
    """Removes old files that no manifest names."""
    folder = log.folder.segments(producer, epoch)
    drafts = log.folder.epoch(producer, epoch).glob(f"{TEMPORARY}*")
    old = [path for path in (*folder.iterdir(), *drafts) if _changed_ms(path) < before_ms]
    if not old:
        return 0
    manifests = (log.entry(producer, epoch, slot) for slot in log.slots(producer, epoch))
    named = {segment.name for manifest in manifests if manifest is not None for segment in manifest.segments}
    orphans = [path for path in old if path.name not in named]
    for path in orphans:
        log.disk.remove(path)
    return len(orphans)


def _changed_ms(path: Path) -> float:
    try:
        return path.stat().st_mtime * 1000
    except FileNotFoundError:
        return float("inf")


@contextmanager
def _alone(folder: ChannelFolder) -> Iterator[bool]:
    """Whether no other process cleans this channel."""
    descriptor = os.open(folder.path / "cleaner.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
