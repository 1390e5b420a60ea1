"""Reader of one instance: chooses where a batch ends, plans its rows, commits its progress.

It is free of Spark, and time is given. Answers and acts are apart: `next_offset`, `plan` and `has_full_outlet` change
nothing that others see; `commit_progress`, `acknowledge_hold` and `clean_if_due` are the acts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.hold_file import HELD_TRIGGERS, HoldOrder, acknowledge, read_control
from rheostat.runtime.channels.port.backlog import forget_read, must_wait
from rheostat.runtime.channels.port.channel import Channel, ChannelLog, ManifestLog, Place
from rheostat.runtime.channels.port.places import has_rows, log_ends
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.reader.emulated_links import DelayedLog, EmulatedLink
from rheostat.runtime.channels.reader.periodic_cleaner import PeriodicCleaner
from rheostat.runtime.channels.records.channel_errors import WrongGroups
from rheostat.runtime.channels.records.key_groups import Groups, format_groups
from rheostat.runtime.channels.records.offset import Offset, join, meet, merge, restrict
from rheostat.runtime.channels.records.segment import Strand

COMMIT_AGAIN_MS = 2000
"""Time after which a reader commits the same progress again: the process of a query that was just stopped may still
overwrite it under the same name, and an idle reader would seem to lag for ever."""


@dataclass(frozen=True, slots=True)
class Outlet:
    """A channel that the same query writes to: the reader plans nothing new while it is too full."""

    channel: Channel
    producer: str
    max_lag_rows: int


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Settings of an instance that reads a channel."""

    channel: Channel
    groups: Groups
    consumer: str | None = None
    """Name under which progress is committed; None: it is not, and no producer waits for this reader."""
    start: Offset | None = None
    """Offset to begin at without a checkpoint; groups it does not cover begin at the beginning."""
    replicas: int = 1
    control: Path | None = None
    """File with hold orders."""
    links: Mapping[str, EmulatedLink] = field(default_factory=dict)
    outlets: tuple[Outlet, ...] = ()
    clean_every_ms: int | None = None
    """Time between two cleanings of the channel by this reader; None: it does not clean."""
    beside: tuple[Channel, ...] = ()
    """Other channels that the same query reads."""

    def __post_init__(self) -> None:
        """Rejects groups the channel does not have."""
        spec = self.channel.spec
        if not self.groups <= spec.all_groups:
            raise ValueError(f"{spec.name} has {spec.groups} groups, not {format_groups(self.groups)}")
        if self.replicas < 1:
            raise ValueError(f"need at least one replica, got {self.replicas}")


