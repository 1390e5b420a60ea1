"""Durable writing and syncing of files and directories.

Spark does not sync its checkpoints; a migration must, because the parents are deleted once the child is said to be
complete.
"""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

_SYNC_THREADS = 8
"""A file system writes several pending syncs in one go, so waiting for them side by side is cheaper than in a row."""


def write_text(path: Path, text: str) -> None:
    """Puts the text there atomically: after a crash the file has its old content or all of the new."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    with temporary.open("xb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    checksum_of(path).unlink(missing_ok=True)
    temporary.replace(path)
    sync_path(path.parent)


def checksum_of(path: Path) -> Path:
    """Where Hadoop keeps the checksum of a local file; a stale one makes the file unreadable for Spark."""
    return path.with_name(f".{path.name}.crc")


def sync_path(path: Path) -> None:
    """Forces a file's content, or a directory's list of names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all(paths: Iterable[Path]) -> None:
    """Forces many files and directories to the disk."""
    with ThreadPoolExecutor(_SYNC_THREADS) as threads:
        for _ in threads.map(sync_path, paths):
            pass


def sync_tree(root: Path) -> None:
    """Forces a directory with everything in it, and its own name, to the disk."""
    sync_all([root.parent, root, *root.rglob("*")])
