"""A journal that survives: SQLite with a write-ahead log, synchronised to the disk at every entry."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from rheostat.control.history.journal import check_entry, from_line, to_line
from rheostat.control.loop.ports import Entry


class SqliteJournal:
    """One file. Several processes may read while one writes."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # An entry may be appended by whichever thread decided; SQLite serialises the writes itself.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        self._connection.execute("PRAGMA journal_mode=WAL")
        # FULL: an entry is on the disk when append returns, even if the power fails; NORMAL would lose the last ones.
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, line TEXT)"
        )
        self._connection.execute("CREATE INDEX IF NOT EXISTS by_kind ON entries (kind, number)")

    def append(self, entry: Entry) -> int:
        """Durable when it returns."""
        check_entry(entry)
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("INSERT INTO entries (kind, line) VALUES (?, ?)", (entry.kind, to_line(entry)))
            return int(cursor.lastrowid or 0)

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """In order."""
        query, values = "SELECT number, line FROM entries WHERE number > ?", [str(after)]
        if kind is not None:
            query, values = query + " AND kind = ?", [*values, kind]
        with closing(self._connection.cursor()) as cursor:
            for number, line in cursor.execute(query + " ORDER BY number", values):
                yield int(number), from_line(line)

    def close(self) -> None:
        """Ends the connection; the file stays."""
        self._connection.close()
