"""The log of a channel on disk. Manifests never change, so every view reads each one once."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from rheostat.machine.disk import TEMPORARY, Disk
from rheostat.machine.waits import wait_until
from rheostat.runtime.channels.log.channel_folder import ChannelFolder
from rheostat.runtime.channels.port.channel import Place
from rheostat.runtime.channels.port.places import FIRST_EPOCH, log_ends
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.manifest import Manifest, Opening
from rheostat.runtime.channels.records.segment import GroupRun

LOOK_SECONDS = 0.05
"""Time between two looks for new manifests: producers are other processes, perhaps on other nodes, and only the disk
shows what they have published."""


@dataclass
class DiskLog:
    """The log on disk, with a memory of the manifests it has read."""

    folder: ChannelFolder
    disk: Disk = field(default_factory=Disk)
    _entries: dict[tuple[str, int], dict[int, Manifest]] = field(default_factory=dict)
    _openings: dict[tuple[str, int], Opening] = field(default_factory=dict)

    @property
    def spec(self) -> ChannelSpec:
        """Description of the channel."""
        return self.folder.spec

    def producers(self) -> tuple[str, ...]:
        """Every producer that was ever declared."""
        names = sorted(path.name for path in self.folder.producers().iterdir() if not path.name.startswith(TEMPORARY))
        return tuple(name for name in names if self.opening(name, FIRST_EPOCH) is not None)

    def opening(self, producer: str, epoch: int) -> Opening | None:
        """The opening of an epoch, None if it was not opened."""
        known = self._openings.get((producer, epoch))
        if known is None:
            try:
                known = Opening.from_bytes(self.folder.opened(producer, epoch).read_bytes())
            except FileNotFoundError:
                return None
            self._openings[producer, epoch] = known
        return known

    def entry(self, producer: str, epoch: int, slot: int) -> Manifest | None:
        """The manifest in a slot, None if there is none yet."""
        known = self._entries.setdefault((producer, epoch), {})
        found = known.get(slot)
        if found is None and slot >= 0:
            try:
                found = Manifest.from_bytes(self.folder.slot(producer, epoch, slot).read_bytes())
            except FileNotFoundError:
                return None
            known[slot] = found
        return found

    def begin(self, producer: str, epoch: int) -> int:
        """First slot that was not cleaned away."""
        try:
            return int(self.folder.begin(producer, epoch).read_bytes() or b"0")
        except FileNotFoundError:
            return 0

    def slots(self, producer: str, epoch: int) -> list[int]:
        """Every slot on disk, by listing the folder."""
        names = (path.name for path in self.folder.epoch(producer, epoch).iterdir())
        return sorted(int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit())

    def wait(self, ends: Mapping[str, Place], seconds: float) -> bool:
        """Waits until the log has grown beyond these ends, at most so long; says whether it has."""
        return wait_until(
            lambda: log_ends(self) != ends, seconds, look_seconds=LOOK_SECONDS, clock=time.monotonic, pause=time.sleep
        )

    def fetch(self, runs: Iterable[GroupRun]) -> Iterator[pa.RecordBatch]:
        """Rows of every run. Segments are mapped, so only the pages of these rows are read."""
        mapped: dict[tuple[str, int, str], pa.RecordBatch] = {}
        for run in runs:
            place = (run.producer, run.epoch, run.segment)
            if place not in mapped:
                with pa.memory_map(str(self.folder.segments(run.producer, run.epoch) / run.segment)) as source:
                    mapped[place] = pa.ipc.open_file(source).get_batch(0)
            yield mapped[place].slice(run.first, run.rows)

    def forget_before(self, producer: str, epoch: int, slot: int) -> None:
        """Drops manifests that will not be asked for again, so that memory does not grow with time."""
        for key in [key for key in self._entries if key[0] == producer and key[1] < epoch]:
            del self._entries[key]
        kept = self._entries.get((producer, epoch), {})
        for old in [old for old in kept if old < slot]:
            del kept[old]

    def declare(self, producer: str, epoch: int, opening: Opening) -> bool:
        """Opens an epoch by an exclusive link; says whether it was not open yet."""
        self.disk.make_folder(self.folder.segments(producer, epoch))
        return self.disk.publish(self.folder.opened(producer, epoch), opening.to_bytes())

    def take(self, producer: str, epoch: int, slot: int, manifest: Manifest) -> bool:
        """Puts a manifest into a slot by an exclusive link; says whether the slot was free."""
        return self.disk.publish(self.folder.slot(producer, epoch, slot), manifest.to_bytes())

    def has_segment(self, producer: str, epoch: int, segment: str) -> bool:
        """Whether a segment is on disk."""
        return (self.folder.segments(producer, epoch) / segment).exists()
