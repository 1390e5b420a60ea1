"""The DataStore of an installation whose agents share a file system: a directory.

A tree is copied beside its place and renamed into it, so that a key either holds everything or does not exist.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from uuid import uuid4


class DirectoryStore:
    """Keys are directories below a root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        (root / "whole").mkdir(parents=True, exist_ok=True)
        (root / "partial").mkdir(exist_ok=True)

    def save(self, key: str, directory: Path) -> None:
        """Completely or not at all."""
        place = self._place(key)
        if place.exists():
            raise ValueError(f"{key} is stored already")
        partial = self._root / "partial" / uuid4().hex
        shutil.copytree(directory, partial)
        _sync_tree(partial)
        place.parent.mkdir(parents=True, exist_ok=True)
        # The marker makes a stored tree tell itself from the folders above it.
        (partial / _MARKER).touch()
        partial.rename(place)
        _sync_directory(place.parent)

    def load(self, key: str, directory: Path) -> None:
        """A copy where it is wanted."""
        place = self._place(key)
        if not (place / _MARKER).exists():
            raise KeyError(key)
        shutil.copytree(place, directory, ignore=shutil.ignore_patterns(_MARKER))
        _sync_tree(directory)

    def keys(self, prefix: str = "") -> Sequence[str]:
        """What is stored, sorted."""
        whole = self._root / "whole"
        found = (marker.parent.relative_to(whole).as_posix() for marker in whole.rglob(_MARKER))
        return sorted(key for key in found if key.startswith(prefix))

    def delete(self, key: str) -> None:
        """Out of sight at once, off the disk after."""
        place = self._place(key)
        if place.exists():
            gone = self._root / "partial" / uuid4().hex
            place.rename(gone)
            shutil.rmtree(gone)

    def _place(self, key: str) -> Path:
        path = PurePosixPath(key)
        if path.is_absolute() or not path.parts or ".." in path.parts or str(path) != key:
            raise ValueError(f"a key is a plain relative path, got {key!r}")
        return self._root / "whole" / path


_MARKER = ".stored"


def _sync_tree(directory: Path) -> None:
    for folder, _, files in os.walk(directory):
        for name in files:
            with (Path(folder) / name).open("rb") as file:
                os.fsync(file.fileno())
        _sync_directory(Path(folder))


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
