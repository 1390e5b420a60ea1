"""What a reader decides before every batch: where it ends. Pure of Spark; time is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.runtime.channels.log.cleaner import Cleaner
from rheostat.runtime.channels.log.consumers import commit, should_wait
from rheostat.runtime.channels.log.disk_log import DiskLog, Log, has_rows
from rheostat.runtime.channels.log.emulated_links import Delayed, EmulatedLink
from rheostat.runtime.channels.log.hold_file import HELD_TRIGGERS, HoldOrder, acknowledge, read_control
from rheostat.runtime.channels.reader.advance import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.channel_errors import WrongGroups
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.key_groups import Groups, format_groups
from rheostat.runtime.channels.records.offset import Offset, join, meet, merge, restrict
from rheostat.runtime.channels.records.segment import Strand

TELL_AGAIN_MS = 2000
"""What a reader is done with is told again that often: the process of a query that was stopped a moment ago may still
have the last word under the same name, and an idle reader would seem to lag for ever."""


@dataclass(frozen=True, slots=True)
class Outlet:
    """A channel the same query writes to: the reader plans nothing new while it is too full."""

    channel: Channel
    producer: str
    max_lag_rows: int


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How an instance reads a channel."""

    channel: Channel
    groups: Groups
    consumer: str | None = None
    """Name under which progress is published; None: it is not, and nothing waits for this reader."""
    start: Offset | None = None
    """Where to begin, if the checkpoint does not say; groups it does not cover begin at the beginning."""
    replicas: int = 1
    control: Path | None = None
    """File that may say hold or limit."""
    links: Mapping[str, EmulatedLink] = field(default_factory=dict)
    outlets: tuple[Outlet, ...] = ()
    clean_every_ms: int | None = None
    """The reader cleans the channel itself that often; None: somebody else does."""
    beside: tuple[Channel, ...] = ()
    """What the same query reads besides."""

    def __post_init__(self) -> None:
        """Refuses groups the channel does not have."""
        if not self.groups <= self.channel.all_groups:
            raise ValueError(f"{self.channel.name} has {self.channel.groups} groups, not {format_groups(self.groups)}")
        if self.replicas < 1:
            raise ValueError(f"need at least one replica, got {self.replicas}")


class ChannelReader:
    """Plans the batches of one instance."""

    def __init__(self, reading: ReadSettings, disk: Disk) -> None:
        self._reading, self._disk = reading, disk
        self._log = DiskLog(reading.channel)
        self._delayed = Delayed(self._log, reading.links, reading.groups) if reading.links else None
        self._outlets = [(DiskLog(outlet.channel), outlet) for outlet in reading.outlets]
        self._beside = [DiskLog(channel) for channel in reading.beside]
        self._done: Offset | None = None
        self._told_ms = 0
        every_ms = reading.clean_every_ms
        self._cleaner = None if every_ms is None else Cleaner(reading.channel, disk, every_ms)
        self._held = ("", 0)

    def first_offset(self) -> Offset:
        """Where a query without a checkpoint begins."""
        owned, start = self._reading.groups, self._reading.start
        if start is None:
            return Offset.start(self._reading.channel.name, owned)
        rest = Offset.start(start.channel, owned - start.groups)
        known = restrict(start, owned & start.groups)
        return known if not rest.cohorts else merge([known, rest]) if known.cohorts else rest

    def next_offset(self, start: Offset, max_rows: int | None, now_ms: int) -> Offset:
        """Where the next batch ends: `start` if nothing is to be done."""
        self._check(start)
        # Spark plans a batch only when the one before is committed, but tells `commit` only when it plans the next one:
        # an idle reader would seem to lag for ever and a producer would wait for it for ever.
        self.done_with(start, now_ms)
        control = read_control(self._reading.control)
        if control.hold:
            self._acknowledge(control)
            return start
        if self._too_full():
            return start
        log: Log = self._log if self._delayed is None else self._delayed.at(now_ms, start)
        limit = control.limit_of(self._reading.channel.name)
        return advance(log, start, max_rows) if limit is None else self.towards(log, start, limit, max_rows)

    def is_limited(self) -> bool:
        """Whether somebody waits for it to come to a certain place, as soon as it can."""
        return read_control(self._reading.control).limit_of(self._reading.channel.name) is not None

    def may_wait(self) -> bool:
        """Whether nobody minds if a query that has nothing to read yet does not even plan a batch."""
        control = read_control(self._reading.control)
        if control.limits or (control.hold and not control.starting):
            return False
        return not any(has_rows(log) for log in self._beside)

    def _acknowledge(self, control: HoldOrder) -> None:
        """Says that it is held; not more often than anybody wants to know."""
        token, count = self._held
        count = count + 1 if token == control.token else 1
        self._held = (control.token, count)
        if self._reading.control is not None and count <= HELD_TRIGGERS:
            acknowledge(self._reading.control, self._reading.channel.name, control, count, self._disk)

    def towards(self, log: Log, start: Offset, limit: Offset, max_rows: int | None) -> Offset:
        """The next offset on the way to the limit, which is reached exactly.

        The limit was valid for somebody, so it needs no leave of event time; where it is too far for one batch the
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

    def bounded(self, start: Offset, end: Offset, last: Offset) -> Offset:
        """The end of a batch, but not beyond `last`."""
        return join(start, meet(end, last))

    def plan(self, start: Offset, end: Offset) -> list[list[Strand]]:
        """The rows of a batch, in at most as many parts as there are replicas."""
        self._check(end)
        return partitions(self._log, start, end, self._reading.replicas)

    def done_with(self, offset: Offset, now_ms: int) -> None:
        """Publishes that everything before the offset is done, and cleans now and then."""
        told = offset == self._done and now_ms - self._told_ms < TELL_AGAIN_MS
        if self._reading.consumer is None or told:
            return
        commit(self._reading.channel, self._reading.consumer, offset, self._disk)
        self._done, self._told_ms = offset, now_ms
        for cohort in offset.cohorts if len(offset.cohorts) == 1 else ():
            for name, place in cohort.at.items():
                self._log.forget_before(name, place.epoch, place.done - 1)
        if self._cleaner is not None:
            self._cleaner.clean_if_due(now_ms)

    def head(self, start: Offset) -> Offset:
        """Everything that could be handed over now."""
        return advance(self._log, start)

    def _check(self, offset: Offset) -> None:
        if offset.groups != self._reading.groups or offset.channel != self._reading.channel.name:
            raise WrongGroups(
                self._reading.channel.name,
                format_groups(self._reading.groups),
                f"{format_groups(offset.groups)} of {offset.channel}",
            )

    def _too_full(self) -> bool:
        return any(should_wait(log, outlet.max_lag_rows, outlet.producer) for log, outlet in self._outlets)
