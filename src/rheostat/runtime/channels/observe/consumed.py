"""Manifests that a batch has consumed, for measuring how long their rows were on the way."""

from rheostat.runtime.channels.port.channel import ManifestLog
from rheostat.runtime.channels.port.places import FIRST_EPOCH
from rheostat.runtime.channels.records.manifest import Manifest
from rheostat.runtime.channels.records.offset import Offset, Position, side_by_side


def consumed(log: ManifestLog, start: Offset, end: Offset) -> list[tuple[str, Manifest]]:
    """(producer, manifest) of all that was finished between two offsets, as far as it was not cleaned away."""
    found: dict[tuple[str, int, int], Manifest] = {}
    for _, before, after in side_by_side(start, end):
        for producer, stop in after.items():
            first = before.get(producer) or Position.at(FIRST_EPOCH, log.begin(producer, FIRST_EPOCH))
            for epoch in range(first.epoch, stop.epoch + 1):
                slot = first.done if epoch == first.epoch else log.begin(producer, epoch)
                slot = max(slot, log.begin(producer, epoch))
                while epoch < stop.epoch or slot < stop.done:
                    manifest = log.entry(producer, epoch, slot)
                    if manifest is None:
                        break
                    if manifest.rows:
                        found[producer, epoch, slot] = manifest
                    slot += 1
    return [(producer, manifest) for (producer, _, _), manifest in found.items()]
