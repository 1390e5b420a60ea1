"""Folders for the time of a run."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def passing_folder(name: str) -> Iterator[Path]:
    """A folder that is removed after a run, and once more in the end.

    A state store may write its last snapshot in the background when its query has been stopped and its folder removed,
    for as long as the session lives.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"rheostat-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
