"""What consumers have done with: for back-pressure and for cleaning.

An operator that reads a channel is a *subscription*; its instances ("count@n1") own disjoint groups and each
publishes what it is done with. A stale file of an instance that is gone makes cleaning careful (the least counts),
never wrong, and does not slow producers down (the best counts); `forget` removes it.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from rheostat.runtime.channels.log.disk_log import FIRST_EPOCH, DiskLog, Log, is_over
from rheostat.runtime.channels.records.channel import Channel, checked_name
from rheostat.runtime.channels.records.disk import TEMPORARY, Disk
from rheostat.runtime.channels.records.key_groups import Groups
from rheostat.runtime.channels.records.manifest import ManifestKind
from rheostat.runtime.channels.records.offset import Offset, Position, format_offset, parse_offset


@dataclass(frozen=True, slots=True)
class Lag:
    """What was published and not yet looked at by a subscription."""

    rows: int = 0
    size_bytes: int = 0
    manifests: int = 0
    """Batches."""


def subscription_of(consumer: str) -> str:
    """The operator an instance belongs to.

    >>> subscription_of("count@n1")
    'count'
    """
    return consumer.rpartition("@")[0] or consumer


def subscribe(channel: Channel, subscription: str, disk: Disk) -> None:
    """Announces that somebody will read everything: from now on nothing is cleaned before it has."""
    disk.make_folder(channel.subscriptions() / checked_name(subscription))


def unsubscribe(channel: Channel, subscription: str, disk: Disk) -> None:
    """Takes the announcement back."""
    folder = channel.subscriptions() / checked_name(subscription)
    if folder.is_dir():
        for path in folder.iterdir():
            disk.remove(path)
        folder.rmdir()


def commit(channel: Channel, consumer: str, offset: Offset, disk: Disk) -> None:
    """Says that everything before the offset is done with and will not be asked for again.

    Not synced: an older version after a crash of the machine only means that less is cleaned.
    """
    subscribe(channel, subscription_of(consumer), disk)
    disk.replace(_file(channel, consumer), format_offset(offset).encode(), durable=False)


def forget(channel: Channel, consumer: str, disk: Disk) -> None:
    """Removes what an instance said: it is gone, and others have taken over its groups."""
    disk.remove(_file(channel, consumer))


def committed(channel: Channel) -> dict[str, list[Offset]]:
    """The offsets of all instances, by subscription."""
    return {
        folder.name: [offset for path in sorted(folder.iterdir()) if (offset := _read(path)) is not None]
        for folder in sorted(channel.subscriptions().iterdir())
        if folder.is_dir()
    }


def lag(log: Log, subscription: str, producer: str | None = None) -> Lag:
    """How far a subscription is behind, in all or in one producer's log."""
    return _lag(log, committed(log.channel).get(subscription, []), producer)


def should_wait(log: DiskLog, max_rows: int, producer: str | None = None) -> bool:
    """Whether a producer should write no more for now, because some subscription has that many rows of *it* before it.

    Only the producer's own rows count, and rows kept back for the sake of event time do not. The one with the least
    frontier, for which all others may have to wait, therefore never waits for them: no deadlock.
    """
    subscriptions = committed(log.channel).values()
    wait = any(_lag(log, offsets, producer).rows > max_rows for offsets in subscriptions)
    if producer is not None and subscriptions:
        epoch, slot = min(min(_best(log, offsets, producer)) for offsets in subscriptions)
        log.forget_before(producer, epoch, slot - 1)
    return wait


def _lag(log: Log, offsets: list[Offset], producer: str | None) -> Lag:
    rows = size_bytes = manifests = 0
    for name in log.producers() if producer is None else (producer,):
        for place, groups in _best(log, offsets, name).items():
            epoch, slot = place
            while True:
                found = log.entry(name, epoch, slot)
                if found is None:
                    if not is_over(log, name, epoch, slot) or log.opening(name, epoch + 1) is None:
                        break
                    epoch, slot = epoch + 1, log.begin(name, epoch + 1)
                    continue
                rows += found.rows_for(groups)
                size_bytes += found.bytes_for(groups)
                # The end of an epoch is nothing to wait for: by the rule of event time it may stay unread for long.
                manifests += found.kind is ManifestKind.BATCH
                slot += 1
    return Lag(rows, size_bytes, manifests)


def _best(log: Log, offsets: list[Offset], producer: str) -> dict[tuple[int, int], Groups]:
    """Groups by the furthest place some instance has come to."""
    begin = Position.at(FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
    best = dict.fromkeys(log.channel.all_groups, (begin.epoch, begin.seen))
    for offset in offsets:
        for cohort in offset.cohorts:
            place = cohort.at.get(producer, begin)
            for group in cohort.groups:
                best[group] = max(best[group], (place.epoch, place.seen))
    places: dict[tuple[int, int], set[int]] = {}
    for group, where in best.items():
        places.setdefault(where, set()).add(group)
    return {where: frozenset(groups) for where, groups in places.items()}


def _file(channel: Channel, consumer: str) -> Path:
    return channel.subscriptions() / checked_name(subscription_of(consumer)) / f"{checked_name(consumer)}.json"


def _read(path: Path) -> Offset | None:
    """What an instance said, None if the file was torn by a crash or has just gone."""
    if path.name.startswith(TEMPORARY):
        return None
    try:
        return parse_offset(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
