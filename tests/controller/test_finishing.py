"""End of a run: its sources could have delivered rows for a while and did not, and all rows were read."""

from dataclasses import replace

import pytest
from tests.cli.quiet_nodes import quiet_run

from rheostat.controller.controller import QUIET_SECONDS


@pytest.fixture
def quiet(tmp_path):
    """Everything has done one batch, and there is nothing more to do."""
    with quiet_run(tmp_path / "app") as running:
        (name,) = running.nodes["n1"].running
        seen = Quiet(running, name)
        seen.tell(planned=0, committed=0, run="first")
        yield seen


class Quiet:
    """An application of one query, about which a test says what it likes."""

    def __init__(self, running, name):
        self.running, self.name, self.controller = running, name, running.controller

    def tell(self, **facts):
        node = self.running.nodes["n1"]
        (known,) = (status for status in node.statuses() if status.name == self.name)
        node.show(replace(known, **facts))
        self.controller.tend()

    def wait(self):
        self.controller._since -= QUIET_SECONDS


def test_who_brings_nothing_for_a_while_is_at_the_end(quiet):
    assert not quiet.controller.is_finished()
    quiet.wait()
    assert quiet.controller.is_finished()


def test_a_source_that_brings_something_begins_anew(quiet):
    quiet.wait()
    quiet.tell(planned=1, committed=1)
    assert not quiet.controller.is_finished()


def test_a_source_that_was_started_again_may_have_more(quiet):
    quiet.wait()
    quiet.tell(run="second")
    assert not quiet.controller.is_finished()
    quiet.wait()
    assert quiet.controller.is_finished()


def test_a_source_that_has_not_looked_yet_is_awaited_however_long_it_takes(quiet):
    quiet.tell(run="second", has_looked=False)
    quiet.wait()
    quiet.controller.tend()
    assert not quiet.controller.is_finished()
    quiet.tell(has_looked=True)
    assert not quiet.controller.is_finished()
    quiet.wait()
    assert quiet.controller.is_finished()


def test_a_source_that_never_looked_and_has_failed_is_not_awaited(quiet):
    quiet.tell(state="failed", has_looked=False, by_user=True, error="operator lines: no such table")
    quiet.wait()
    assert quiet.controller.is_finished()


def test_standing_still_for_a_change_is_no_end(quiet):
    quiet.wait()
    with quiet.controller.runtime.lock.for_change():
        quiet.controller.tend()
    assert not quiet.controller.is_finished()
