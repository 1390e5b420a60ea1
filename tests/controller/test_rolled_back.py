"""A change that is rolled back: what ran before runs again, it is told everywhere, and the next change succeeds."""

import pytest
from tests.cli.quiet_nodes import WORDS, quiet_run

from rheostat.control.loop.migration import Event, Migration, State
from rheostat.control.loop.ports import Done, RolledBack
from rheostat.controller.recorder import RecordingFile, read_recording
from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Reconfiguration


@pytest.fixture
def stuck(tmp_path):
    """An application whose only instance cannot be stopped at the first attempt."""
    with quiet_run(tmp_path / "app") as running:
        running.controller._recording = RecordingFile(running.directory, WORDS, {})
        running.nodes["n1"].complaints["stop"] = "lines@n1 does not stop"
        yield running


def moved(controller):
    return controller.runtime.deployment().having("split", Replicas.on("n2"))


def test_what_ran_before_runs_again_and_nothing_else(stuck):
    controller, before = stuck.controller, stuck.controller.runtime.deployment()
    running = {name: set(node.running) for name, node in stuck.nodes.items()}
    effect = controller.change(moved(controller))
    assert isinstance(effect, RolledBack)
    assert "does not stop" in effect.reason
    assert controller.runtime.deployment() == before
    assert {name: set(node.running) for name, node in stuck.nodes.items()} == running
    assert {one.state for one in controller.runtime.statuses().values()} == {"running"}


def test_it_is_told_by_the_status_the_journal_and_the_report(stuck):
    controller = stuck.controller
    controller.change(moved(controller))
    (change,) = controller.status()["changes"]
    assert (change["effect"], "does not stop" in change["reason"]) == ("rolled back", True)
    steps = [Event(entry.facts["event"]) for _, entry in controller.runtime.journal.read(kind="change")]
    assert Migration.replayed(steps).state is State.UNDONE
    ((_, by_hand),) = controller.runtime.journal.read(kind="by hand")
    assert (by_hand.facts["outcome"], "does not stop" in by_hand.facts["reasons"][0]) == ("rolled back", True)
    (note,) = read_recording(stuck.directory, WORDS).notes
    assert (note.kind, "does not stop" in note.what, note.downtime_seconds) == ("rolled back", True, 0.0)


def test_the_next_change_succeeds_when_the_cause_is_gone(stuck):
    controller, wanted = stuck.controller, moved(stuck.controller)
    assert isinstance(controller.change(wanted), RolledBack)
    assert isinstance(controller.change(wanted), Done)
    assert controller.runtime.deployment() == wanted
    controller.tend()
    assert controller.status()["failures"] == []


def test_a_manager_whose_change_is_rolled_back_is_told_so(stuck):
    controller = stuck.controller
    change = Reconfiguration.between(controller.runtime.deployment(), moved(controller))
    effect = controller.apply(change)
    assert isinstance(effect, RolledBack)
    assert list(controller.runtime.journal.read(kind="by hand")) == [], "it was no change by hand"
