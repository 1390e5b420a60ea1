"""The journal of a run, for commands that tell about it: while it goes on, or when it is over."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.control.story import Story, stories
from rheostat.runtime.journal_sqlite import SqliteJournal
from rheostat.runtime.layout import Layout


@contextmanager
def journal_of(directory: Path) -> Iterator[SqliteJournal]:
    """The journal of a run."""
    journal = SqliteJournal(Layout(directory).journal)
    try:
        yield journal
    finally:
        journal.close()


def stories_of(directory: Path) -> tuple[list[Story], float]:
    """All decisions of a run, and when it began."""
    with journal_of(directory) as journal:
        began = next((entry.at_seconds for _, entry in journal.read()), 0.0)
        return stories(journal), began
