"""Schedule of the control loops."""

from dataclasses import dataclass, field
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.control.loop.clocks import VirtualClock
from rheostat.control.loop.loop_schedule import run


@dataclass
class Diary:
    """A loop that writes down when it was called, into a book it may share with others."""

    name: str
    period_seconds: float
    offset_seconds: float = 0.0
    book: list[tuple[float, str]] = field(default_factory=list)

    def step(self, now_seconds: float) -> None:
        self.book.append((now_seconds, self.name))


def test_a_loop_acts_at_its_offset_and_then_every_period_up_to_the_end():
    loop = Diary("manager", 30, offset_seconds=10)
    run([loop], VirtualClock(), 100)
    assert [at for at, _ in loop.book] == [10, 40, 70, 100]


def test_loops_go_in_the_order_of_their_due_times():
    book = []
    run([Diary("slow", 50, 20, book), Diary("quick", 30, 0, book)], VirtualClock(), 75)
    assert book == [(0, "quick"), (20, "slow"), (30, "quick"), (60, "quick"), (70, "slow")]


def test_loops_due_together_go_in_the_order_they_were_given():
    book = []
    run([Diary("monitor", 60, 0, book), Diary("analyze", 30, 0, book)], VirtualClock(), 60)
    assert [name for _, name in book] == ["monitor", "analyze", "analyze", "monitor", "analyze"]


def test_the_run_begins_when_the_clock_says_and_ends_when_it_was_told_to():
    clock, loop = VirtualClock(1000), Diary("manager", 60)
    run([loop], clock, 1130)
    assert [at for at, _ in loop.book] == [1000, 1060, 1120]
    assert clock.now_seconds() == 1130


def test_a_period_that_is_no_binary_fraction_does_not_drift():
    loop = Diary("manager", 0.1)
    run([loop], VirtualClock(), 1000)
    assert len(loop.book) == 10_001
    assert loop.book[-1][0] == pytest.approx(1000, abs=1e-9)


def test_what_was_missed_is_skipped_and_the_grid_is_kept():
    clock = VirtualClock()

    @dataclass
    class Slow(Diary):
        def step(self, now_seconds: float) -> None:
            super().step(now_seconds)
            if now_seconds == 30:
                clock.wait_until(100)

    loop = Slow("manager", 30)
    run([loop], clock, 150)
    assert [at for at, _ in loop.book] == [0, 30, 120, 150]


def test_a_loop_that_another_one_delayed_still_has_its_turn_and_is_told_the_true_time():
    clock = VirtualClock()

    @dataclass
    class Slow(Diary):
        def step(self, now_seconds: float) -> None:
            clock.wait_until(now_seconds + 45)

    late = Diary("late", 60, offset_seconds=30)
    run([Slow("slow", 1000), late], clock, 100)
    assert [at for at, _ in late.book] == [45, 90]


def test_progress_sees_every_moment_and_the_end():
    seen = []
    run([Diary("manager", 40)], VirtualClock(), 100, seen.append)
    assert seen == [0, 40, 80, 100]


def test_without_loops_time_passes():
    clock = VirtualClock()
    run([], clock, 5)
    assert clock.now_seconds() == 5


@pytest.mark.parametrize(
    ("loops", "until", "said"),
    [
        pytest.param([Diary("a", 0)], 10, "a: a period", id="no period"),
        pytest.param([Diary("a", nan)], 10, "a: a period", id="a period that is no number"),
        pytest.param([Diary("a", 1, -1)], 10, "a: an offset", id="an offset before the start"),
        pytest.param([Diary("a", 1), Diary("a", 2)], 10, "repeated: a", id="two of one name"),
        pytest.param([Diary("a", 1)], inf, "finite end", id="no end"),
    ],
)
def test_loops_that_cannot_be_run_are_refused(loops, until, said):
    with pytest.raises(ValueError, match=said):
        run(loops, VirtualClock(), until)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50)), max_size=5), st.integers(0, 300))
def test_every_loop_acts_exactly_as_often_as_its_period_allows_and_time_never_goes_back(timings, until):
    book = []
    loops = [Diary(str(n), period, offset, book) for n, (period, offset) in enumerate(timings)]
    run(loops, VirtualClock(), until)
    assert [at for at, _ in book] == sorted(at for at, _ in book)
    for name, (period, offset) in enumerate(timings):
        times = [at for at, who in book if who == str(name)]
        assert times == list(range(offset, until + 1, period))
