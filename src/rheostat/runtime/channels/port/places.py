"""Places in a log: the newest epoch of a producer, the end of its slots, the frontier at a slot."""

from collections.abc import Iterator

from rheostat.runtime.channels.port.channel import ManifestLog, Place
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER, Manifest, ManifestKind

FIRST_EPOCH = 1


def last_epoch(log: ManifestLog, producer: str, start: int = FIRST_EPOCH) -> int | None:
    """The newest epoch of a producer, None if it has none. Epochs are dense."""
    if log.opening(producer, start) is None:
        return None
    epoch = start
    while log.opening(producer, epoch + 1) is not None:
        epoch += 1
    return epoch


def next_slot(log: ManifestLog, producer: str, epoch: int, start: int = 0) -> int:
    """The first free slot of an epoch. Slots are dense, so probing forward from a known one finds it."""
    slot = max(start, log.begin(producer, epoch))
    while log.entry(producer, epoch, slot) is not None:
        slot += 1
    return slot


def log_ends(log: ManifestLog) -> dict[str, Place]:
    """The first free slot of the newest epoch, by producer."""
    newest = {producer: last_epoch(log, producer) or FIRST_EPOCH for producer in log.producers()}
    return {producer: (epoch, next_slot(log, producer, epoch)) for producer, epoch in newest.items()}


def has_rows(log: ManifestLog) -> bool:
    """Whether there is, or was, anything to read: where slots were cleaned away or epochs replaced, there was."""
    for producer in log.producers():
        if log.begin(producer, FIRST_EPOCH) or log.opening(producer, FIRST_EPOCH + 1) is not None:
            return True
        slots = range(next_slot(log, producer, FIRST_EPOCH))
        if any((found := log.entry(producer, FIRST_EPOCH, slot)) is not None and found.rows for slot in slots):
            return True
    return False


def is_over(log: ManifestLog, producer: str, epoch: int, slot: int) -> bool:
    """Whether an epoch ends before this slot."""
    last = log.entry(producer, epoch, slot - 1)
    return last is not None and last.kind is not ManifestKind.BATCH


def frontier_at(log: ManifestLog, producer: str, epoch: int, slot: int) -> int:
    """The event time that a producer promises about everything from this slot on."""
    last = log.entry(producer, epoch, slot - 1)
    if last is not None and last.kind is not ManifestKind.CLOSE:
        return last.frontier
    opening = log.opening(producer, epoch + 1 if last is not None else epoch)
    if opening is not None:
        return opening.frontier
    return FOREVER if last is not None else NEVER


def promised(log: ManifestLog, producer: str) -> int | None:
    """The event time that a producer has promised so far, also one that was closed; None if it was never declared."""
    epoch = last_epoch(log, producer)
    opening = None if epoch is None else log.opening(producer, epoch)
    if epoch is None or opening is None:
        return None
    last = log.entry(producer, epoch, next_slot(log, producer, epoch) - 1)
    return opening.frontier if last is None else last.frontier


def required(log: ManifestLog, producer: str, epoch: int, slot: int) -> Manifest:
    """The manifest in a slot. Raises Gone if it is not there any more."""
    found = log.entry(producer, epoch, slot)
    if found is None:
        raise Gone(log.spec.name, f"{producer}/{epoch}/{slot}")
    return found


def manifests_from(log: ManifestLog, producer: str, epoch: int, slot: int) -> Iterator[Manifest]:
    """The manifests of a producer from a place to the end of its log, through all epochs."""
    while True:
        found = log.entry(producer, epoch, slot)
        if found is None:
            if not is_over(log, producer, epoch, slot) or log.opening(producer, epoch + 1) is None:
                return
            epoch, slot = epoch + 1, log.begin(producer, epoch + 1)
            continue
        yield found
        slot += 1
