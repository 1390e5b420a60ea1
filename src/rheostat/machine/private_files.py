"""Small documents that only their owner may read, and locks that end with the process."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any


def write_private(path: Path, document: Mapping[str, object]) -> None:
    """Writes a document that only its owner may read; a reader sees the old one or the new one as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(document, file)
    temporary.replace(path)


def read_private(path: Path) -> dict[str, Any] | None:
    """The document; None if there is none, or if the file holds something else."""
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None


def lock(path: Path) -> IO[str] | None:
    """The lock of a file, None if another process has it. It ends when it is closed, or with the process."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
