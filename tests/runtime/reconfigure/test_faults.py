"""kill -9 of a controller process and of an agent process during a change: nothing is lost or repeated.

The proof `faults` of `scripts/acceptance` kills both before, during and after every step of a change.
"""

import pytest
from experiments.faults import Death, suffer

from rheostat.control.loop.migration import Event

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
DEATHS = (Death("controller", Event.BUILT.value, "during"), Death("agent", Event.STARTED.value, "during"))


def test_a_controller_and_an_agent_are_killed_and_the_output_is_exact(tmp_path):
    outcome = suffer("window", DEATHS, 7, tmp_path / "app")
    assert (outcome.lost, outcome.duplicated) == (0, 0)
