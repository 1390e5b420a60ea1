"""The log of a channel in the memory of one process. Publications wake the readers that wait."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Condition

import pyarrow as pa

from rheostat.runtime.channels.port.channel import Place
from rheostat.runtime.channels.port.places import log_ends
from rheostat.runtime.channels.records.channel_spec import ChannelSpec, checked_name
from rheostat.runtime.channels.records.manifest import Manifest, Opening
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import GroupRun


@dataclass(slots=True)
class StoredEpoch:
    """One epoch of a producer."""

    opening: Opening
    begin: int = 0
    slots: dict[int, Manifest] = field(default_factory=dict)
    segments: dict[str, tuple[int, pa.RecordBatch]] = field(default_factory=dict)
    """(time in ms at which it was staged, rows) by name."""


@dataclass(slots=True)
class StoredChannel:
    """The content of a channel; everything is read and changed under the lock."""

    spec: ChannelSpec | None = None
    epochs: dict[str, dict[int, StoredEpoch]] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, Offset]] = field(default_factory=dict)
    changed: Condition = field(default_factory=Condition)


@dataclass(frozen=True, slots=True)
class MemoryLog:
    """The log in memory; a view needs no memory of its own."""

    spec: ChannelSpec
    stored: StoredChannel

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared."""
        with self.stored.changed:
            return tuple(sorted(self.stored.epochs))

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """The opening of an epoch, None if it was not opened."""
        found = self._epoch(producer, epoch)
        return None if found is None else found.opening

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if there is none yet."""
        found = self._epoch(producer, epoch)
        return None if found is None else found.slots.get(slot)

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        found = self._epoch(producer, epoch)
        return 0 if found is None else found.begin

    def slots(self, producer: str, epoch: int) -> list[int]:
        """Every slot that is taken, ascending."""
        with self.stored.changed:
            return sorted(self.stored.epochs[producer][epoch].slots)

    def wait(self, ends: Mapping[str, Place], seconds: float) -> bool:
        """Waits until the log has grown beyond these ends, at most so long; woken by every publication."""
        with self.stored.changed:
            return self.stored.changed.wait_for(lambda: log_ends(self) != ends, seconds)

    def fetch(self, runs: Iterable[GroupRun]) -> Iterator[pa.RecordBatch]:
        """Rows of every run."""
        for run in runs:
            with self.stored.changed:
                rows = self.stored.epochs[run.producer][run.epoch].segments[run.segment][1]
            yield rows.slice(run.first, run.rows)

    def forget_before(self, producer: str, epoch: int, slot: int) -> None:
        """Does nothing: the view has no memory of its own."""

    def declare(self, producer: str, epoch: int, opening: Opening) -> bool:
        """Opens an epoch; says whether it was not open yet."""
        with self.stored.changed:
            epochs = self.stored.epochs.setdefault(checked_name(producer), {})
            declared = epochs.setdefault(epoch, StoredEpoch(opening)).opening is opening
            self.stored.changed.notify_all()
            return declared

    def take(self, producer: str, epoch: int, slot: int, manifest: Manifest) -> bool:
        """Puts a manifest into a slot; says whether the slot was free."""
        with self.stored.changed:
            taken = self.stored.epochs[producer][epoch].slots.setdefault(slot, manifest) is manifest
            self.stored.changed.notify_all()
            return taken

    def has_segment(self, producer: str, epoch: int, segment: str) -> bool:
        """Whether a segment was staged and is still there."""
        found = self._epoch(producer, epoch)
        return found is not None and segment in found.segments

    def _epoch(self, producer: str, epoch: int) -> StoredEpoch | None:
        checked_name(producer)
        with self.stored.changed:
            return self.stored.epochs.get(producer, {}).get(epoch)
