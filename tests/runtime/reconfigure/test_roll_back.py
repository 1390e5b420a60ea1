"""Roll-back of a failed change: everything is as it was, whichever step has failed; and the next change succeeds."""

import pytest
from tests.runtime.reconfigure.small_run import SmallRun

from rheostat.control.loop.migration import Event, Migration
from rheostat.control.loop.ports import Done, Refused, RolledBack
from rheostat.runtime.reconfigure.run_checkpoints import checkpoint_name


@pytest.fixture
def run(tmp_path):
    """The source and the sink are on n1, the state is on n1, too, and every instance has done some batches."""
    run = SmallRun(tmp_path)
    run.runtime.launch(run.deployment)
    assert isinstance(run.runtime.deploy(run.moved("n2")), Done)
    for node in run.nodes.values():
        for instance in node.running:
            for _ in range(3):
                node.advance(instance)
    return run


def seen(run):
    """What runs where, from which checkpoints, and which of them are there."""
    plan = run.runtime.plan
    running = {name: node.running for name, node in run.nodes.items()}
    checkpoints = {name: run.disk.checkpoints[name] for name in map(checkpoint_name, plan.instances)}
    return plan, running, checkpoints, set(run.disk.checkpoints)


MOVE, SPLIT, MERGE = ("n3",), ("n2", "n3"), ("n1",)
"""To another node, over two nodes, and into one query with source and sink."""


@pytest.mark.parametrize(
    ("nodes", "failing", "call"),
    [
        *[(nodes, "n2", call) for nodes in (MOVE, SPLIT, MERGE) for call in ("hold", "stop", "take")],
        (MOVE, "n3", "place_ahead"),
        (MOVE, "n3", "build"),
        (SPLIT, "n3", "remove"),
        (SPLIT, "n3", "build"),
        (MERGE, "n1", "place_ahead"),
        (MERGE, "n1", "build"),
    ],
)
def test_a_step_that_fails_before_the_switch_is_undone(run, nodes, failing, call):
    wanted, failing = run.moved(*nodes), run.nodes[failing]
    before, changes = seen(run), len(run.events())
    failing.complaints[call] = f"no {call} today"
    effect = run.runtime.deploy(wanted)
    assert isinstance(effect, RolledBack)
    assert f"no {call} today" in effect.reason
    assert seen(run) == before
    steps = [Event(event) for event in run.events()[changes:]]
    assert steps[-2:] == [Event.FAILED, Event.RESTORED]
    assert Migration.replayed(steps).is_finished
    assert all(not order.hold for order in run.disk.orders.values())
    assert isinstance(run.runtime.deploy(wanted), Done)
    assert run.runtime.deployment() == wanted


def test_a_node_that_dies_during_a_change_is_undone_when_others_have_taken_over(run):
    """The roll-back cannot reach it: what is half undone is finished by `heal`."""
    before = run.runtime.deployment()
    run.nodes["n3"].complaints["build"] = "the disk is full"
    stop = run.nodes["n2"].stop

    def dying(instance, *, gently=False):
        stop(instance, gently=gently)
        run.nodes["n2"].kill()

    run.nodes["n2"].stop = dying
    effect = run.runtime.deploy(run.moved("n3"))
    assert isinstance(effect, RolledBack)
    assert Event(run.events()[-1]) is Event.FAILED, "not restored yet"
    run.runtime.lose("n2")
    run.runtime.heal()
    assert run.runtime.deployment() == before
    assert "count@n2" in run.nodes["n1"].running | run.nodes["n3"].running


def test_what_was_refused_has_touched_nothing(run):
    before, asked = seen(run), [len(node.asked) for node in run.nodes.values()]
    assert isinstance(run.runtime.deploy(run.moved(*["n3"] * 5)), Refused)
    assert seen(run) == before
    assert [len(node.asked) for node in run.nodes.values()] == asked
