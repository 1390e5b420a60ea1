"""The journal on disk keeps its contract, also over a restart."""

import pytest
from tests.contracts.journal import JournalContract

from rheostat.control.loop.ports import Entry
from rheostat.runtime.reconfigure.sqlite_journal import SqliteJournal


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    def journal(self, tmp_path):
        journal = SqliteJournal(tmp_path / "journal.db")
        yield journal
        journal.close()


def test_a_journal_goes_on_after_a_restart(tmp_path):
    first = SqliteJournal(tmp_path / "journal.db")
    first.append(Entry("begun", 1, {}))
    first.close()
    second = SqliteJournal(tmp_path / "journal.db")
    assert second.append(Entry("done", 2, {})) == 2
    assert [entry.kind for _, entry in second.read()] == ["begun", "done"]
    second.close()


def test_one_writes_while_another_reads(tmp_path):
    writer, reader = SqliteJournal(tmp_path / "journal.db"), SqliteJournal(tmp_path / "journal.db")
    writer.append(Entry("begun", 1, {}))
    assert len(list(reader.read())) == 1
    writer.append(Entry("done", 2, {}))
    assert len(list(reader.read())) == 2
    writer.close()
    reader.close()
