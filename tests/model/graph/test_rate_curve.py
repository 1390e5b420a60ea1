from math import inf, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.graph.rate_curve import Curve, parse_curve

rates = st.floats(0, 1000).map(lambda rate: round(rate, 2))
lengths = st.floats(0.5, 1000).map(lambda length: round(length, 2))


@st.composite
def pieces(draw):
    kind = draw(st.sampled_from(["constant", "ramp", "sine", "day", "spikes"]))
    match kind:
        case "constant" | "ramp":
            numbers = [draw(rates) for _ in range(1 if kind == "constant" else 2)]
        case "spikes":
            every = draw(lengths)
            numbers = [draw(rates), draw(rates), every, every / 4]
        case _:
            low = draw(rates)
            numbers = [low, low + draw(rates), draw(lengths)]
    return f"{kind} {' '.join(map(str, numbers))} for {draw(lengths)}"


curves = st.lists(pieces(), min_size=1, max_size=4).map("; ".join).map(parse_curve)


@pytest.mark.parametrize(
    ("text", "seconds", "rows"),
    [
        pytest.param("120", 10, 1200, id="a number is a constant rate"),
        pytest.param("constant 0.5", 3, 1, id="half a row does not count"),
        pytest.param("ramp 5 550 for 300", 300, 83_250, id="a ramp brings its mean"),
        pytest.param("ramp 5 550 for 300", 400, 83_250, id="after the last piece comes nothing"),
        pytest.param("ramp 0 10 for 10; 10", 12, 70, id="the last piece goes on"),
        pytest.param("ramp 550 5 for 300", 150, 62_062, id="a ramp may fall"),
        pytest.param("120 for 900; 350 for 900; 900 for 900; 250 for 900; 120 for 900", 4500, 1_566_000, id="phases"),
        pytest.param("sine 10 90 600", 600, 30_000, id="a sine brings its mean"),
        pytest.param("day 20 300", 86_400, 17_604_000, id="a day"),
        pytest.param("spikes 100 900 60 5", 55, 5_500, id="before the first spike"),
        pytest.param("spikes 100 900 60 5", 58, 8_200, id="within a spike"),
        pytest.param("spikes 100 900 60 5", 120, 20_000, id="two spikes"),
        pytest.param("ramp 0 10 for 10; ramp 10 0 for 10; repeat", 45, 212, id="again and again"),
        pytest.param("120", -5, 0, id="a clock that went back"),
    ],
)
def test_rows_after_some_time(text, seconds, rows):
    assert parse_curve(text).rows_after(seconds) == rows


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a piece"),
        ("fast", "not a number"),
        ("ramp 5 550", "for SECONDS"),
        ("ramp 5 for 10", "not a piece"),
        ("-3", "not a number"),
        ("5; 6 for 3", "only the last piece"),
        ("5; repeat", "only the last piece"),
        ("0 for 5; repeat", "at least something"),
        ("spikes 1 2 3 4", "a spike"),
        ("repeat", "at least one piece"),
    ],
)
def test_what_is_no_curve_is_refused_with_the_reason(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        parse_curve(text)


@given(curves, st.floats(0, 4000), st.floats(0, 4000))
def test_rows_never_become_fewer(curve, one, other):
    early, late = sorted((one, other))
    assert curve.rows_after(early) <= curve.rows_after(late)


@given(curves, st.booleans(), st.integers(0, 100_000))
def test_a_row_is_there_when_it_is_said_to_be_and_not_before(curve, repeats, index):
    if repeats and curve.total > 0:
        curve = Curve(curve.pieces, repeats=True)
    moment = curve.seconds_until(index)
    if isfinite(moment):
        assert curve.rows_after(moment + 1e-6 * max(1, moment)) > index
        assert curve.rows_after(moment * (1 - 1e-6) - 1e-6) <= index
    else:
        assert curve.total < index + 1


@given(curves, st.integers(0, 10_000))
def test_later_rows_come_later(curve, index):
    assert curve.seconds_until(index) <= curve.seconds_until(index + 1)


def test_the_rush_hours_of_a_day_are_higher_than_noon_and_midnight():
    day = parse_curve("day 20 300 24").pieces[0].shape
    assert day.rate(0) == pytest.approx(20)
    assert day.rate(7.3) == pytest.approx(300, rel=0.001)
    assert day.rate(16.7) == pytest.approx(300, rel=0.001)
    assert day.rate(12) == pytest.approx(230)


def test_a_curve_without_an_end_has_no_total():
    assert parse_curve("5").total == parse_curve("5 for 2; repeat").total == inf
    assert parse_curve("5 for 2").total == 10
