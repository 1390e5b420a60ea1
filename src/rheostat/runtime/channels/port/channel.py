"""The Channel port: the protocols that every channel implements, on disk, in memory or across machines.

A `Channel` groups three narrow protocols: `ChannelProducers` (open an epoch, stage rows, publish, seal), `ChannelLog`
(read on from a position, wait, fetch rows) and `ChannelConsumers` (subscribe, commit, floors, clean). Only values go in
and out: a channel is named by an address, a text that only the implementation understands. Time is given.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import NEVER, Manifest, Opening, Segment
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import GroupRun

Place = tuple[int, int]
"""Epoch and slot in the log of one producer."""
GRACE_MS = 3_600_000
"""Age at which rows that no manifest names are removed. It must exceed the duration of any batch."""


@dataclass(frozen=True, slots=True)
class EpochClaim:
    """A request to write as a producer in one of its epochs."""

    producer: str
    epoch: int
    term: int = 0
    """Term of the owner of the run. An epoch belongs to the term that opened it."""
    continues: bool = True
    """Batch ids go on from the epoch before (the same checkpoint): batches in the log are not written again."""
    frontier: int = NEVER
    """Event time promised before the first batch."""


@dataclass(frozen=True, slots=True)
class ProducedBatch:
    """A batch of a producer, before it is published."""

    number: int
    """Batch id of the query."""
    segments: Sequence[Segment] = ()
    frontier: int = NEVER
    """Event time the producer may promise after this batch; the promise in the log never falls."""
    earliest: int | None = None
    latest: int | None = None
    ingest: IngestHistogram = IngestHistogram()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Counts of what one cleaning removed."""

    manifests: int = 0
    segments: int = 0
    orphans: int = 0
    """Segments and drafts no manifest names: of crashed, fenced and repeated tasks."""


class ManifestLog(Protocol):
    """Manifests by producer, epoch and slot: slots are dense and never change; epochs are dense."""

    @property
    def spec(self) -> ChannelSpec:
        """Description of the channel."""
        ...

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared."""
        ...

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """The opening of an epoch, None if it was not opened."""
        ...

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if there is none yet."""
        ...

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        ...


class ChannelLog(ManifestLog, Protocol):
    """The reading side: a view of the log with a memory of its own of the manifests it has read."""

    def slots(self, producer: str, epoch: int) -> Sequence[int]:
        """Every slot that is taken, ascending, without reading the manifests."""
        ...

    def wait(self, ends: Mapping[str, Place], seconds: float) -> bool:
        """Waits until the log has grown beyond these ends (see `log_ends`), at most so long; says whether it has."""
        ...

    def fetch(self, runs: Iterable[GroupRun]) -> Iterator[pa.RecordBatch]:
        """Rows of every run, one batch per run in their order."""
        ...

    def forget_before(self, producer: str, epoch: int, slot: int) -> None:
        """Drops manifests below the slot from memory; the log itself is not changed."""
        ...


class ChannelProducer(Protocol):
    """One open epoch of one producer."""

    @property
    def name(self) -> str:
        """Name of the producer."""
        ...

    @property
    def epoch(self) -> int:
        """The epoch it writes in."""
        ...

    def publish(self, batch: ProducedBatch, now_ms: int) -> bool:
        """Publishes the batch; says whether anything was published.

        Nothing is if the batch was published before (a replay) or has neither rows nor a new frontier. Raises Fenced if
        the epoch was sealed, SegmentGone if one of its segments was cleaned away.
        """
        ...

    def seal(self, now_ms: int) -> None:
        """Ends the epoch. Repeating it does nothing."""
        ...

    def close(self, now_ms: int) -> None:
        """Ends the epoch and declares the producer gone for good: consumers no longer wait for its event time."""
        ...

    def last_batch(self) -> int:
        """Greatest batch id that is in the log, -1 if none."""
        ...

    def frontier(self) -> int:
        """Event time the producer has promised so far."""
        ...


class ChannelProducers(Protocol):
    """The writing side."""

    def open(self, claim: EpochClaim, now_ms: int = 0) -> ChannelProducer:
        """Declares an epoch of a producer and seals the one before. Idempotent within a term.

        From here on consumers wait for this producer's event time. Raises Fenced if a newer epoch or a newer term has
        taken over, ValueError if an epoch would be left out.
        """
        ...

    def stage(self, producer: str, epoch: int, rows: pa.Table, groups: npt.NDArray[np.int64] | None) -> Segment | None:
        """Stores rows durably, `groups` naming the key group of each (None: broadcast). None if there are no rows.

        Readers see them when a batch that names the segment is published.
        """
        ...

    def close(self, producer: str, now_ms: int) -> None:
        """Closes the newest epoch of the producer; does nothing if it was never declared."""
        ...


class ChannelConsumers(Protocol):
    """The consuming side. An operator is a subscription; its instances ("count@n1") are consumers with own groups."""

    def subscribe(self, subscription: str) -> None:
        """Announces a reader of everything: from now on nothing is cleaned before it has read it."""
        ...

    def unsubscribe(self, subscription: str) -> None:
        """Takes the announcement back and forgets its consumers."""
        ...

    def commit(self, consumer: str, offset: Offset) -> None:
        """Records that everything before the offset is done with and will not be asked for again.

        The record may be lost in a crash of the machine: an older one only means that less is cleaned.
        """
        ...

    def forget(self, consumer: str) -> None:
        """Removes the record of an instance that is gone."""
        ...

    def committed(self) -> Mapping[str, Mapping[str, Offset]]:
        """Offsets of all consumers, by subscription and consumer."""
        ...

    def floors(self) -> Mapping[str, Place]:
        """Places below which every group of every subscription is done, by producer; producers without one left out."""
        ...

    def clean(self, now_ms: int, *, grace_ms: int = GRACE_MS, below: Mapping[str, Place] | None = None) -> Cleaned:
        """Removes rows below the floors (and below `below`, if given), and orphans older than the grace.

        Of every epoch the last slot that was consumed stays. Does nothing while another cleaner is at work.
        """
        ...


class Channel(Protocol):
    """One channel of an application, wherever it lies."""

    @property
    def address(self) -> str:
        """Text that opens the channel in any process of the run, see `channel_store.open_channel`."""
        ...

    @property
    def spec(self) -> ChannelSpec:
        """Description of the channel."""
        ...

    def exists(self) -> bool:
        """Whether the channel was created."""
        ...

    def create(self) -> None:
        """Creates the channel. Raises ValueError if a different one has the address."""
        ...

    def log(self) -> ChannelLog:
        """A new view of the log, with a memory of its own."""
        ...

    @property
    def producers(self) -> ChannelProducers:
        """The writing side."""
        ...

    @property
    def consumers(self) -> ChannelConsumers:
        """The consuming side."""
        ...
