"""The primitive steps that the producer protocol needs of a log of slots."""

from typing import Protocol

from rheostat.runtime.channels.port.channel import ChannelLog
from rheostat.runtime.channels.records.manifest import Manifest, Opening


class SlotLog(ChannelLog, Protocol):
    """A log whose slots can be taken. Every step is atomic: of several that want the same slot exactly one gets it."""

    def declare(self, producer: str, epoch: int, opening: Opening) -> bool:
        """Opens an epoch; says whether it was not open yet."""
        ...

    def take(self, producer: str, epoch: int, slot: int, manifest: Manifest) -> bool:
        """Puts a manifest into a slot; says whether the slot was free."""
        ...

    def has_segment(self, producer: str, epoch: int, segment: str) -> bool:
        """Whether a segment was staged and is still there."""
        ...
