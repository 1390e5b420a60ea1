"""A controller that is killed in the middle of a change: what the next one does is what it would have done."""

import pytest
from tests.cli.quiet_nodes import quiet_run

from rheostat.model.graph.deployment import Replicas
from rheostat.runtime.reconfigure.barriers import Barriers
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds
from rheostat.runtime.reconfigure.runtime import Runtime

PROMISE = 42


class Killed(BaseException):
    """kill -9: nothing is undone."""


def killed(*_):
    raise Killed


@pytest.fixture
def runtime(tmp_path):
    with quiet_run(tmp_path / "app") as running:
        yield running.controller.runtime


def test_after_the_switch_the_new_instances_promise_what_those_before_them_had_promised(runtime, monkeypatch):
    """Found by killing: a source that was replaced again before its first batch held everybody up for two minutes."""
    before = {one.name for one in runtime.plan.instances}
    with monkeypatch.context() as patched:
        patched.setattr(Barriers, "bring_up", killed)
        with pytest.raises(Killed):
            runtime.deploy(runtime.deployment().having("split", Replicas.on("n2")))
    asked, told = [], []
    monkeypatch.setattr(ChannelEnds, "frontier", lambda _, replaced, tail: asked.append((replaced, tail)) or PROMISE)
    monkeypatch.setattr(Barriers, "bring_up", lambda _, instances, promises: told.append((list(instances), promises)))
    again = Runtime(runtime.blueprint, runtime._run.nodes, runtime.journal)
    again.launch(runtime.deployment())
    assert again.deployment()["split"] == Replicas.on("n2")
    ((started, promises),) = told
    assert {one.tail for one in started} == set(promises)
    assert set(promises.values()) == {PROMISE}
    assert {one.name for replaced, _ in asked for one in replaced} == before


def test_a_change_that_was_finished_leaves_no_promises_to_pass_on(runtime):
    runtime.deploy(runtime.deployment().having("split", Replicas.on("n2")))
    again = Runtime(runtime.blueprint, runtime._run.nodes, runtime.journal)
    again.launch(runtime.deployment())
    assert again._replaced == ()
