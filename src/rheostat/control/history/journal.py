"""A journal in memory, and the one written form an entry has.

The form is canonical JSON: the same decisions give the same bytes, so that two runs can be compared byte for byte.
"""

import json
from collections.abc import Iterable, Iterator
from math import isfinite

from rheostat.control.loop.ports import Entry, Json


def to_line(entry: Entry) -> str:
    """One line of canonical JSON: sorted keys, no spaces, no NaN."""
    whole = {"kind": entry.kind, "at": entry.at_seconds, "facts": dict(entry.facts)}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_line(line: str) -> Entry:
    """The entry that was written."""
    whole = json.loads(line)
    return Entry(whole["kind"], whole["at"], whole["facts"])


class MemoryJournal:
    """Forgets everything when it ends: for simulation and tests."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._kinds: list[str] = []
        """Of every line, so that only lines that are asked for are taken apart."""

    def append(self, entry: Entry) -> int:
        """Kept as its line, so that nobody can change it afterwards."""
        check_entry(entry)
        self._lines.append(to_line(entry))
        self._kinds.append(entry.kind)
        return len(self._lines)

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """In order."""
        for number in range(after, len(self._lines)):
            if kind is None or self._kinds[number] == kind:
                yield number + 1, from_line(self._lines[number])


def check_entry(entry: Entry) -> None:
    """Refuses what could not be read back as it was."""
    if not entry.kind or not isfinite(entry.at_seconds):
        raise ValueError(f"an entry needs a kind and a time, got {entry.kind!r} at {entry.at_seconds}")
    if not _is_plain(dict(entry.facts)):
        raise ValueError(f"facts must be plain JSON with finite numbers and text keys, got {entry.facts!r}")


def _is_plain(value: Json) -> bool:
    if value is None or isinstance(value, str | int):
        return True
    if isinstance(value, float):
        return isfinite(value)
    items: Iterable[Json]
    if isinstance(value, dict) and set(map(type, value)) <= {str}:
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    else:
        return False
    for item in items:  # noqa: SIM110 - every number of every entry comes by here, and a generator takes longer
        if not _is_plain(item):
            return False
    return True
