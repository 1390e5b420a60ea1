from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.graph.rate_curve import parse_curve
from rheostat.runtime.ends.generation import ORIGIN_US, EventTimeClock, Generation, generation_of, import_object
from rheostat.runtime.ends.pace import Pace, PaceLimits, batch_end, even_parts


def number(draw):
    return (draw.index, draw.below(1000), draw.event_time_us, draw.is_last)


def stream(curve="10", clockwork=None, **limits) -> Generation:
    return Generation(number, parse_curve(curve), PaceLimits(**limits), 7, clockwork)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_rows_do_not_depend_on_how_the_stream_is_cut_into_batches(a, b, c):
    low, middle, high = sorted((a, b, c))
    numbers = stream(clockwork=EventTimeClock())
    assert [*numbers.rows(low, middle), *numbers.rows(middle, high)] == list(numbers.rows(low, high))


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 9))
def test_even_parts_are_neighbours_and_cover_everything(start, rows, parts):
    ranges = list(even_parts(start, start + rows, parts))
    assert [row for low, high in ranges for row in range(low, high)] == list(range(start, start + rows))
    lengths = [high - low for low, high in ranges]
    assert len(lengths) == min(parts, rows)
    assert max(lengths, default=0) - min(lengths, default=0) <= 1


@pytest.mark.parametrize(
    ("start", "available", "max_rows", "end"),
    [
        pytest.param(5, 20, None, 20, id="everything that is there"),
        pytest.param(5, 20, 10, 15, id="at most so many"),
        pytest.param(5, 8, 10, 8, id="no more than are there"),
        pytest.param(5, 3, None, 5, id="never back, whatever the clock says"),
    ],
)
def test_where_a_batch_ends(start, available, max_rows, end):
    assert batch_end(start, available, max_rows) == end


def test_by_the_clock_rows_come_as_the_curve_says_until_the_total():
    assert [stream(total=25).available(seconds, 0) for seconds in (0, 1.25, 100)] == [0, 12, 25]
    assert stream("10 for 2", total=25).available(100, 0) == 20


@pytest.mark.parametrize(
    ("curve", "elapsed", "start", "reached"),
    [
        pytest.param("10", 1.5, 0, 15, id="what is there, if it was due just now"),
        pytest.param("10", 600, 0, 21, id="after an outage its first row and two seconds more"),
        pytest.param("10", 600, 100, 121, id="and then the next two"),
        pytest.param("10", 1.5, 15, 15, id="nothing new"),
        pytest.param("1 for 60; 0 for 600; 50", 700, 60, 61 + 100, id="a pause of the curve is none of the source"),
        pytest.param("0.1", 600, 3, 4, id="at least one row"),
    ],
)
def test_a_batch_brings_no_more_than_was_due_soon_after_its_first_row(curve, elapsed, start, reached):
    assert stream(curve).reachable(elapsed, start) == reached
    assert stream(curve).available(elapsed, start) >= reached


def test_without_the_clock_everything_is_there_at_once():
    assert stream(total=25, pace=Pace.ALL).available(0, 0) == 25
    assert stream("10 for 2", pace=Pace.ALL).available(0, 0) == 20
    assert stream(pace=Pace.ALL, rows_per_batch=4).available(0, 8) == 12


def test_an_endless_stream_cannot_be_there_at_once():
    with pytest.raises(ValueError, match="needs an end"):
        stream(pace=Pace.ALL)


def test_event_time_follows_the_curve_and_never_goes_back():
    times = [
        time for time, _ in stream("ramp 1 20 for 10", EventTimeClock(speed_up=60, step_us=1_000_000)).rows(0, 100)
    ]
    assert all(a <= b for a, b in pairwise(times))
    assert all((time - ORIGIN_US) % 1_000_000 == 0 for time in times)
    assert 500 < (times[-1] - ORIGIN_US) / 1e6 <= 600


def test_the_last_row_of_a_finite_stream_may_be_much_later():
    rows = list(stream("10", EventTimeClock(closing_gap_seconds=100), total=5).rows(0, 5))
    assert [(time - ORIGIN_US) // 1000 for time, _ in rows] == [100, 200, 300, 400, 100_500]
    assert [values[3] for _, values in rows] == [False] * 4 + [True]


def test_a_stream_is_described_by_plain_texts():
    described = {"rows": f"{__name__}:number", "curve": "10 for 2", "seed": "7", "total": "0", "event_time": "ts"}
    made = generation_of(described)
    assert (made.end, made.limits.total, made.seed, made.clockwork) == (20, None, 7, EventTimeClock())


@pytest.mark.parametrize("path", ["number", "module:", ":name"])
def test_an_import_path_names_module_and_function(path):
    with pytest.raises(ValueError, match=r"package\.module:function"):
        import_object(path)


@pytest.mark.parametrize("limits", [{"replicas": 0}, {"rows_per_batch": 0}, {"total": -1}])
def test_limits_that_let_nothing_through_are_refused(limits):
    with pytest.raises(ValueError, match=r"at least one|negative"):
        PaceLimits(**limits)
