"""Producer protocol: one manifest per batch, exactly once, and never after its epoch was sealed.

A slot is taken atomically. Sealing takes a slot like a batch does, so a zombie of an old epoch and the instance that
fences it off compete for the same slot: either the batch is in the log before the seal, or it never is.
"""

from dataclasses import replace

from rheostat.errors import Fenced
from rheostat.runtime.channels.log.slot_log import SlotLog
from rheostat.runtime.channels.port.channel import EpochClaim, ProducedBatch
from rheostat.runtime.channels.port.places import FIRST_EPOCH, is_over, last_epoch, next_slot
from rheostat.runtime.channels.records.channel_errors import SegmentGone
from rheostat.runtime.channels.records.manifest import Manifest, ManifestKind, Opening


class SlotProducer:
    """One epoch of one producer. Made by `open_epoch`, so the epoch is declared and the older ones are sealed."""

    def __init__(self, log: SlotLog, producer: str, epoch: int) -> None:
        self._log, self.name, self.epoch = log, producer, epoch
        # Slots are dense: a listing gives the end at once, however many manifests there are.
        self._slot = max(log.slots(producer, epoch), default=log.begin(producer, epoch))

    def publish(self, batch: ProducedBatch, now_ms: int) -> bool:
        """Publishes the batch; says whether anything was published. Raises Fenced if the epoch was sealed."""
        while True:
            slot, last_batch, frontier = self._end()
            if batch.number <= last_batch:
                return False
            if is_over(self._log, self.name, self.epoch, slot):
                raise Fenced(self.name, self.epoch)
            manifest = _manifest_of(batch, frontier, now_ms)
            if not manifest.segments and manifest.frontier <= frontier:
                return False
            self._check_segments(manifest)
            if self._log.take(self.name, self.epoch, slot, manifest):
                return True

    def seal(self, now_ms: int) -> None:
        """Ends the epoch. Repeating it does nothing."""
        self._finish(ManifestKind.SEAL, now_ms)

    def close(self, now_ms: int) -> None:
        """Ends the epoch and declares the producer gone for good: consumers no longer wait for its event time."""
        self._finish(ManifestKind.CLOSE, now_ms)

    def last_batch(self) -> int:
        """Greatest batch id that is in the log, -1 if none."""
        return self._end()[1]

    def frontier(self) -> int:
        """Event time the producer has promised so far."""
        return self._end()[2]

    def _finish(self, kind: ManifestKind, now_ms: int) -> None:
        while True:
            slot, last_batch, frontier = self._end()
            last = self._log.entry(self.name, self.epoch, slot - 1)
            if last is not None and (last.kind is ManifestKind.CLOSE or last.kind is kind):
                return
            if self._log.take(self.name, self.epoch, slot, Manifest(kind, last_batch, now_ms, frontier)):
                return

    def _end(self) -> tuple[int, int, int]:
        """(next slot, last batch, frontier) of the epoch as it is now."""
        self._slot = next_slot(self._log, self.name, self.epoch, self._slot)
        self._log.forget_before(self.name, self.epoch, self._slot - 1)
        last = self._log.entry(self.name, self.epoch, self._slot - 1)
        if last is not None:
            return self._slot, last.batch, last.frontier
        opening = self._log.opening(self.name, self.epoch)
        if opening is None:
            raise ValueError(f"epoch {self.epoch} of {self.name} was never opened")
        return self._slot, opening.after_batch, opening.frontier

    def _check_segments(self, manifest: Manifest) -> None:
        for segment in manifest.segments:
            if not self._log.has_segment(self.name, self.epoch, segment.name):
                raise SegmentGone(segment.name, manifest.batch)


def open_epoch(log: SlotLog, claim: EpochClaim, now_ms: int) -> SlotProducer:
    """Declares an epoch of a producer and seals the one before, as `ChannelProducers.open` promises."""
    name, epoch = claim.producer, claim.epoch
    if log.opening(name, epoch) is None or log.opening(name, epoch + 1) is not None:
        newest = last_epoch(log, name) or FIRST_EPOCH - 1
        if epoch < newest:
            raise Fenced(name, epoch)
        if epoch > newest + 1:
            raise ValueError(f"epochs are dense: {name} is at {newest}, cannot open {epoch}")
        if epoch == newest + 1:
            log.declare(name, epoch, _opening_after(log, claim, newest, now_ms))
    opened = log.opening(name, epoch)
    if opened is None or opened.term != claim.term:
        raise Fenced(name, epoch)
    return SlotProducer(log, name, epoch)


def close_newest(log: SlotLog, producer: str, now_ms: int) -> None:
    """Closes the newest epoch of a producer; does nothing if it was never declared."""
    epoch = last_epoch(log, producer)
    if epoch is not None:
        SlotProducer(log, producer, epoch).close(now_ms)


def _opening_after(log: SlotLog, claim: EpochClaim, newest: int, now_ms: int) -> Opening:
    """The opening of the next epoch, the newest one sealed. Raises Fenced if a later term has opened that."""
    before = log.opening(claim.producer, newest)
    if before is None:
        return Opening(-1, claim.frontier, claim.term)
    if before.term > claim.term:
        raise Fenced(claim.producer, claim.epoch)
    old = SlotProducer(log, claim.producer, newest)
    old.seal(now_ms)
    after = old.last_batch() if claim.continues else -1
    return Opening(after, max(claim.frontier, old.frontier()), claim.term)


def _manifest_of(batch: ProducedBatch, promised: int, now_ms: int) -> Manifest:
    manifest = Manifest(
        ManifestKind.BATCH,
        batch.number,
        now_ms,
        max(batch.frontier, promised),
        tuple(batch.segments),
        ingest=batch.ingest,
    )
    if batch.earliest is None or batch.latest is None:
        return manifest
    return replace(manifest, earliest=batch.earliest, latest=batch.latest)
