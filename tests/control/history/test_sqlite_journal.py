"""The journal on disk keeps its contract, also over a restart and between processes."""

import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing

import pytest
from tests.contracts.journal import JournalContract

from rheostat.control.history.sqlite_journal import SqliteJournal, SqliteJournalReader
from rheostat.control.loop.ports import Entry
from rheostat.errors import JournalFenced

OWNER = """
import sys
from pathlib import Path
from rheostat.control.loop.ports import Entry
from rheostat.errors import JournalFenced
from rheostat.control.history.sqlite_journal import SqliteJournal

journal = SqliteJournal(Path(sys.argv[1]))
print(journal.append(Entry("old", 1, {})), flush=True)
for number, _ in enumerate(sys.stdin):
    try:
        print(journal.append(Entry("old", number, {})), flush=True)
    except JournalFenced as fenced:
        print(f"fenced {fenced.term} {fenced.newest_term}", flush=True)
"""
"""A controller in a process of its own: it appends an entry, and another one for each line that it is sent."""


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    def take_over(self, tmp_path):
        with ExitStack() as opened:
            yield lambda: opened.enter_context(closing(SqliteJournal(tmp_path / "journal.db")))


def test_a_journal_goes_on_after_a_restart(tmp_path):
    first = SqliteJournal(tmp_path / "journal.db")
    first.append(Entry("begun", 1, {}))
    first.close()
    second = SqliteJournal(tmp_path / "journal.db")
    assert second.append(Entry("done", 2, {})) == 2
    assert [entry.kind for _, entry in second.read()] == ["begun", "done"]
    second.close()


def test_one_writes_while_another_reads_and_reading_takes_nothing_over(tmp_path):
    with closing(SqliteJournal(tmp_path / "journal.db")) as writer:
        with closing(SqliteJournalReader(tmp_path / "journal.db")) as reader:
            writer.append(Entry("begun", 1, {}))
            assert len(list(reader.read())) == 1
            writer.append(Entry("done", 2, {}))
            assert len(list(reader.read())) == 2
            assert [number for number, _ in reader.read(after=1, kind="done")] == [2]
        assert writer.newest_term() == 1


def test_a_journal_whose_owner_has_ended_is_read_and_not_changed(tmp_path):
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path)) as writer:
        writer.append(Entry("begun", 1, {}))
    before = path.read_bytes()
    with closing(SqliteJournalReader(path)) as reader:
        assert [entry.kind for _, entry in reader.read()] == ["begun"]
    assert path.read_bytes() == before


def test_nothing_is_created_where_there_is_no_journal_to_read(tmp_path):
    with pytest.raises(sqlite3.OperationalError):
        SqliteJournalReader(tmp_path / "journal.db")
    assert list(tmp_path.iterdir()) == []


def test_an_owner_in_another_process_that_lost_the_run_can_append_no_more(tmp_path):
    path = tmp_path / "journal.db"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as owner:

        def answer():
            owner.stdin.write("append\n")
            return owner.stdout.readline().strip()

        assert owner.stdout.readline() == "1\n"
        assert answer() == "2"
        with closing(SqliteJournal(path)) as mine:
            # The other process sleeps through the takeover and wakes up later.
            assert (mine.term, mine.append(Entry("new", 3, {}))) == (2, 3)
            assert answer() == "fenced 1 2"
            assert answer() == "fenced 1 2"
            assert mine.append(Entry("new", 4, {})) == 4
            assert [entry.kind for _, entry in mine.read()] == ["old", "old", "new", "new"]
        owner.stdin.close()
    assert owner.returncode == 0


def test_two_processes_that_take_a_run_over_at_once_get_terms_of_their_own(tmp_path):
    path = tmp_path / "journal.db"
    code = (
        "import sys; from pathlib import Path; "
        "from rheostat.control.history.sqlite_journal import SqliteJournal; "
        "print([SqliteJournal(Path(sys.argv[1])).term for _ in range(20)])"
    )
    owners = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    terms = [term for owner in owners for term in numbers_of(owner.communicate(timeout=60)[0])]
    assert sorted(terms) == list(range(1, 41))


def numbers_of(printed):
    return [int(part) for part in printed.strip("[] \n").split(",")]


def test_a_journal_from_before_terms_is_taken_over_as_it_is(tmp_path):
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path)) as first:
        first.append(Entry("begun", 1, {}))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE terms")
    with closing(SqliteJournal(path)) as second:
        assert (second.term, second.append(Entry("done", 2, {}))) == (1, 2)


def test_the_first_owner_is_fenced_although_its_connection_never_closed(tmp_path):
    with closing(SqliteJournal(tmp_path / "journal.db")) as first:
        with closing(SqliteJournal(tmp_path / "journal.db")):
            pass
        with pytest.raises(JournalFenced):
            first.append(Entry("late", 1, {}))
