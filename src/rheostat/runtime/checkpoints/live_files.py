"""The files of a checkpoint that its query needs to go on from its last committed batch.

Spark keeps a hundred batches to fall back on. To go on it needs the state at one version: per partition the latest
snapshot (`<version>.zip`, which lists the files it consists of) and the changelogs after it; of the logs, the last
committed batch, the one before it and what was planned since. Everything that is not known to be history is needed.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.completion import MARKERS

_PARTS = {"sstFiles": ("dfsSstFileName", "SSTs"), "logFiles": ("dfsLogFileName", "logs")}
"""What a snapshot lists: (the field with the file's name, the folder the file is in)."""


def needed_files(checkpoint: Checkpoint) -> list[Path]:
    """The files, relative to the checkpoint, in no particular order.

    While the query runs the answer is a snapshot of a moving thing: good for copying ahead, not for the last word.
    """
    root, batch = checkpoint.path, checkpoint.last_committed
    if batch is None:
        return _relative(root, _plain_files(root))
    partitions = checkpoint.planned(batch).partitions
    found = [*_logs(root, batch)]
    for folder in checkpoint.operator_folders():
        for part in folder.iterdir():
            if not part.name.isdigit():
                found += _plain_files(part)
            elif int(part.name) < partitions:
                found += _partition(part, batch + 1)
    for entry in root.iterdir():
        if entry.name not in {"offsets", "commits", "state"}:
            found += _plain_files(entry)
    return _relative(root, found)


def _logs(root: Path, batch: int) -> Iterator[Path]:
    for log in ("offsets", "commits"):
        for entry in (root / log).iterdir():
            if entry.name.isdigit() and int(entry.name) >= batch - 1:
                yield entry


def _partition(folder: Path, version: int) -> Iterator[Path]:
    """The files of one partition: of its only store, or of a folder per store as a join has."""
    for store in {file.parent for file in folder.rglob("*") if file.suffix in {".changelog", ".zip"}}:
        yield from _plain_files(store / "_metadata")
        yield from _version(store, version)


def _version(store: Path, version: int) -> Iterator[Path]:
    snapshots = [int(file.stem) for file in store.glob("*.zip") if file.stem.isdigit()]
    start = max((number for number in snapshots if number <= version), default=0)
    changes = [store / f"{number}.changelog" for number in range(start + 1, version + 1)]
    missing = [change.name for change in changes if not change.exists()]
    if missing:
        raise CannotMove(str(store), f"version {version} of its state is not complete: {', '.join(missing)} missing")
    yield from changes
    if start:
        snapshot = store / f"{start}.zip"
        yield snapshot
        yield from _listed(snapshot)


def _listed(snapshot: Path) -> Iterator[Path]:
    """The immutable files a snapshot refers to."""
    with ZipFile(snapshot) as archive:
        listing = json.loads(archive.read("metadata").decode().partition("\n")[2])
    for field, (name, folder) in _PARTS.items():
        for part in listing.get(field, ()):
            yield snapshot.parent / folder / part[name]


def _plain_files(place: Path) -> Iterator[Path]:
    """All files at or below a place but hidden ones (checksums, half-written files) and our own markers."""
    for file in [place] if place.is_file() else place.rglob("*"):
        if file.is_file() and not file.name.startswith(".") and file.name not in MARKERS:
            yield file


def _relative(root: Path, files: Iterable[Path]) -> list[Path]:
    return [file.relative_to(root) for file in files]
