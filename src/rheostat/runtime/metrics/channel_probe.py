"""Probe of the channels of an application, once per period: backlog, hops and response times.

Every manifest is read from the disk once. A consumer's cleaner removes manifests some seconds after they were consumed,
never at once: hops of those that are gone when the period ends are left out, the others are a sample of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rheostat.runtime.channels.observe.consumed import consumed
from rheostat.runtime.channels.observe.manifest_tail import ManifestTail
from rheostat.runtime.channels.port.backlog import Backlog, backlog_of
from rheostat.runtime.channels.port.channel import Channel, ChannelLog, Place
from rheostat.runtime.channels.port.floors import Committed, finished_before
from rheostat.runtime.channels.records.manifest import Manifest
from rheostat.runtime.channels.records.offset import Offset, parse_offset
from rheostat.runtime.metrics.response_times import ResponseTimes
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.query.progress_report import BatchReport


@dataclass(frozen=True, slots=True)
class Hops:
    """Time of rows from the commit of their producer to the commit of their consumer."""

    rows: int = 0
    row_ms: float = 0.0
    """Sum over the rows."""

    def __add__(self, other: "Hops") -> "Hops":
        return Hops(self.rows + other.rows, self.row_ms + other.row_ms)

    @property
    def mean_ms(self) -> float | None:
        """Per row; None if there was none."""
        return self.row_ms / self.rows if self.rows else None


@dataclass(frozen=True, slots=True)
class PassedRows:
    """Measurements of what the batches of an instance took out of one channel."""

    hops: Mapping[str, Hops]
    """Hops by producer."""
    responses: ResponseTimes
    """Times from the source to the end of the batch that consumed the rows."""


@dataclass(slots=True)
class ChannelProbe:
    """Remembers what was read of each channel."""

    _logs: dict[str, ChannelLog] = field(default_factory=dict)
    _offsets: dict[str, Committed] = field(default_factory=dict)
    _done: dict[tuple[str, str], Place] = field(default_factory=dict)
    _tails: dict[str, ManifestTail] = field(default_factory=dict)

    def look(self, channels: Iterable[Channel]) -> None:
        """Begins a period: what all consumers are done with now. What they were done with before is forgotten."""
        self._offsets = {}
        for channel in channels:
            log = self._log_of(channel)
            self._offsets[channel.address] = channel.consumers.committed()
            offsets = [offset for by in self._offsets[channel.address].values() for offset in by.values()]
            for producer in log.producers():
                if (before := self._done.pop((channel.address, producer), None)) is not None:
                    log.forget_before(producer, before[0], before[1] - 1)
                if (now := finished_before(offsets, producer)) is not None:
                    self._done[channel.address, producer] = now

    def waiting(self, channel: Channel, instance: Instance) -> Backlog:
        """Backlog of an instance in a channel."""
        offsets = self._offsets[channel.address].get(instance.head, {})
        return backlog_of(self._logs[channel.address], offsets.values(), instance.groups)

    def passed(self, channel: Channel, batches: Iterable[BatchReport]) -> PassedRows:
        """Measurements of what these batches consumed of a channel."""
        hops: dict[str, Hops] = {}
        responses = []
        for batch in batches:
            finished_ms = batch.end_seconds * 1000
            for producer, manifest in self._consumed(channel, batch):
                took = max(0.0, finished_ms - manifest.published_ms)
                hops[producer] = hops.get(producer, Hops()) + Hops(manifest.rows, manifest.rows * took)
                responses.append(ResponseTimes.of(manifest.ingest, finished_ms))
        return PassedRows(hops, ResponseTimes.merged(responses))

    def results(self, channel: Channel, since_ms: float) -> ResponseTimes:
        """Response times of what a results sink has received since the last period."""
        tail = self._tails.setdefault(channel.address, ManifestTail(channel.log()))
        return ResponseTimes.merged(
            ResponseTimes.of(manifest.ingest, manifest.published_ms) for manifest in tail.fresh(since_ms)
        )

    def _log_of(self, channel: Channel) -> ChannelLog:
        if channel.address not in self._logs:
            self._logs[channel.address] = channel.log()
        return self._logs[channel.address]

    def _consumed(self, channel: Channel, batch: BatchReport) -> Iterable[tuple[str, Manifest]]:
        read = batch.read_of(channel.spec.name)
        if read is None or read.end == read.start:
            return ()
        end = parse_offset(read.end)
        start = parse_offset(read.start) if read.start else Offset.start(end.channel, end.groups)
        return consumed(self._logs[channel.address], start, end)
