"""Workloads of sources: curves, days, recordings, and invalid files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import InvalidDocument
from rheostat.simulation.load.city_days import city_days
from rheostat.simulation.load.rate_traces import read_trace
from rheostat.simulation.load.workload import CurveWorkload, TraceWorkload

traces = st.lists(st.tuples(st.floats(0.1, 100), st.floats(0, 1000)), min_size=1, max_size=8).map(
    lambda drawn: TraceWorkload.of(np.cumsum([step for step, _ in drawn]), [rate for _, rate in drawn])
)
curves = st.sampled_from(
    ["120", "ramp 5 550 for 300; ramp 550 5 for 300", "sine 10 90 60", "spikes 100 900 60 5", "day 150 500 600"]
).map(CurveWorkload.of)
moments = st.lists(st.floats(0, 1000), min_size=2, max_size=20).map(lambda drawn: np.sort(np.array(drawn)))


@given(traces | curves, moments)
def test_however_time_is_cut_no_tuple_is_lost_or_counted_twice(workload, at):
    whole = workload.tuples_until(at)
    assert (np.diff(whole) >= -1e-9).all()
    one_by_one = [float(workload.tuples_until(np.array([moment]))[0]) for moment in at]
    assert whole == pytest.approx(one_by_one)


def test_a_trace_is_joined_by_straight_lines_and_stays_where_it_ends():
    trace = TraceWorkload.of([100, 110, 120], [0, 10, 10])
    assert trace.tuples_until(np.array([0, 5, 10, 20, 30])).tolist() == pytest.approx([0, 12.5, 50, 150, 250])


@given(traces)
def test_a_scaled_trace_lies_between_the_two_rates_and_touches_both(trace):
    scaled = trace.scaled(150, 500)
    assert min(scaled.rates_tps) == pytest.approx(150)
    assert max(scaled.rates_tps) == pytest.approx(500 if len(set(trace.rates_tps)) > 1 else 150)


def test_a_faster_trace_has_the_same_rates_in_less_time():
    trace = TraceWorkload.of([0, 100, 200], [1, 3, 2]).faster(10)
    assert trace.duration_seconds == 20
    assert trace.rates_tps == (1, 3, 2)


def test_a_part_of_a_trace_begins_at_its_own_time_zero():
    part = TraceWorkload.of([0, 10, 20, 30], [1, 2, 3, 4]).between(10, 20)
    assert (part.seconds, part.rates_tps) == ((0, 10), (2, 3))


def test_days_are_quiet_at_five_and_busy_at_seven_in_the_evening_between_the_rates_of_the_paper():
    days = city_days(seed=1)
    edges = np.arange(0, 43201, 360.0)
    rates = (np.diff(days.tuples_until(edges)) / 360).reshape(5, 24)
    assert (rates.argmin(axis=1) == 5).all()
    assert (rates.argmax(axis=1) == 19).all()
    assert rates.min() >= 150
    assert rates.max() <= 500
    assert min(days.rates_tps) == pytest.approx(150)
    assert max(days.rates_tps) == pytest.approx(500)


def test_the_same_seed_gives_the_same_days_and_another_gives_others():
    assert city_days(seed=3) == city_days(seed=3)
    assert city_days(seed=3) != city_days(seed=4)


def test_a_recording_is_read_with_dates_or_seconds_with_a_header_or_without(tmp_path):
    dated, plain = tmp_path / "dated.csv", tmp_path / "plain.csv"
    dated.write_text("timestamp,value\n2014-07-01 00:00:00,10\n2014-07-01 00:30:00,8\n2014-07-01 01:00:00,6\n")
    plain.write_text("0,10\n1800,8\n3600,6\n")
    assert read_trace(dated) == read_trace(plain) == TraceWorkload((0, 1800, 3600), (10, 8, 6))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("timestamp,value\n0,1\n60,many\n120,3\n", [(3, "'many' is not a rate")], id="text"),
        pytest.param("0,1\n60,-2\n120,3\n", [(2, "'-2' is not a rate")], id="a negative rate"),
        pytest.param("0,1\n60,nan\n120,3\n", [(2, "'nan' is not a rate")], id="not a number"),
        pytest.param("0,1\n60,2\n120,3\n600,4\n", [(4, "480 s are missing before this line")], id="a gap"),
        pytest.param("0,1\n60,2\n60,3\n120,3\n", [(3, "not later than the line before")], id="twice the same time"),
        pytest.param("0,1\nnoon,2\n120,3\n", [(2, "'noon' is neither a date")], id="no time"),
        pytest.param("0,1\n60\n120,3\n", [(2, "one column")], id="a column is missing"),
        pytest.param("", [(1, "at least two lines")], id="empty"),
        pytest.param("0,x\ny,2\n", [(1, "'x' is not a rate"), (2, "'y' is neither")], id="every line is told"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_each(tmp_path, text, told):
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(InvalidDocument) as caught:
        read_trace(path)
    found = [(mistake.line, mistake.what) for mistake in caught.value.mistakes if mistake.line in dict(told)]
    assert [line for line, _ in found] == [line for line, _ in told]
    assert all(wanted in what for (_, what), (_, wanted) in zip(found, told, strict=True))
    assert all(line.startswith(f"{path}:") for line in str(caught.value).splitlines())


def test_a_file_that_is_no_text_is_told_in_one_line(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InvalidDocument, match=r"trace\.csv:1: this is not CSV text"):
        read_trace(path)


def test_of_very_many_mistakes_the_first_are_told_and_the_others_counted(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("\n".join(f"{60 * i},x" for i in range(300)))
    with pytest.raises(InvalidDocument) as caught:
        read_trace(path)
    assert len(caught.value.mistakes) == 51
    assert "and 250 more lines" in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [((), ()), ((0.0,), (1.0, 2.0)), ((0.0, 0.0), (1.0, 1.0)), ((0.0, 1.0), (1.0, -1.0)), ((0.0,), (float("nan"),))],
)
def test_a_trace_that_is_no_function_of_time_is_refused(wrong):
    with pytest.raises(ValueError, match="trace"):
        TraceWorkload(*wrong)
