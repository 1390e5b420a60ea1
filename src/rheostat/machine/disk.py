"""Durable writing of files: the few steps that channels and hold files consist of.

Every step passes through `step`, so that a test can die before any of them.
"""

import os
from pathlib import Path
from uuid import uuid4

TEMPORARY = ".part-"
"""Beginning of the names of files that are not finished; readers ignore them, the cleaner removes them."""


class Disk:
    """Writes files so that a name is either absent or stands for the whole, synced content."""

    def publish(self, path: Path, content: bytes) -> bool:
        """Creates the file durably unless the name is taken; says whether it did.

        The link is the one atomic step: of several that want the same name exactly one gets it.
        """
        if path.exists():
            return False
        draft = self._draft(path, content, durable=True)
        try:
            self.step("link")
            path.hardlink_to(draft)
        except FileExistsError:
            return False
        finally:
            self.remove(draft)
        self.sync_folder(path.parent)
        return True

    def replace(self, path: Path, content: bytes, *, durable: bool) -> None:
        """Puts a new version of the file in place of the old one, atomically."""
        draft = self._draft(path, content, durable=durable)
        self.step("rename")
        draft.replace(path)
        if durable:
            self.sync_folder(path.parent)

    def make_folder(self, path: Path) -> None:
        """Creates the folder and its parents; each new name is synced."""
        if path.is_dir():
            return
        self.make_folder(path.parent)
        self.step("mkdir")
        path.mkdir(exist_ok=True)
        self.sync_folder(path.parent)

    def remove(self, path: Path) -> None:
        """Removes the file if it is there."""
        self.step("remove")
        path.unlink(missing_ok=True)

    def sync_file(self, path: Path) -> None:
        """Brings the content of a finished file to the disk."""
        self.step("sync")
        _sync(path, os.O_RDONLY)

    def sync_folder(self, path: Path) -> None:
        """Brings the names in a folder to the disk."""
        self.step("sync folder")
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)

    def _draft(self, path: Path, content: bytes, *, durable: bool) -> Path:
        draft = path.parent / f"{TEMPORARY}{uuid4().hex}"
        self.step("write")
        draft.write_bytes(content)
        if durable:
            self.sync_file(draft)
        return draft

    def step(self, what: str) -> None:
        """Called before every change; a test overrides it to die here."""


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
