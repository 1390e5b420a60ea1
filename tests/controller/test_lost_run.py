"""A controller whose run another one has taken over: it appends nothing, changes nothing, and ends."""

from contextlib import closing

import pytest
from tests.cli.quiet_nodes import quiet_run

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.ports import Entry, RolledBack
from rheostat.errors import JournalFenced
from rheostat.model.graph.deployment import Replicas
from rheostat.runtime.plan.run_paths import RunPaths


@pytest.fixture
def lost(tmp_path):
    """A running application, and the journal of the controller that has taken it over."""
    with quiet_run(tmp_path / "app") as running, closing(SqliteJournal(RunPaths(running.directory).journal)) as newer:
        yield running.controller, newer


def test_its_changes_are_not_begun(lost):
    controller, newer = lost
    number = newer.append(Entry("mark", 0.0, {}))
    before = controller.runtime.deployment()
    states = {name: one.state for name, one in controller.runtime.statuses().items()}
    assert isinstance(controller.runtime.deploy(before.having("split", Replicas.on("n2"))), RolledBack)
    with pytest.raises(JournalFenced, match="term 2 owns its journal, term 1 can no longer append"):
        controller.change(before.having("split", Replicas.on("n3")))
    assert list(newer.read(after=number)) == []
    assert controller.runtime.deployment() == before
    assert {name: one.state for name, one in controller.runtime.statuses().items()} == states


def test_it_ends_at_its_next_look_and_says_why(lost):
    controller, _ = lost
    controller.tend()
    assert controller.is_stopping
    (failure,) = controller.status()["failures"]
    assert "the run was taken over" in failure


def test_one_that_owns_its_run_goes_on(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        running.controller.tend()
        assert not running.controller.is_stopping
        assert running.controller.status()["failures"] == []
