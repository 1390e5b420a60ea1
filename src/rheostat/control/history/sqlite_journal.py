"""A durable journal: SQLite with a write-ahead log, synchronised to the disk at every entry.

The table `terms` has a row for each owner of the run. An append is one statement that inserts the entry only while the
owner's term is the newest, so that no other process can take the run over between the check and the write.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from rheostat.control.history.journal import check_entry, from_line, to_line
from rheostat.control.loop.ports import Entry
from rheostat.errors import JournalFenced

_TABLES = (
    "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, line TEXT)",
    "CREATE INDEX IF NOT EXISTS by_kind ON entries (kind, number)",
    "CREATE TABLE IF NOT EXISTS terms (term INTEGER PRIMARY KEY, after INTEGER NOT NULL, at_seconds REAL NOT NULL)",
)
_TAKE_OVER = """
    INSERT INTO terms (term, after, at_seconds)
    SELECT COALESCE(MAX(term), 0) + 1, (SELECT COALESCE(MAX(number), 0) FROM entries), ? FROM terms
    RETURNING term
"""
"""`after` is the last entry of the owner before."""
_NEWEST = "SELECT COALESCE(MAX(term), 0) FROM terms"
_APPEND = f"INSERT INTO entries (kind, line) SELECT ?, ? WHERE ({_NEWEST}) = ?"
BUSY_SECONDS = 30.0
"""Longest wait for another process that is writing."""


class SqliteJournalReader:
    """The journal in one file, for reading: while its owner writes, and afterwards. It writes nothing."""

    def __init__(self, path: Path) -> None:
        address = f"{path.absolute().as_uri()}?mode=ro"
        self._connection = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=BUSY_SECONDS)

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """Entries with a number above `after`, in order, of one kind or of all."""
        return _entries(self._connection, after, kind)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


class SqliteJournal:
    """The journal in one file, as the owner of the run has it. Making one takes the run over under the next term."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Any thread that decides may append; SQLite serialises the writes itself.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
        self._connection.execute("PRAGMA journal_mode=WAL")
        # FULL: an entry is on the disk when append returns, even if the power fails; NORMAL would lose the last ones.
        self._connection.execute("PRAGMA synchronous=FULL")
        for table in _TABLES:
            self._connection.execute(table)
        with closing(self._connection.execute(_TAKE_OVER, (time.time(),))) as cursor:
            # Read to its end: the statement is committed only then.
            self._term = int(cursor.fetchall()[0][0])

    @property
    def term(self) -> int:
        """Number of this owner."""
        return self._term

    def newest_term(self) -> int:
        """Term of the present owner."""
        with closing(self._connection.execute(_NEWEST)) as cursor:
            return int(cursor.fetchone()[0])

    def append(self, entry: Entry) -> int:
        """Writes the entry, durable when this returns; JournalFenced if the run has been taken over."""
        check_entry(entry)
        with closing(self._connection.execute(_APPEND, (entry.kind, to_line(entry), self._term))) as cursor:
            if cursor.rowcount == 1:
                return int(cursor.lastrowid or 0)
        raise JournalFenced(self._term, self.newest_term())

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """Entries with a number above `after`, in order, of one kind or of all."""
        return _entries(self._connection, after, kind)

    def close(self) -> None:
        """Ends the connection; the file stays."""
        self._connection.close()


def _entries(connection: sqlite3.Connection, after: int, kind: str | None) -> Iterator[tuple[int, Entry]]:
    query, values = "SELECT number, line FROM entries WHERE number > ?", [str(after)]
    if kind is not None:
        query, values = query + " AND kind = ?", [*values, kind]
    with closing(connection.cursor()) as cursor:
        for number, line in cursor.execute(query + " ORDER BY number", values):
            yield int(number), from_line(line)
