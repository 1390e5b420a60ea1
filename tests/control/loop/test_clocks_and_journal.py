"""The clocks and the journal in memory keep their contracts."""

import pytest
from tests.contracts.clock import ClockContract
from tests.contracts.journal import JournalContract

from rheostat.control.history.journal import MemoryJournal, MemoryStore, from_line, to_line
from rheostat.control.loop.clocks import SystemClock, VirtualClock
from rheostat.control.loop.ports import Entry


class TestSystemClock(ClockContract):
    @pytest.fixture
    def clock(self):
        return SystemClock()


class TestVirtualClock(ClockContract):
    @pytest.fixture
    def clock(self):
        return VirtualClock()


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    def take_over(self):
        store = MemoryStore()
        return lambda: MemoryJournal(store)


def test_the_written_form_does_not_depend_on_the_order_of_facts():
    one, other = Entry("k", 1, {"a": 1, "b": 2}), Entry("k", 1, {"b": 2, "a": 1})
    assert to_line(one) == to_line(other)
    assert from_line(to_line(one)) == one
