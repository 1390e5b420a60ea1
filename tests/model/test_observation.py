"""What is known, and for how long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.observation import FIGURES, Observation, Of, Sample, Subject

COUNT = Subject.operator("count")


def test_a_reading_is_known_until_it_is_too_old():
    known = Observation(0).updated([Sample(COUNT, 10, {"input_rate": 5.0})], at_seconds=12)
    limit = 10 + FIGURES["input_rate"].max_age_seconds
    assert known.value(COUNT, "input_rate") == 5.0
    assert known.updated([], limit).value(COUNT, "input_rate") == 5.0
    late = known.updated([], limit + 0.1)
    assert late.value(COUNT, "input_rate") is None
    assert late.stale() == ((COUNT, "input_rate"),)


def test_what_nobody_measured_is_not_known():
    assert Observation(0).value(COUNT, "utilization") is None


@given(st.permutations([1.0, 2.0, 3.0]))
def test_samples_may_arrive_in_any_order(times):
    known = Observation(0).updated([Sample(COUNT, at, {"backlog": at}) for at in times], 4)
    assert known.value(COUNT, "backlog") == 3.0


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda: Sample(COUNT, 0, {"speed": 1}), id="a figure nobody knows"),
        pytest.param(lambda: Sample(COUNT, 0, {"cpu": 1}), id="a figure of something else"),
        pytest.param(lambda: Sample(COUNT, 0, {"backlog": float("nan")}), id="no number"),
        pytest.param(lambda: Sample(COUNT, float("inf"), {}), id="no time"),
        pytest.param(lambda: Subject(Of.LINK, ("a",)), id="a link with one end"),
        pytest.param(lambda: Subject.node(""), id="no name"),
        pytest.param(lambda: Observation(0).value(COUNT, "speed"), id="asking for what nobody knows"),
    ],
)
def test_what_is_no_measurement_is_refused(wrong):
    with pytest.raises(ValueError, match=r"figure|measured|time|name"):
        wrong()


def test_every_figure_says_its_unit_and_how_old_it_may_be():
    assert all(
        figure.unit and figure.meaning and figure.max_age_seconds > 0 and figure.of for figure in FIGURES.values()
    )


def test_subjects_of_a_kind_are_listed():
    samples = [
        Sample(Subject.node("b"), 0, {"cpu": 0.5}),
        Sample(Subject.node("a"), 0, {"cpu": 1}),
        Sample(COUNT, 0, {"backlog": 1}),
    ]
    assert Observation(0).updated(samples, 0).subjects(Of.NODE) == (Subject.node("a"), Subject.node("b"))
