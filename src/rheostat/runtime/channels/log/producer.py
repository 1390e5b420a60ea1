"""How a producer writes: one manifest per batch, exactly once, and never after its epoch was sealed.

A slot is taken by an exclusive link. Sealing takes a slot like a batch does, so a zombie of an old epoch and the one
who fences it off compete for the same name: either the batch is in the log before the seal, or it never is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.errors import Fenced
from rheostat.runtime.channels.log.disk_log import FIRST_EPOCH, DiskLog, is_over, last_epoch, next_slot
from rheostat.runtime.channels.records.channel import Channel
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import NEVER, Manifest, ManifestKind, Opening, Segment


@dataclass(frozen=True, slots=True)
class ProducedBatch:
    """What a batch of a producer amounts to, before it is published."""

    number: int
    """Batch id of the query."""
    segments: Sequence[Segment] = ()
    frontier: int = NEVER
    """What the producer may promise after this batch; it never falls, whatever is said here."""
    earliest: int | None = None
    latest: int | None = None
    ingest: IngestHistogram = IngestHistogram()


class Producer:
    """One epoch of one producer. Made by `open_producer`, so the epoch is declared and the older ones are sealed."""

    def __init__(self, log: DiskLog, disk: Disk, producer: str, epoch: int) -> None:
        self._log, self._disk, self.name, self.epoch = log, disk, producer, epoch
        # Slots are dense: a listing gives the end at once, however many manifests there are.
        self._slot = max(log.slots(producer, epoch), default=log.begin(producer, epoch))

    def publish(self, batch: ProducedBatch, now_ms: int) -> bool:
        """Publishes the batch; says whether anything was published.

        Nothing is, if the batch was published before (a replay) or if it has neither rows nor a new frontier.
        Raises Fenced if the epoch was sealed meanwhile.
        """
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
            if self._take(slot, manifest):
                return True

    def seal(self, now_ms: int) -> None:
        """Ends the epoch. Repeating it does nothing."""
        self._finish(ManifestKind.SEAL, now_ms)

    def close(self, now_ms: int) -> None:
        """Ends the epoch and declares the producer gone for good: it no longer holds back anybody's event time."""
        self._finish(ManifestKind.CLOSE, now_ms)

    def last_batch(self) -> int:
        """Greatest batch id that is in the log, -1 if none."""
        return self._end()[1]

    def frontier(self) -> int:
        """What the producer has promised so far."""
        return self._end()[2]

    def _finish(self, kind: ManifestKind, now_ms: int) -> None:
        while True:
            slot, last_batch, frontier = self._end()
            last = self._log.entry(self.name, self.epoch, slot - 1)
            if last is not None and (last.kind is ManifestKind.CLOSE or last.kind is kind):
                return
            if self._take(slot, Manifest(kind, last_batch, now_ms, frontier)):
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

    def _take(self, slot: int, manifest: Manifest) -> bool:
        return self._disk.publish(self._log.channel.slot(self.name, self.epoch, slot), manifest.to_bytes())

    def _check_segments(self, manifest: Manifest) -> None:
        folder = self._log.channel.segments(self.name, self.epoch)
        for segment in manifest.segments:
            if not (folder / segment.name).exists():
                raise FileNotFoundError(f"segment {segment.name} was cleaned away before batch {manifest.batch} ended")


def open_producer(
    log: DiskLog,
    disk: Disk,
    producer: str,
    epoch: int,
    *,
    continues: bool = True,
    frontier: int = NEVER,
    now_ms: int = 0,
) -> Producer:
    """Declares an epoch of a producer and seals the one before. Idempotent.

    From here on consumers wait for this producer's event time. `continues` says that the batch ids go on where the
    epoch before ended (the same checkpoint): then batches that are in the log already are not written again.
    `frontier` is what is promised before the first batch. Raises Fenced if there is a newer epoch.
    """
    if log.opening(producer, epoch) is not None and log.opening(producer, epoch + 1) is None:
        return Producer(log, disk, producer, epoch)
    newest = last_epoch(log, producer) or FIRST_EPOCH - 1
    if epoch < newest:
        raise Fenced(producer, epoch)
    if epoch > newest + 1:
        raise ValueError(f"epochs are dense: {producer} is at {newest}, cannot open {epoch}")
    if epoch == newest + 1:
        opening = Opening(-1, frontier)
        if newest >= FIRST_EPOCH:
            old = Producer(log, disk, producer, newest)
            old.seal(now_ms)
            promised = old.frontier()
            opening = Opening(old.last_batch() if continues else -1, max(frontier, promised))
        disk.make_folder(log.channel.segments(producer, epoch))
        disk.publish(log.channel.opened(producer, epoch), opening.to_bytes())
    return Producer(log, disk, producer, epoch)


def close_producer(channel: Channel, disk: Disk, producer: str, now_ms: int) -> None:
    """Closes whatever epoch of the producer is the newest; does nothing if it was never declared."""
    log = DiskLog(channel)
    epoch = last_epoch(log, producer)
    if epoch is not None:
        Producer(log, disk, producer, epoch).close(now_ms)


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
