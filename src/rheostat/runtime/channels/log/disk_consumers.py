"""Progress of consumers on disk: one file per instance with the offset it has committed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rheostat.machine.disk import TEMPORARY, Disk
from rheostat.runtime.channels.log.channel_folder import ChannelFolder
from rheostat.runtime.channels.log.disk_cleaner import clean_folder
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.port.backlog import subscription_of
from rheostat.runtime.channels.port.channel import GRACE_MS, Cleaned, Place
from rheostat.runtime.channels.port.floors import floors_of, lower
from rheostat.runtime.channels.records.offset import Offset, format_offset, parse_offset


@dataclass(frozen=True)
class DiskConsumers:
    """The consuming side of a channel on disk."""

    folder: ChannelFolder
    disk: Disk

    def subscribe(self, subscription: str) -> None:
        """Announces a reader of everything: from now on nothing is cleaned before it has read it."""
        self.disk.make_folder(self.folder.subscription(subscription))

    def unsubscribe(self, subscription: str) -> None:
        """Takes the announcement back and forgets its consumers."""
        folder = self.folder.subscription(subscription)
        if folder.is_dir():
            for path in folder.iterdir():
                self.disk.remove(path)
            folder.rmdir()

    def commit(self, consumer: str, offset: Offset) -> None:
        """Records that everything before the offset is done with. Not synced, so a crash may bring an older record."""
        self.subscribe(subscription_of(consumer))
        self.disk.replace(self.folder.consumer(consumer), format_offset(offset).encode(), durable=False)

    def forget(self, consumer: str) -> None:
        """Removes the record of an instance that is gone."""
        self.disk.remove(self.folder.consumer(consumer))

    def committed(self) -> dict[str, dict[str, Offset]]:
        """Offsets of all consumers, by subscription and consumer; a record torn by a crash is left out."""
        return {
            folder.name: {path.stem: offset for path in sorted(folder.iterdir()) if (offset := _read(path)) is not None}
            for folder in sorted(self.folder.subscriptions().iterdir())
            if folder.is_dir()
        }

    def floors(self) -> dict[str, Place]:
        """Places below which every group of every subscription is done, by producer."""
        return floors_of(self.committed(), self.folder.spec.all_groups, DiskLog(self.folder, self.disk).producers())

    def clean(self, now_ms: int, *, grace_ms: int = GRACE_MS, below: Mapping[str, Place] | None = None) -> Cleaned:
        """Removes rows below the floors (and below `below`, if given), and orphans older than the grace."""

        def floors() -> Mapping[str, Place]:
            return self.floors() if below is None else lower(self.floors(), below)

        return clean_folder(self.folder, self.disk, floors, now_ms - grace_ms)


def _read(path: Path) -> Offset | None:
    """The offset in a consumer's file, None if the file was torn by a crash or has just gone."""
    if path.name.startswith(TEMPORARY):
        return None
    try:
        return parse_offset(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
