"""What every journal promises."""

import pytest

from rheostat.control.loop.ports import Entry


class JournalContract:
    """Give a fixture `journal`, empty."""

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
