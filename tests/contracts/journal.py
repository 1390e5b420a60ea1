"""Contract of every journal."""

import threading

import pytest

from rheostat.control.loop.ports import Entry
from rheostat.errors import JournalFenced


class JournalContract:
    """Give a fixture `take_over`: a function that gives the next owner's journal of one run, which begins empty."""

    @pytest.fixture
    def journal(self, take_over):
        return take_over()

    def test_entries_come_back_as_they_were_in_order_and_numbered_from_one(self, journal):
        entries = [Entry("decision", 1.5, {"operator": "count", "wanted": {"n1": 2}}), Entry("seen", 2.0, {"rate": 3})]
        assert [journal.append(entry) for entry in entries] == [1, 2]
        assert list(journal.read()) == [(1, entries[0]), (2, entries[1])]

    def test_reading_starts_where_it_is_told_and_takes_the_kind_it_is_told(self, journal):
        for number in range(6):
            journal.append(Entry("even" if number % 2 == 0 else "odd", number, {}))
        assert [number for number, _ in journal.read(after=3)] == [4, 5, 6]
        assert [number for number, _ in journal.read(kind="odd")] == [2, 4, 6]
        assert [number for number, _ in journal.read(after=2, kind="even")] == [3, 5]

    def test_what_was_written_cannot_be_changed_afterwards(self, journal):
        facts = {"nodes": ["a"]}
        journal.append(Entry("decision", 0, facts))
        facts["nodes"].append("b")
        assert next(iter(journal.read()))[1].facts == {"nodes": ["a"]}

    @pytest.mark.parametrize(
        "wrong",
        [
            Entry("", 0, {}),
            Entry("decision", float("nan"), {}),
            Entry("decision", 0, {"rate": float("inf")}),
            Entry("decision", 0, {"what": object()}),
            Entry("decision", 0, {"map": {1: 2}}),
        ],
    )
    def test_what_could_not_be_read_back_is_refused_and_changes_nothing(self, journal, wrong):
        with pytest.raises(ValueError, match=r"entry|facts"):
            journal.append(wrong)
        assert list(journal.read()) == []

    def test_every_owner_of_a_run_has_the_next_term_and_goes_on_numbering(self, take_over):
        first = take_over()
        assert (first.term, first.newest_term()) == (1, 1)
        assert first.append(Entry("begun", 1, {})) == 1
        second = take_over()
        assert (second.term, second.newest_term()) == (2, 2)
        assert second.append(Entry("done", 2, {})) == 2
        assert [entry.kind for _, entry in second.read()] == ["begun", "done"]

    def test_an_earlier_owner_appends_nothing_more_is_told_both_terms_and_may_still_read(self, take_over):
        first = take_over()
        first.append(Entry("begun", 1, {}))
        take_over()
        third = take_over()
        for _ in range(2):
            with pytest.raises(JournalFenced, match=r"term 3 owns its journal, term 1 can no longer append") as fenced:
                first.append(Entry("late", 9, {}))
        assert (fenced.value.term, fenced.value.newest_term) == (1, 3)
        assert (first.term, first.newest_term()) == (1, 3)
        third.append(Entry("done", 2, {}))
        assert [entry.kind for _, entry in first.read()] == ["begun", "done"]

    def test_a_takeover_in_the_middle_of_many_appends_lets_none_of_them_through_behind_it(self, take_over):
        first, accepted = take_over(), []
        begun, enough, fenced = threading.Event(), threading.Event(), threading.Event()

        def write():
            try:
                while not enough.wait(0.001):  # a pause, in which another process may write
                    accepted.append(first.append(Entry("old", len(accepted), {})))
                    if len(accepted) == 20:
                        begun.set()
            except JournalFenced:
                fenced.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert begun.wait(30)
            second = take_over()
            mark = second.append(Entry("new", 0, {}))
            assert fenced.wait(30)
        finally:
            enough.set()
            writer.join()
        numbers = [number for number, entry in second.read(kind="old")]
        assert numbers == accepted
        assert max(accepted) < mark
