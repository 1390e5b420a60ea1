"""What can be read of a channel's log. Manifests never change, so a reader process reads each one once."""

from dataclasses import dataclass, field
from typing import Protocol

from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.disk import TEMPORARY
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER, Manifest, ManifestKind, Opening

FIRST_EPOCH = 1
Place = tuple[int, int]
"""Epoch and slot."""


class Log(Protocol):
    """The log as a reader sees it: perhaps less than what is on the disk, if a slow network is emulated."""

    @property
    def channel(self) -> Channel:
        """Whose log this is."""
        ...

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared."""
        ...

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """How the epoch began, None if it has not."""
        ...

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if there is none yet."""
        ...

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        ...


@dataclass
class DiskLog:
    """The log on the disk, with a memory of the manifests it has read."""

    channel: Channel
    _entries: dict[tuple[str, int], dict[int, Manifest]] = field(default_factory=dict)
    _openings: dict[tuple[str, int], Opening] = field(default_factory=dict)

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared."""
        names = sorted(path.name for path in self.channel.producers().iterdir() if not path.name.startswith(TEMPORARY))
        return tuple(name for name in names if self.opening(name, FIRST_EPOCH) is not None)

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """How the epoch began, None if it has not."""
        known = self._openings.get((producer, epoch))
        if known is None:
            try:
                known = Opening.from_bytes(self.channel.opened(producer, epoch).read_bytes())
            except FileNotFoundError:
                return None
            self._openings[producer, epoch] = known
        return known

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if there is none yet."""
        known = self._entries.setdefault((producer, epoch), {})
        found = known.get(slot)
        if found is None and slot >= 0:
            try:
                found = Manifest.from_bytes(self.channel.slot(producer, epoch, slot).read_bytes())
            except FileNotFoundError:
                return None
            known[slot] = found
        return found

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        try:
            return int(self.channel.begin(producer, epoch).read_bytes() or b"0")
        except FileNotFoundError:
            return 0

    def slots(self, producer: str, epoch: int) -> list[int]:
        """All slots on the disk, by listing the folder: for the few who must not read every manifest."""
        names = (path.name for path in self.channel.epoch(producer, epoch).iterdir())
        return sorted(int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit())

    def forget_before(self, producer: str, epoch: int, slot: int) -> None:
        """Drops manifests nobody here will ask for again, so that memory does not grow with time."""
        for key in [key for key in self._entries if key[0] == producer and key[1] < epoch]:
            del self._entries[key]
        kept = self._entries.get((producer, epoch), {})
        for old in [old for old in kept if old < slot]:
            del kept[old]


def last_epoch(log: Log, producer: str, start: int = FIRST_EPOCH) -> int | None:
    """The newest epoch of a producer, None if it has none. Epochs are dense."""
    if log.opening(producer, start) is None:
        return None
    epoch = start
    while log.opening(producer, epoch + 1) is not None:
        epoch += 1
    return epoch


def next_slot(log: Log, producer: str, epoch: int, start: int = 0) -> int:
    """The first free slot of an epoch. Slots are dense, so probing forward from what is known finds it."""
    slot = max(start, log.begin(producer, epoch))
    while log.entry(producer, epoch, slot) is not None:
        slot += 1
    return slot


def has_rows(log: Log) -> bool:
    """Whether there is, or was, anything to read: where something was cleaned away, or written again, there was."""
    for producer in log.producers():
        if log.begin(producer, FIRST_EPOCH) or log.opening(producer, FIRST_EPOCH + 1) is not None:
            return True
        slots = range(next_slot(log, producer, FIRST_EPOCH))
        if any((found := log.entry(producer, FIRST_EPOCH, slot)) is not None and found.rows for slot in slots):
            return True
    return False


def is_over(log: Log, producer: str, epoch: int, slot: int) -> bool:
    """Whether an epoch ends before this slot."""
    last = log.entry(producer, epoch, slot - 1)
    return last is not None and last.kind is not ManifestKind.BATCH


def frontier_at(log: Log, producer: str, epoch: int, slot: int) -> int:
    """What a producer promises about everything from this slot on."""
    last = log.entry(producer, epoch, slot - 1)
    if last is not None and last.kind is not ManifestKind.CLOSE:
        return last.frontier
    opening = log.opening(producer, epoch + 1 if last is not None else epoch)
    if opening is not None:
        return opening.frontier
    return FOREVER if last is not None else NEVER


def required(log: Log, producer: str, epoch: int, slot: int) -> Manifest:
    """The manifest in a slot that must be there."""
    found = log.entry(producer, epoch, slot)
    if found is None:
        raise Gone(log.channel.name, f"{producer}/{epoch}/{slot}")
    return found
