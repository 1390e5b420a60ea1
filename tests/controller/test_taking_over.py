"""A controller that is killed in the middle of a change: the next one does what it would have done."""

import pytest
from experiments.crashes import ControllerDied, CrashingJournal, controller_dies
from tests.runtime.reconfigure.small_run import SmallRun

from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import Done
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.reconfigure.runtime import Runtime

PROMISE = 42
"""Event time that the instance has promised which is replaced."""


@pytest.fixture
def run(tmp_path):
    run = SmallRun(tmp_path)
    run.runtime.launch(run.deployment)
    assert isinstance(run.runtime.deploy(run.moved("n2")), Done)
    return run


def promised(runtime):
    """Event time that all instances of the stateful operator have promised."""
    return runtime._operations.channels.frontier(runtime.plan.with_head("count"), "count")


def test_after_the_switch_the_new_instances_promise_what_those_before_them_had_promised(run):
    """Found by killing: a source that was replaced again before its first batch held everything up for two minutes."""
    (before,) = run.runtime.plan.with_head("count")
    run.runtime._operations.channels.open_epoch(before, PROMISE)
    journal = CrashingJournal(run.journal, Event.BUILT, "after", controller_dies)
    doomed = Runtime(run.runtime.blueprint, run.nodes, journal)
    doomed.launch(run.deployment)
    with pytest.raises(ControllerDied):
        doomed.deploy(run.moved("n3"))
    assert run.nodes["n3"].running == frozenset()
    again = Runtime(run.runtime.blueprint, run.nodes, run.journal)
    again.launch(run.deployment)
    assert again.deployment() == run.moved("n3")
    assert run.nodes["n3"].running == {"count@n3"}
    assert promised(again) == PROMISE


def test_a_change_that_was_finished_leaves_no_promises_to_pass_on(run):
    again = Runtime(run.runtime.blueprint, run.nodes, run.journal)
    again.launch(run.deployment)
    assert again._recorded.replaced == ()
    assert promised(again) == NEVER
