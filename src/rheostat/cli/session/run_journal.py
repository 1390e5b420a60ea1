"""The journal of a run, for commands that read it while the run goes on or afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.control.history.decision_story import Story, TellableDecision, stories
from rheostat.control.history.node_story import node_stories
from rheostat.control.history.sqlite_journal import SqliteJournalReader
from rheostat.runtime.plan.run_paths import RunPaths


@contextmanager
def journal_of(directory: Path) -> Iterator[SqliteJournalReader]:
    """The journal of a run."""
    journal = SqliteJournalReader(RunPaths(directory).journal)
    try:
        yield journal
    finally:
        journal.close()


def told_of(directory: Path) -> tuple[list[TellableDecision], float]:
    """All decisions of a run in their order, about replicas and about nodes, and when it began."""
    with journal_of(directory) as journal:
        began = next((entry.at_seconds for _, entry in journal.read()), 0.0)
        found: list[TellableDecision] = [*stories(journal), *node_stories(journal)]
    return sorted(found, key=lambda told: told.number), began


def stories_of(directory: Path) -> list[Story]:
    """All decisions of a run about replicas."""
    with journal_of(directory) as journal:
        return stories(journal)
