"""A channel in the memory of one process: for tests and dry runs, which must not touch a disk.

It keeps every promise of the port but durability: its rows are gone with the process.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rheostat.runtime.channels.log.memory_log import MemoryLog, StoredChannel, StoredEpoch
from rheostat.runtime.channels.log.producer import SlotProducer, close_newest, open_epoch
from rheostat.runtime.channels.port.backlog import subscription_of
from rheostat.runtime.channels.port.channel import GRACE_MS, Cleaned, EpochClaim, Place
from rheostat.runtime.channels.port.floors import floors_of, lower
from rheostat.runtime.channels.records.channel_errors import NoChannel
from rheostat.runtime.channels.records.channel_spec import ChannelSpec, checked_name
from rheostat.runtime.channels.records.manifest import Segment
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import grouped


@dataclass(frozen=True, slots=True)
class MemoryProducers:
    """The writing side of a channel in memory."""

    log: MemoryLog

    def open(self, claim: EpochClaim, now_ms: int = 0) -> SlotProducer:
        """Declares an epoch of a producer and seals the one before."""
        return open_epoch(self.log, claim, now_ms)

    def stage(self, producer: str, epoch: int, rows: pa.Table, groups: npt.NDArray[np.int64] | None) -> Segment | None:
        """Keeps the rows. None if there are none."""
        if rows.num_rows == 0:
            return None
        batch, counts = grouped(rows, groups)
        name = uuid4().hex
        with self.log.stored.changed:
            self.log.stored.epochs[producer][epoch].segments[name] = (time.time_ns() // 1_000_000, batch)
        return Segment(name, batch.nbytes, counts)

    def close(self, producer: str, now_ms: int) -> None:
        """Closes the newest epoch of the producer; does nothing if it was never declared."""
        close_newest(self.log, producer, now_ms)


@dataclass(frozen=True, slots=True)
class MemoryConsumers:
    """The consuming side of a channel in memory."""

    log: MemoryLog

    def subscribe(self, subscription: str) -> None:
        """Announces a reader of everything: from now on nothing is cleaned before it has read it."""
        with self.log.stored.changed:
            self.log.stored.subscriptions.setdefault(checked_name(subscription), {})

    def unsubscribe(self, subscription: str) -> None:
        """Takes the announcement back and forgets its consumers."""
        with self.log.stored.changed:
            self.log.stored.subscriptions.pop(checked_name(subscription), None)

    def commit(self, consumer: str, offset: Offset) -> None:
        """Records that everything before the offset is done with."""
        with self.log.stored.changed:
            subscription = checked_name(subscription_of(consumer))
            self.log.stored.subscriptions.setdefault(subscription, {})[checked_name(consumer)] = offset

    def forget(self, consumer: str) -> None:
        """Removes the record of an instance that is gone."""
        with self.log.stored.changed:
            self.log.stored.subscriptions.get(subscription_of(consumer), {}).pop(checked_name(consumer), None)

    def committed(self) -> dict[str, dict[str, Offset]]:
        """Offsets of all consumers, by subscription and consumer."""
        with self.log.stored.changed:
            return {name: dict(sorted(by.items())) for name, by in sorted(self.log.stored.subscriptions.items())}

    def floors(self) -> dict[str, Place]:
        """Places below which every group of every subscription is done, by producer."""
        return floors_of(self.committed(), self.log.spec.all_groups, self.log.producers())

    def clean(self, now_ms: int, *, grace_ms: int = GRACE_MS, below: Mapping[str, Place] | None = None) -> Cleaned:
        """Removes rows below the floors (and below `below`, if given), and orphans older than the grace."""
        cleaned = Cleaned()
        with self.log.stored.changed:
            floors = self.floors() if below is None else lower(self.floors(), below)
            for producer, epochs in self.log.stored.epochs.items():
                for epoch, stored in epochs.items():
                    floor = floors.get(producer)
                    if floor is not None and stored.slots and (epoch, 1) < floor:
                        last = max(stored.slots)
                        cleaned = _plus(cleaned, _drop(stored, min(floor[1] - 1 if epoch == floor[0] else last, last)))
                    cleaned = _plus(cleaned, _drop_orphans(stored, now_ms - grace_ms))
        return cleaned


@dataclass(frozen=True, slots=True)
class MemoryChannel:
    """One channel in memory. Its address is a name within the process."""

    address: str
    spec: ChannelSpec
    stored: StoredChannel

    def exists(self) -> bool:
        """Whether the channel was created."""
        return self.stored.spec is not None

    def create(self) -> None:
        """Creates the channel. Raises ValueError if there is a different one at its address."""
        with self.stored.changed:
            there, self.stored.spec = self.stored.spec, self.stored.spec or self.spec
        if there not in (None, self.spec):
            raise ValueError(f"{self.address} holds another channel: {there}, not {self.spec}")

    def log(self) -> MemoryLog:
        """A view of the log."""
        return MemoryLog(self.spec, self.stored)

    @property
    def producers(self) -> MemoryProducers:
        """The writing side."""
        return MemoryProducers(self.log())

    @property
    def consumers(self) -> MemoryConsumers:
        """The consuming side."""
        return MemoryConsumers(self.log())


@dataclass(frozen=True, slots=True)
class MemoryChannels:
    """Channels in memory, by address."""

    stored: dict[str, StoredChannel] = field(default_factory=dict)

    def at(self, address: str, spec: ChannelSpec) -> MemoryChannel:
        """The channel with this description, whether it was created or not."""
        return MemoryChannel(address, spec, self.stored.setdefault(address, StoredChannel()))

    def load(self, address: str) -> MemoryChannel:
        """The channel that was created at this address. Raises NoChannel if there is none."""
        stored = self.stored.get(address)
        if stored is None or stored.spec is None:
            raise NoChannel(address)
        return MemoryChannel(address, stored.spec, stored)

    def below(self, address: str) -> list[MemoryChannel]:
        """The channels that were created one step below this address."""
        known = sorted(name for name in self.stored if name.rpartition("/")[0] == address)
        return [self.load(name) for name in known if self.stored[name].spec is not None]


def _drop(stored: StoredEpoch, begin: int) -> Cleaned:
    """Removes the slots below `begin` and their segments."""
    stored.begin = max(begin, stored.begin)
    removed = [stored.slots.pop(slot) for slot in sorted(stored.slots) if slot < stored.begin]
    names = [segment.name for manifest in removed for segment in manifest.segments]
    for name in names:
        stored.segments.pop(name, None)
    return Cleaned(len(removed), len(names))


def _drop_orphans(stored: StoredEpoch, before_ms: int) -> Cleaned:
    """Removes old segments that no manifest names."""
    named = {segment.name for manifest in stored.slots.values() for segment in manifest.segments}
    old = [name for name, (staged_ms, _) in stored.segments.items() if staged_ms < before_ms and name not in named]
    for name in old:
        del stored.segments[name]
    return Cleaned(orphans=len(old))


def _plus(one: Cleaned, other: Cleaned) -> Cleaned:
    return Cleaned(one.manifests + other.manifests, one.segments + other.segments, one.orphans + other.orphans)
