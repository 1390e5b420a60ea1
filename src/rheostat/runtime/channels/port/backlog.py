"""Backlog: rows that were published and not yet read, by an instance or by a whole subscription.

An operator that reads a channel is a *subscription*; its instances ("count@n1") own disjoint groups and each commits
how far it is. A stale record of an instance that is gone does not slow producers down: the furthest record counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rheostat.runtime.channels.port.channel import Channel, ChannelLog, ManifestLog, Place
from rheostat.runtime.channels.port.places import FIRST_EPOCH, manifests_from
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.manifest import ManifestKind
from rheostat.runtime.channels.records.offset import Offset

BEHIND_SECONDS = 1.5
"""Least age of a backlog that tells a rate: rows are published in batches, some every second."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Rows that wait in one channel."""

    rows: int = 0
    size_bytes: int = 0
    manifests: int = 0
    """Batches that wait."""
    oldest_ms: int | None = None
    """Time at which the oldest waiting row was published; None if nothing waits."""
    oldest_rows: int = 0
    """Rows that were published at that time: they had arrived before."""

    def lag_seconds(self, now_seconds: float) -> float:
        """Age of the oldest row, 0 if nothing waits."""
        return 0.0 if self.oldest_ms is None else max(0.0, now_seconds - self.oldest_ms / 1000)

    def arriving_tps(self, now_seconds: float) -> float | None:
        """Arrival rate, from what has arrived since the oldest waiting row; None if that is too short a time.

        The oldest is read first, so that everything since the oldest that waits is waiting.
        """
        lag = self.lag_seconds(now_seconds)
        return (self.rows - self.oldest_rows) / lag if lag >= BEHIND_SECONDS else None


def subscription_of(consumer: str) -> str:
    """The operator an instance belongs to.

    >>> subscription_of("count@n1")
    'count'
    """
    return consumer.rpartition("@")[0] or consumer


def backlog_of(
    log: ManifestLog, offsets: Iterable[Offset], groups: Groups | None = None, producer: str | None = None
) -> Backlog:
    """The backlog of the owner of these groups (None: of all) in all or in one producer's log.

    `offsets` are what the instances of its operator have committed.
    """
    known = tuple(offsets)
    rows = size_bytes = manifests = oldest_rows = 0
    oldest: int | None = None
    for name in log.producers() if producer is None else (producer,):
        for (epoch, slot), owned in _furthest(log, known, log.spec.all_groups if groups is None else groups, name):
            for manifest in manifests_from(log, name, epoch, slot):
                mine = manifest.rows_for(owned)
                rows += mine
                size_bytes += manifest.bytes_for(owned)
                # The end of an epoch is no batch: by the rule of event time it may stay unread for long.
                manifests += manifest.kind is ManifestKind.BATCH
                if mine and (oldest is None or manifest.published_ms <= oldest):
                    oldest_rows = mine if manifest.published_ms != oldest else oldest_rows + mine
                    oldest = manifest.published_ms
    return Backlog(rows, size_bytes, manifests, oldest, oldest_rows)


def subscription_backlog(channel: Channel, subscription: str, producer: str | None = None) -> Backlog:
    """The backlog of a subscription, in all or in one producer's log."""
    committed = channel.consumers.committed().get(subscription, {})
    return backlog_of(channel.log(), committed.values(), producer=producer)


def must_wait(
    log: ManifestLog, committed: Mapping[str, Mapping[str, Offset]], max_rows: int, producer: str | None = None
) -> bool:
    """Whether a producer should pause because some subscription has more than that many rows of *it* to read.

    Only the producer's own rows count, and rows kept back for the sake of event time do not. The one with the least
    frontier, for which all others may have to wait, therefore never waits for them: no deadlock.
    """
    return any(backlog_of(log, by.values(), producer=producer).rows > max_rows for by in committed.values())


def forget_read(log: ChannelLog, committed: Mapping[str, Mapping[str, Offset]], producer: str) -> None:
    """Drops from memory the manifests of a producer that every subscription has read."""
    places = [
        place
        for by in committed.values()
        for place, _ in _furthest(log, tuple(by.values()), log.spec.all_groups, producer)
    ]
    if places:
        epoch, slot = min(places)
        log.forget_before(producer, epoch, slot - 1)


def _furthest(
    log: ManifestLog, offsets: Iterable[Offset], groups: Groups, producer: str
) -> Iterable[tuple[Place, Groups]]:
    """Groups by the furthest place some instance has come to with them."""
    begin = (FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
    best = dict.fromkeys(groups, begin)
    for offset in offsets:
        for cohort in offset.cohorts:
            at = cohort.at.get(producer)
            if at is not None:
                for group in cohort.groups & groups:
                    best[group] = max(best[group], (at.epoch, at.seen))
    places: dict[Place, set[int]] = {}
    for group, place in best.items():
        places.setdefault(place, set()).add(group)
    return [(place, frozenset(owned)) for place, owned in places.items()]
