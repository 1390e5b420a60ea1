"""What a channel is and where its parts lie."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.key_groups import Groups, group_range

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_@.=+-]*")


@dataclass(frozen=True, slots=True)
class Channel:
    """One stream of an application. All of it is fixed for the life of the channel."""

    path: Path
    name: str
    """Appears in every offset, so that an offset cannot be taken for another channel's."""
    groups: int
    """Number of key groups G."""
    event_time: str | None = None
    """Column (or path into structs, `window.end`) whose order readers protect; None: everything is released at once."""
    schema: str | None = None
    """Columns as Spark DDL, if readers need not say it themselves."""

    def __post_init__(self) -> None:
        """Refuses names that are no file names and channels without groups."""
        checked_name(self.name)
        if self.groups < 1:
            raise ValueError(f"a channel has at least one key group, got {self.groups}")

    @property
    def all_groups(self) -> Groups:
        """Every key group."""
        return group_range(self.groups)

    def producers(self) -> Path:
        """Folder of all producers."""
        return self.path / "producers"

    def epoch(self, producer: str, epoch: int) -> Path:
        """Folder of one epoch of a producer."""
        return self.producers() / checked_name(producer) / str(epoch)

    def opened(self, producer: str, epoch: int) -> Path:
        """File that declares the epoch."""
        return self.epoch(producer, epoch) / "opened.json"

    def slot(self, producer: str, epoch: int, slot: int) -> Path:
        """File of one manifest."""
        return self.epoch(producer, epoch) / f"{slot}.json"

    def begin(self, producer: str, epoch: int) -> Path:
        """File that says which slots were cleaned away."""
        return self.epoch(producer, epoch) / "begin"

    def segments(self, producer: str, epoch: int) -> Path:
        """Folder of the segments of an epoch."""
        return self.epoch(producer, epoch) / "segments"

    def subscriptions(self) -> Path:
        """Folder of what consumers have done with."""
        return self.path / "consumers"


def create_channel(channel: Channel, disk: Disk) -> Channel:
    """Makes the channel, or checks that the one there is the same."""
    for folder in (channel.producers(), channel.subscriptions()):
        disk.make_folder(folder)
    content = asdict(channel)
    del content["path"]
    disk.publish(channel.path / "channel.json", json.dumps(content).encode())
    there = load_channel(channel.path)
    if there != channel:
        raise ValueError(f"{channel.path} holds another channel: {there}, not {channel}")
    return channel


def load_channel(path: Path | str) -> Channel:
    """The channel at this place."""
    place = Path(path)
    return Channel(path=place, **json.loads((place / "channel.json").read_bytes()))


def checked_name(name: str) -> str:
    """The name, if it can be the name of a file and part of an offset."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"a name consists of letters, digits and _ @ . = + -, got {name!r}")
    return name
