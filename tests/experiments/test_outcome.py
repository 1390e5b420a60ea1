"""Findings of the Spark experiments in a run: flapping operators, and the recovery of the response time."""

import pytest
from experiments.spark.outcome import Controlled

from rheostat.report.recording import SERIES, Note, Recording


def run(changes=(), responses=()):
    """Changes are (seconds, words), responses (seconds, milliseconds or None)."""
    seconds = tuple(at for at, _ in responses)
    series = dict.fromkeys(SERIES, (None,) * len(responses)) | {"response_mean_ms": tuple(ms for _, ms in responses)}
    notes = tuple(Note(at, "done", what) for at, what in changes)
    return Controlled("some", Recording("some", seconds, series, {}, notes))


OUT, IN, MOVE = "scale-out split: {a:1} -> {a:2}", "scale-in split: {a:2} -> {a:1}", "migration split: {a:1} -> {b:1}"
OTHERS_IN = "scale-in count: {a:2} -> {a:1}"


@pytest.mark.parametrize(
    ("changes", "flaps"),
    [
        pytest.param([(10, OUT), (90, IN)], 0, id="out with the rise, in after the fall"),
        pytest.param([(10, OUT), (20, OUT), (90, IN), (95, IN)], 0, id="step by step"),
        pytest.param([(10, OUT), (90, IN), (170, OUT)], 1, id="out again, however much later"),
        pytest.param([(10, OUT), (20, IN), (30, OUT), (90, IN)], 2, id="taken back, and that, too"),
        pytest.param([(10, OUT), (20, MOVE), (90, IN)], 0, id="a migration has no direction"),
        pytest.param([(10, OUT), (20, OTHERS_IN), (90, IN)], 0, id="each operator by itself"),
        pytest.param([(1, OUT), (5, IN), (10, OUT), (90, IN)], 0, id="before the rise does not count"),
    ],
)
def test_a_flap_is_a_change_of_direction_that_is_taken_back(changes, flaps):
    assert run(changes).flaps(from_seconds=8) == flaps


@pytest.mark.parametrize(
    ("responses", "back"),
    [
        pytest.param([(10, 50), (20, 60)], 0, id="never left"),
        pytest.param([(10, 500), (20, 60)], 20, id="as soon as it is under it"),
        pytest.param([(10, 60), (20, 500), (30, 60)], 30, id="and stays there"),
        pytest.param([(10, 500), (20, 500)], None, id="never back"),
        pytest.param([(10, 500), (20, None)], None, id="silence is not back"),
        pytest.param([(10, 500), (20, None), (30, 60)], 30, id="silence on the way"),
        pytest.param([(10, None), (20, None)], None, id="nothing came out at all"),
        pytest.param([(10, 60), (140, 500)], 0, id="what comes later does not count"),
    ],
)
def test_a_response_time_is_back_when_it_is_measured_to_be(responses, back):
    assert run(responses=responses).back_under_ms(100, 0, 100) == back
