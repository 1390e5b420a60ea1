"""A journal in memory, and the written form of an entry that every journal uses.

The form is canonical JSON: the same decisions give the same bytes, so that two runs can be compared byte for byte.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from threading import Lock

from rheostat.control.loop.ports import Entry, Json
from rheostat.errors import JournalFenced


def to_line(entry: Entry) -> str:
    """One line of canonical JSON: sorted keys, no spaces, no NaN."""
    whole = {"kind": entry.kind, "at": entry.at_seconds, "facts": dict(entry.facts)}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_line(line: str) -> Entry:
    """The entry that was written."""
    whole = json.loads(line)
    return Entry(whole["kind"], whole["at"], whole["facts"])


@dataclass(slots=True)
class MemoryStore:
    """The lines of a journal in memory, shared by its successive owners."""

    lines: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """Kind of every line, so that only the lines of a wanted kind are parsed."""
    newest_term: int = 0
    lock: Lock = field(default_factory=Lock)


class MemoryJournal:
    """A journal for simulation and tests: it lasts as long as the process.

    Making one on a store takes the run over under the next term.
    """

    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store = store or MemoryStore()
        with self._store.lock:
            self._store.newest_term += 1
            self._term = self._store.newest_term

    @property
    def term(self) -> int:
        """Number of this owner."""
        return self._term

    def newest_term(self) -> int:
        """Term of the present owner."""
        return self._store.newest_term

    def append(self, entry: Entry) -> int:
        """Stores the entry as its line, which later changes of its facts do not reach; JournalFenced if taken over."""
        check_entry(entry)
        store, line = self._store, to_line(entry)
        with store.lock:
            if store.newest_term != self._term:
                raise JournalFenced(self._term, store.newest_term)
            store.lines.append(line)
            store.kinds.append(entry.kind)
            return len(store.lines)

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """Entries with a number above `after`, in order."""
        for number in range(after, len(self._store.lines)):
            if kind is None or self._store.kinds[number] == kind:
                yield number + 1, from_line(self._store.lines[number])


def check_entry(entry: Entry) -> None:
    """Rejects an entry that could not be read back as it was."""
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
