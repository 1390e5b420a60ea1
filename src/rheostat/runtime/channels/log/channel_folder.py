"""Layout of a channel on disk: the folders and files of its producers and consumers.

```
<channel>/channel.json                       the description of the channel (fixed for life)
<channel>/producers/<producer>/<epoch>/      opened.json, 0.json, 1.json, ... (manifests: dense, linked exclusively)
<channel>/producers/<producer>/<epoch>/segments/*.arrow
<channel>/consumers/<subscription>/*.json    the offset that each instance has committed
```
"""

import json
from dataclasses import dataclass
from pathlib import Path

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.port.backlog import subscription_of
from rheostat.runtime.channels.records.channel_errors import NoChannel
from rheostat.runtime.channels.records.channel_spec import ChannelSpec, checked_name

SPEC_FILE = "channel.json"


@dataclass(frozen=True, slots=True)
class ChannelFolder:
    """The folder of one channel."""

    path: Path
    spec: ChannelSpec

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
        """File with the first slot that was not cleaned away."""
        return self.epoch(producer, epoch) / "begin"

    def segments(self, producer: str, epoch: int) -> Path:
        """Folder of the segments of an epoch."""
        return self.epoch(producer, epoch) / "segments"

    def subscriptions(self) -> Path:
        """Folder of what consumers have committed."""
        return self.path / "consumers"

    def subscription(self, subscription: str) -> Path:
        """Folder of one subscription."""
        return self.subscriptions() / checked_name(subscription)

    def consumer(self, consumer: str) -> Path:
        """File with the offset that an instance has committed."""
        return self.subscription(subscription_of(consumer)) / f"{checked_name(consumer)}.json"

    def exists(self) -> bool:
        """Whether the channel was created."""
        return (self.path / SPEC_FILE).exists()


def create_folder(folder: ChannelFolder, disk: Disk) -> None:
    """Creates the channel. Raises ValueError if there is another one at this place."""
    for part in (folder.producers(), folder.subscriptions()):
        disk.make_folder(part)
    disk.publish(folder.path / SPEC_FILE, json.dumps(folder.spec.to_document()).encode())
    there = load_folder(folder.path)
    if there != folder:
        raise ValueError(f"{folder.path} holds another channel: {there.spec}, not {folder.spec}")


def load_folder(path: Path) -> ChannelFolder:
    """The channel at this place. Raises NoChannel if there is none."""
    try:
        document = json.loads((path / SPEC_FILE).read_bytes())
    except FileNotFoundError:
        raise NoChannel(str(path)) from None
    return ChannelFolder(path, ChannelSpec.from_document(document))
