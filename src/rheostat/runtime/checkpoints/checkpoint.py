"""The checkpoint directory of a stopped query, and the skeleton of a new one."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints import durable_files as durable
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET, CommittedBatch, PlannedBatch
from rheostat.runtime.checkpoints.state_operators import OperatorState, metadata_file, moved_metadata, schema_files


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint directory of one Structured Streaming query."""

    path: Path

    def __post_init__(self) -> None:
        """Refuses relative paths: Spark would resolve them against another directory."""
        if not self.path.is_absolute():
            raise ValueError(f"a checkpoint needs an absolute path, got {self.path}")

    @property
    def last_planned(self) -> int | None:
        """The last batch that was planned, None before the first."""
        return _last(self.path / "offsets")

    @property
    def last_committed(self) -> int | None:
        """The last batch that was finished, None before the first."""
        return _last(self.path / "commits")

    @property
    def is_settled(self) -> bool:
        """Whether every planned batch is committed, so that state and offsets agree."""
        return self.last_planned == self.last_committed

    @property
    def is_stateful(self) -> bool:
        """Whether the query keeps state at all."""
        return any(self.operator_folders())

    def planned(self, batch: int) -> PlannedBatch:
        """What a batch was to read."""
        return PlannedBatch.parse(batch, (self.path / "offsets" / str(batch)).read_text())

    def committed(self, batch: int) -> CommittedBatch:
        """What a batch left behind."""
        return CommittedBatch.parse(batch, (self.path / "commits" / str(batch)).read_text())

    def is_repartitioning(self, batch: int) -> bool:
        """Whether a batch only changed the number of partitions: it has read no input."""
        before = batch - 1
        if not (self.path / "offsets" / str(before)).exists():
            return False
        return self.planned(before).partitions != self.planned(batch).partitions

    def operators(self) -> tuple[OperatorState, ...]:
        """The stateful operators, as they are now."""
        batch = self.last_planned or 0
        return tuple(OperatorState.read(folder, batch) for folder in self.operator_folders())

    def clear_beginning(self) -> None:
        """Removes what is left of a first batch that was never planned; does nothing once one was.

        A query that is killed while it writes its first plan leaves half a file, and Spark begins only where there is
        nothing.
        """
        if self.last_planned is None:
            for name in ("offsets", "commits", "state"):
                shutil.rmtree(self.path / name, ignore_errors=True)

    def plan(self, entry: PlannedBatch) -> None:
        """Adds an entry to the offset log."""
        self._add("offsets", entry.number, entry.text())

    def commit(self, entry: CommittedBatch) -> None:
        """Adds an entry to the commit log."""
        self._add("commits", entry.number, entry.text())

    def _add(self, log: str, batch: int, text: str) -> None:
        file = self.path / log / str(batch)
        if file.exists():
            raise ValueError(f"{file} exists: an entry of a log is written once")
        file.parent.mkdir(exist_ok=True)
        durable.write_text(file, text)

    def operator_folders(self) -> list[Path]:
        """Where its stateful operators keep their state."""
        folders = [folder for folder in (self.path / "state").glob("*") if folder.name.isdigit()]
        return sorted(
            (folder for folder in folders if (folder / "_metadata").exists()), key=lambda folder: int(folder.name)
        )


def settled_batch(checkpoint: Checkpoint) -> int | None:
    """The batch whose state and offsets are to be moved, None if the query never finished one.

    An uncommitted batch may have reached the sink already under its number, so it has to be replayed first; only an
    abandoned repartitioning has read nothing and can be passed over.
    """
    planned, committed = checkpoint.last_planned, checkpoint.last_committed
    if planned is not None and planned != committed and not checkpoint.is_repartitioning(planned):
        raise CannotMove(
            str(checkpoint.path),
            f"batch {planned} is not committed; run the query once to replay it, then move its state",
        )
    return committed


def copy_skeleton(parent: Checkpoint, entry: PlannedBatch, target: Path) -> None:
    """Writes what a checkpoint needs besides its logs and its rows, so that its next batch can be `entry`.

    That is a new identity, the files of sources that have an offset (one without starts anew), operators and schemas.
    Checksums stay behind, because the copies differ, and so do the versions of operator metadata that no longer hold.
    """
    (target / "metadata").write_text(json.dumps({"id": str(uuid4())}))
    for number, offset in enumerate(entry.offsets):
        source = parent.path / "sources" / str(number)
        if offset != NO_OFFSET and source.exists():
            shutil.copytree(source, target / "sources" / str(number), ignore=shutil.ignore_patterns(".*"))
    for folder in parent.operator_folders():
        metadata = metadata_file(folder, entry.number - 1)
        copied = target / "state" / folder.name
        moved = copied / metadata.relative_to(folder)
        moved.parent.mkdir(parents=True)
        moved.write_text(moved_metadata(metadata.read_text(), target, entry.partitions))
        for schema in schema_files(folder):
            place = copied / schema.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(schema, place)


def _last(log: Path) -> int | None:
    numbers = [int(entry.name) for entry in log.glob("*") if entry.name.isdigit()]
    return max(numbers, default=None)
