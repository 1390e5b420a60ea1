"""kill -9 of a controller process and of an agent process, at every step of a change: nothing is lost or repeated."""

import pytest
from experiments.crashes import MOMENTS, WAY
from experiments.faults import Death, suffer

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500)]


def deaths():
    """Every step of the table once for both, with the moments in turn; one of each at any time."""
    for number, event in enumerate(WAY):
        yield Death("controller", event.value, MOMENTS[number % 3])
        yield Death("agent", event.value, MOMENTS[(number + 1) % 3])
    yield Death("controller")
    yield Death("agent")


def test_whoever_is_killed_at_whatever_step_the_output_is_exact(tmp_path):
    outcome = suffer("window", list(deaths()), 7, tmp_path / "app")
    assert (outcome.lost, outcome.duplicated) == (0, 0)
