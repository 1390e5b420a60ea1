"""Moves all of an instance to another directory: most of it while its query runs, the rest after it has stopped.

Files of a checkpoint are written once under their name, with one exception: a batch that is replayed writes its
changelog again. So a copy that has the size and the modification time of its original is taken as good, anything else
is copied again. Hence an interrupted relocation simply goes on, and what is left after a pre-copy is the last few
batches.

The source is only read. Checksum files are not copied: Spark does without them, and the operator metadata differs in
its paths.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints import completion as construction
from rheostat.runtime.checkpoints import durable_files as durable
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.live_files import needed_files
from rheostat.runtime.checkpoints.state_operators import moved_metadata


@dataclass(frozen=True, slots=True)
class Copied:
    """What one pass over a checkpoint did."""

    files: int = 0
    bytes: int = 0
    kept: int = 0
    """Files that were there already."""


def copy_ahead(source: Checkpoint, target: Path) -> Copied:
    """Copies what the query would need now, while it goes on. Repeat it at will; `relocate` is needed in the end."""
    if not construction.begin(target, _recipe(source), resume=True):
        raise ValueError(f"{target} is complete already")
    try:
        return _pass(source, target, needed_files(source))
    except (FileNotFoundError, CannotMove):
        return Copied()  # the query moved on and cleaned up under our eyes: the next pass sees a newer state


def relocate(source: Checkpoint, target: Path) -> Copied:
    """Makes `target` a complete copy of the checkpoint of a stopped query. Repeat it after a crash.

    Batch numbers and query identity stay, an uncommitted last batch will be replayed there: it is the same query
    elsewhere.
    """
    if not construction.begin(target, _recipe(source), resume=True):
        if (Checkpoint(target).last_planned or 0) < (source.last_planned or 0):
            raise ValueError(f"{target} is an older copy of {source.path}: give a new directory")
        return Copied()
    needed = needed_files(source)
    copied = _pass(source, target, needed)
    _remove_others(target, set(needed))
    durable.sync_all([target, *(folder for folder in target.rglob("*") if folder.is_dir())])
    construction.finish(target)
    return copied


def _recipe(source: Checkpoint) -> construction.Recipe:
    return {"copy of": str(source.path)}


def _pass(source: Checkpoint, target: Path, needed: list[Path]) -> Copied:
    files = size = 0
    for relative in needed:
        original, copy = source.path / relative, target / relative
        before = original.stat()
        if _is_same(before, copy, metadata=_holds_paths(relative)):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        _copy(original, before, copy, target if _holds_paths(relative) else None)
        files, size = files + 1, size + before.st_size
    return Copied(files, size, len(needed) - files)


def _holds_paths(relative: Path) -> bool:
    """transformWithState writes absolute paths into its operator metadata: state/<n>/_metadata/v2/<batch>."""
    return relative.parts[:1] == ("state",) and relative.parts[2:4] == ("_metadata", "v2")


def _is_same(original: os.stat_result, copy: Path, *, metadata: bool) -> bool:
    if not copy.exists():
        return False
    found = copy.stat()
    return found.st_mtime_ns == original.st_mtime_ns and (metadata or found.st_size == original.st_size)


def _copy(original: Path, before: os.stat_result, copy: Path, moved_to: Path | None) -> None:
    """Copies one file durably under a passing name; it carries its original's time only when it is whole."""
    temporary = copy.with_name(f".{copy.name}.{uuid4().hex}.tmp")
    if moved_to is None:
        shutil.copyfile(original, temporary)
    else:
        temporary.write_text(moved_metadata(original.read_text(), moved_to, None))
    after = original.stat()
    if (after.st_mtime_ns, after.st_size) != (before.st_mtime_ns, before.st_size):
        temporary.unlink()
        raise FileNotFoundError(f"{original} changed while it was copied")
    os.utime(temporary, ns=(before.st_atime_ns, before.st_mtime_ns))
    durable.sync_path(temporary)
    temporary.replace(copy)


def _remove_others(target: Path, needed: set[Path]) -> None:
    """Removes what an earlier pass had copied and the query no longer needs, and what a crash left half-written."""
    for file in list(target.rglob("*")):
        if file.is_file() and file.name not in construction.MARKERS and file.relative_to(target) not in needed:
            file.unlink()
