"""Completion marks of directories that are being built: partial ones may be removed, complete ones are kept.

```
(nothing) --begin--> building.json + partial content --finish--> complete.json + content
```
The last step is one rename. A crash before it leaves a directory that says itself that it is partial, so the next
attempt may remove or resume it; a directory that says neither was written by other software and is never touched.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from rheostat.runtime.checkpoints import durable_files as durable

BUILDING = "building.json"
"""Holds the recipe while the directory is being written."""
COMPLETE = "complete.json"
"""Holds the recipe once everything is on the disk."""
MARKERS = frozenset({BUILDING, COMPLETE})

Recipe = Mapping[str, object]
"""What is being built from what, as JSON: the same recipe means the same content."""


def begin(target: Path, recipe: Recipe, *, resume: bool = False) -> bool:
    """Prepares `target` for building; False if exactly this was completed before and nothing is left to do.

    `resume` keeps the partial content of an earlier attempt at the same recipe, otherwise building starts from nothing.
    """
    finished = _recipe(target / COMPLETE)
    if finished is not None:
        if finished != recipe:
            raise ValueError(f"{target} holds the result of another change: {finished}, wanted {recipe}")
        return False
    started = _recipe(target / BUILDING)
    if resume and started == recipe:
        return True
    if started is None and _holds_something(target):
        raise ValueError(f"{target} exists and was not written by a migration: give a new directory")
    shutil.rmtree(target, ignore_errors=not target.exists())
    target.mkdir(parents=True)
    durable.write_text(target / BUILDING, json.dumps(recipe, sort_keys=True))
    return True


def finish(target: Path) -> None:
    """Declares the directory complete. The caller has synced its content."""
    (target / BUILDING).rename(target / COMPLETE)
    durable.sync_path(target)
    durable.sync_path(target.parent)


def is_complete(target: Path) -> bool:
    """Whether everything of a migration is there."""
    return (target / COMPLETE).exists()


def is_partial(target: Path) -> bool:
    """Whether an attempt was interrupted there."""
    return (target / BUILDING).exists()


def _recipe(marker: Path) -> Recipe | None:
    if not marker.exists():
        return None
    found: Recipe = json.loads(marker.read_text())
    return found


def _holds_something(target: Path) -> bool:
    """Hidden files do not count: they are what an interrupted atomic write leaves."""
    return target.exists() and any(not entry.name.startswith(".") for entry in target.iterdir())
