"""A channel on disk: a folder that all processes of a run share."""

from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.log.channel_folder import SPEC_FILE, ChannelFolder, create_folder, load_folder
from rheostat.runtime.channels.log.disk_consumers import DiskConsumers
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.log.producer import SlotProducer, close_newest, open_epoch
from rheostat.runtime.channels.port.channel import EpochClaim
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.manifest import Segment
from rheostat.runtime.channels.records.segment import grouped


@dataclass(frozen=True)
class DiskProducers:
    """The writing side of a channel on disk."""

    folder: ChannelFolder
    disk: Disk

    def open(self, claim: EpochClaim, now_ms: int = 0) -> SlotProducer:
        """Declares an epoch of a producer and seals the one before."""
        return open_epoch(DiskLog(self.folder, self.disk), claim, now_ms)

    def stage(self, producer: str, epoch: int, rows: pa.Table, groups: npt.NDArray[np.int64] | None) -> Segment | None:
        """Writes the rows as an Arrow file, synced with its folder. None if there are no rows."""
        if rows.num_rows == 0:
            return None
        batch, counts = grouped(rows, groups)
        folder = self.folder.segments(producer, epoch)
        path = folder / f"{uuid4().hex}.arrow"
        self.disk.step("write segment")
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
        self.disk.sync_file(path)
        self.disk.sync_folder(folder)
        return Segment(path.name, path.stat().st_size, counts)

    def close(self, producer: str, now_ms: int) -> None:
        """Closes the newest epoch of the producer; does nothing if it was never declared."""
        close_newest(DiskLog(self.folder, self.disk), producer, now_ms)


@dataclass(frozen=True)
class DiskChannel:
    """One channel in a folder. Its address is the path of the folder."""

    folder: ChannelFolder
    disk: Disk = field(default_factory=Disk, compare=False)

    @property
    def address(self) -> str:
        """Path of the folder."""
        return str(self.folder.path)

    @property
    def spec(self) -> ChannelSpec:
        """Description of the channel."""
        return self.folder.spec

    def exists(self) -> bool:
        """Whether the channel was created."""
        return self.folder.exists()

    def create(self) -> None:
        """Creates the folder. Raises ValueError if it holds a different channel."""
        create_folder(self.folder, self.disk)

    def log(self) -> DiskLog:
        """A new view of the log, with a memory of its own."""
        return DiskLog(self.folder, self.disk)

    @property
    def producers(self) -> DiskProducers:
        """The writing side."""
        return DiskProducers(self.folder, self.disk)

    @property
    def consumers(self) -> DiskConsumers:
        """The consuming side."""
        return DiskConsumers(self.folder, self.disk)


class DiskChannels:
    """All channels on the disks of this machine."""

    def at(self, address: str, spec: ChannelSpec) -> DiskChannel:
        """The channel with this description, whether it was created or not."""
        return DiskChannel(ChannelFolder(Path(address), spec))

    def load(self, address: str) -> DiskChannel:
        """The channel that was created at this address. Raises NoChannel if there is none."""
        return DiskChannel(load_folder(Path(address)))

    def below(self, address: str) -> list[DiskChannel]:
        """The channels that were created in this folder, by name of their folder."""
        return [DiskChannel(load_folder(path.parent)) for path in sorted(Path(address).glob(f"*/{SPEC_FILE}"))]
