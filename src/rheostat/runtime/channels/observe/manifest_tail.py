"""Tail of a channel: manifests as they are published, for probes that take no part in reading."""

from dataclasses import dataclass, field

from rheostat.runtime.channels.port.channel import ChannelLog, Place
from rheostat.runtime.channels.port.places import FIRST_EPOCH, last_epoch, manifests_from
from rheostat.runtime.channels.records.manifest import Manifest, ManifestKind


@dataclass(slots=True)
class ManifestTail:
    """Follows a channel without reading it in order: gives what was published since the last time."""

    log: ChannelLog
    _next: dict[str, Place] = field(default_factory=dict)

    def fresh(self, since_ms: float) -> list[Manifest]:
        """Every manifest once. Of a producer that is new here, only those after `since_ms`."""
        found: list[Manifest] = []
        for producer in self.log.producers():
            epoch, slot = self._next.get(producer) or self._begin(producer, since_ms)
            # What was read and cleaned away meanwhile is gone: waiting for it would never end.
            slot = max(slot, self.log.begin(producer, epoch))
            for manifest in manifests_from(self.log, producer, epoch, slot):
                if manifest.kind is ManifestKind.BATCH:
                    found.append(manifest)
            # Where to go on: the end of the newest epoch, of which the last manifest is remembered and no more.
            newest = last_epoch(self.log, producer, epoch) or epoch
            slot = slot if newest == epoch else self.log.begin(producer, newest)
            while self.log.entry(producer, newest, slot) is not None:
                slot += 1
            self._next[producer] = (newest, slot)
            self.log.forget_before(producer, newest, slot - 1)
        return found

    def _begin(self, producer: str, since_ms: float) -> Place:
        epoch = last_epoch(self.log, producer) or FIRST_EPOCH
        slots = self.log.slots(producer, epoch)
        slot = slots[-1] + 1 if slots else self.log.begin(producer, epoch)
        while slot - 1 in slots:
            last = self.log.entry(producer, epoch, slot - 1)
            if last is None or last.published_ms <= since_ms:
                break
            slot -= 1
        return epoch, slot