class ChannelReader:
    """Plans the batches of one instance."""

    def __init__(self, reading: ReadSettings) -> None:
        self._reading, self._spec = reading, reading.channel.spec
        self._log = reading.channel.log()
        self._delayed = DelayedLog(self._log, reading.links, reading.groups) if reading.links else None
        self._outlets = [(outlet.channel.log(), outlet) for outlet in reading.outlets]
        self._beside = [channel.log() for channel in reading.beside]
        self._done: Offset | None = None
        self._committed_ms = 0
        every_ms = reading.clean_every_ms
        self._cleaner = None if every_ms is None else PeriodicCleaner(reading.channel.consumers, every_ms)
        self._held = ("", 0)

    def first_offset(self) -> Offset:
        """The offset at which a query without a checkpoint begins."""
        owned, start = self._reading.groups, self._reading.start
        if start is None:
            return Offset.start(self._spec.name, owned)
        rest = Offset.start(start.channel, owned - start.groups)
        known = restrict(start, owned & start.groups)
        return known if not rest.cohorts else merge([known, rest]) if known.cohorts else rest

    def order(self) -> HoldOrder:
        """The order that the instance has now."""
        return read_control(self._reading.control)

    def next_offset(self, start: Offset, max_rows: int | None, now_ms: int, order: HoldOrder) -> Offset:
        """The offset at which the next batch ends: `start` itself if there is nothing to do."""
        self._check(start)
        if order.hold or self.has_full_outlet():
            return start
        log: ManifestLog = self._log if self._delayed is None else self._delayed.at(now_ms, start)
        limit = order.limit_of(self._spec.name)
        return advance(log, start, max_rows) if limit is None else _towards(log, start, limit, max_rows)

    def has_limit(self, order: HoldOrder) -> bool:
        """Whether the order is to go to a certain offset as soon as possible."""
        return order.limit_of(self._spec.name) is not None

    def may_wait(self, order: HoldOrder) -> bool:
        """Whether a query that has nothing to read yet may put off its first batch."""
        if order.limits or (order.hold and not order.starting):
            return False
        return not any(has_rows(log) for log in self._beside)

    def has_full_outlet(self) -> bool:
        """Whether too many rows of this query wait in a channel that it writes."""
        return any(_is_full(log, outlet) for log, outlet in self._outlets)

    def ends(self) -> dict[str, Place]:
        """The present end of the log, for `wait`."""
        return log_ends(self._log)

    def wait(self, ends: Mapping[str, Place], seconds: float) -> bool:
        """Waits until the log has grown beyond these ends, at most so long; says whether it has."""
        return self._log.wait(ends, seconds)

    def acknowledge_hold(self, order: HoldOrder) -> None:
        """Records, at the first triggers of a hold, that the reader has seen it and plans nothing."""
        token, count = self._held
        count = count + 1 if token == order.token else 1
        self._held = (order.token, count)
        if self._reading.control is not None and count <= HELD_TRIGGERS:
            acknowledge(self._reading.control, self._spec.name, order, count, Disk())

    def commit_progress(self, offset: Offset, now_ms: int) -> None:
        """Commits that everything before the offset is done, if that is new or was committed long ago."""
        known = offset == self._done and now_ms - self._committed_ms < COMMIT_AGAIN_MS
        if self._reading.consumer is None or known:
            return
        self._check(offset)
        self._reading.channel.consumers.commit(self._reading.consumer, offset)
        self._done, self._committed_ms = offset, now_ms
        for cohort in offset.cohorts if len(offset.cohorts) == 1 else ():
            for name, place in cohort.at.items():
                self._log.forget_before(name, place.epoch, place.done - 1)

    def clean_if_due(self, now_ms: int) -> None:
        """Removes what every subscription has read, if this reader cleans and it is time."""
        if self._cleaner is not None:
            self._cleaner.clean_if_due(now_ms)

    def bounded(self, start: Offset, end: Offset, last: Offset) -> Offset:
        """The end of a batch, but not beyond `last`."""
        return join(start, meet(end, last))

    def plan(self, start: Offset, end: Offset) -> list[list[Strand]]:
        """The rows of a batch, in at most as many parts as there are replicas."""
        self._check(end)
        return partitions(self._log, start, end, self._reading.replicas)

    def head(self, start: Offset) -> Offset:
        """The offset up to which everything could be handed over now."""
        return advance(self._log, start)

    def _check(self, offset: Offset) -> None:
        if offset.groups != self._reading.groups or offset.channel != self._spec.name:
            raise WrongGroups(
                self._spec.name,
                format_groups(self._reading.groups),
                f"{format_groups(offset.groups)} of {offset.channel}",
            )


def _is_full(log: ChannelLog, outlet: Outlet) -> bool:
    """Whether the query should pause for the consumers of an outlet; manifests they have all read leave the memory."""
    committed = outlet.channel.consumers.committed()
    full = must_wait(log, committed, outlet.max_lag_rows, outlet.producer)
    forget_read(log, committed, outlet.producer)
    return full


def _towards(log: ManifestLog, start: Offset, limit: Offset, max_rows: int | None) -> Offset:
    """The next offset on the way to the limit, which is reached exactly.

    The limit was valid for another instance, so it needs no leave of event time; where it is too far for one batch the
    usual way is taken, as long as that makes headway.
    """
    target = join(start, restrict(limit, start.groups))
    if target.cohorts == start.cohorts:
        return start
    step = meet(advance(log, start, max_rows), target)
    if max_rows is not None and step.cohorts != start.cohorts:
        return step
    there = all(
        place.seen == 0 or log.entry(name, place.epoch, place.seen - 1) is not None
        for cohort in target.cohorts
        for name, place in cohort.at.items()
    )
    if there:
        return target
    return step if step.cohorts != start.cohorts else start
