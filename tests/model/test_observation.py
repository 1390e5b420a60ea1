"""Samples are checked when they are made, and every figure says what it means."""

import pytest

from rheostat.model.observation import FIGURES, Of, Sample, Subject

COUNT = Subject.operator("count")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda: Sample(COUNT, 0, {"speed": 1}), id="a figure nobody knows"),
        pytest.param(lambda: Sample(COUNT, 0, {"cpu": 1}), id="a figure of something else"),
        pytest.param(lambda: Sample(COUNT, 0, {"backlog": float("nan")}), id="no number"),
        pytest.param(lambda: Sample(COUNT, float("inf"), {}), id="no time"),
        pytest.param(lambda: Subject(Of.LINK, ("a",)), id="a link with one end"),
        pytest.param(lambda: Subject.node(""), id="no name"),
    ],
)
def test_what_is_no_measurement_is_refused(wrong):
    with pytest.raises(ValueError, match=r"figure|measured|time|name"):
        wrong()


def test_every_figure_says_its_unit_and_how_old_it_may_be():
    assert all(
        figure.unit and figure.meaning and figure.max_age_seconds > 0 and figure.of for figure in FIGURES.values()
    )
