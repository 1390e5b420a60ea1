"""A controller that is killed in the middle of a change: what the next one does is what it would have done."""

import pytest
from experiments.crashes import ControllerDied, CrashingJournal, controller_dies
from tests.cli.quiet_nodes import quiet_run

from rheostat.control.loop.migration import Event
from rheostat.model.graph.deployment import Replicas
from rheostat.runtime.channels.port.channel import EpochClaim, ProducedBatch
from rheostat.runtime.channels.port.places import promised
from rheostat.runtime.reconfigure.runtime import Runtime

PROMISE = 42
"""Event time."""


@pytest.fixture
def runtime(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        yield running.controller.runtime


def other(runtime, journal=None):
    """Another controller of the same run, on the same nodes."""
    found = Runtime(runtime.blueprint, runtime._run.nodes, journal or runtime.journal)
    found.launch(runtime.deployment())
    return found


def everything_on(deployment, node):
    return deployment.having("split", Replicas.on(node)).having("out", Replicas.on(node))


def promise(runtime):
    """The instance that writes the results has published a batch."""
    (before,) = runtime.plan.instances
    producers = runtime.blueprint.results("out").producers
    epoch = EpochClaim(before.producer, 2, runtime.journal.term)
    producers.open(epoch, 0).publish(ProducedBatch(0, frontier=PROMISE), 1)


@pytest.mark.parametrize("killed_after", [Event.BUILT, Event.STARTED])
def test_after_the_switch_the_new_instances_promise_what_those_before_them_had_promised(runtime, killed_after):
    """Found by killing: a source that was replaced again before its first batch held its readers up for two minutes."""
    promise(runtime)
    doomed = other(runtime, CrashingJournal(runtime.journal, killed_after, "after", controller_dies))
    wanted = everything_on(runtime.deployment(), "n2")
    with pytest.raises(ControllerDied):
        doomed.deploy(wanted)
    again = other(runtime)
    assert again.deployment() == wanted
    (writer,) = (one for one in again.plan.instances if one.tail == "out")
    assert writer.node == "n2"
    assert promised(again.blueprint.results("out").log(), writer.producer) == PROMISE


def test_before_the_switch_nothing_has_changed(runtime):
    before = runtime.deployment()
    doomed = other(runtime, CrashingJournal(runtime.journal, Event.SAVED, "after", controller_dies))
    with pytest.raises(ControllerDied):
        doomed.deploy(everything_on(before, "n2"))
    again = other(runtime)
    assert again.deployment() == before
    assert {one.name: one.state for one in again.statuses().values()} == {"lines@n1": "running"}


def test_a_change_that_was_finished_leaves_no_promises_to_pass_on(runtime):
    runtime.deploy(runtime.deployment().having("split", Replicas.on("n2")))
    assert other(runtime)._replaced == ()
