"""The journal and the store of state on disk keep their contracts, also over a restart."""

import pytest

from rheostat.control.ports import Entry
from rheostat.runtime.data_store import DirectoryStore
from rheostat.runtime.journal_sqlite import SqliteJournal
from tests.contracts.data_store import DataStoreContract, tree
from tests.contracts.journal import JournalContract


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    def journal(self, tmp_path):
        journal = SqliteJournal(tmp_path / "journal.db")
        yield journal
        journal.close()


class TestDirectoryStore(DataStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return DirectoryStore(tmp_path / "store")


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


def test_a_copy_that_was_interrupted_is_not_there(tmp_path, monkeypatch):
    store = DirectoryStore(tmp_path / "store")
    directory = tree(tmp_path / "state", offsets="1")

    def power_fails(*_):
        raise OSError("power failure")

    with monkeypatch.context() as failing:
        failing.setattr("pathlib.Path.rename", power_fails)
        with pytest.raises(OSError, match="power"):
            store.save("a", directory)
    assert list(DirectoryStore(tmp_path / "store").keys()) == []
    store.save("a", directory)
