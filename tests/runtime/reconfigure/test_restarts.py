"""Restarts of failed instances: ever slower, given up after many, and forgiven after a batch; all in virtual time."""

from itertools import pairwise

import pytest
from tests.runtime.reconfigure.small_run import SmallRun

from rheostat.control.loop.ports import Done
from rheostat.errors import RuntimeFault
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.reconfigure.restarts import LONGEST_BACK_OFF_SECONDS, MOST_RESTARTS, Restarts, back_off_seconds

COUNT = Instance(("count",), "n1", 1, frozenset({0}), 1)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def pause(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def failed(committed=-1, **more):
    return InstanceStatus("count@n1", "failed", committed=committed, error="a worker did not come up", **more)


def restarts_until(restarts, clock, seconds, status):
    """Moments of all restarts within a time, asked every tenth of a second."""
    found, end = [], clock.now + seconds
    while clock.now < end:
        if restarts.is_due(COUNT, status):
            restarts.count(COUNT, status)
            found.append(clock.now)
        clock.now += 0.1
    return found


def test_the_pause_before_a_restart_doubles_up_to_a_limit(clock):
    moments = restarts_until(Restarts(clock), clock, 60.0, failed())
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    expected = [min(LONGEST_BACK_OFF_SECONDS, 0.5 * 2**number) for number in range(len(pauses))]
    assert pauses == pytest.approx(expected, abs=0.15)
    assert pauses[-1] == pytest.approx(LONGEST_BACK_OFF_SECONDS, abs=0.15)


def test_after_many_restarts_without_a_batch_an_instance_is_given_up(clock):
    restarts = Restarts(clock)
    moments = restarts_until(restarts, clock, 1000.0, failed())
    assert len(moments) == MOST_RESTARTS
    assert restarts.is_given_up(COUNT)


def test_a_batch_since_the_last_restart_clears_the_count(clock):
    restarts = Restarts(clock)
    restarts_until(restarts, clock, 20.0, failed(committed=4))
    restarts.note(COUNT, InstanceStatus("count@n1", "running", committed=4))
    first_after_nothing = restarts_until(restarts, clock, 40.0, failed(committed=4))
    restarts.note(COUNT, InstanceStatus("count@n1", "running", committed=5))
    assert not restarts.is_given_up(COUNT)
    moments = restarts_until(restarts, clock, 20.0, failed(committed=5))
    assert moments[1] - moments[0] == pytest.approx(back_off_seconds(0), abs=0.15)
    assert first_after_nothing[1] - first_after_nothing[0] == pytest.approx(LONGEST_BACK_OFF_SECONDS, abs=0.15)


@pytest.mark.parametrize("status", [failed(by_user=True), InstanceStatus("count@n1", "running")])
def test_an_error_in_user_code_and_a_running_instance_need_no_restart(clock, status):
    assert restarts_until(Restarts(clock), clock, 30.0, status) == []


def test_a_failed_instance_is_started_again_on_its_node_under_a_new_epoch(tmp_path, clock):
    run = SmallRun(tmp_path, clock)
    run.runtime.launch(run.deployment)
    name, before = next(iter(run.nodes["n1"].running)), run.epochs()
    run.nodes["n1"].fail(name, "a worker did not come up", by_user=False)
    found = run.runtime.heal()
    assert found[name].state == "failed", "as it was found"
    assert name in run.nodes["n1"].running
    assert run.epochs() != before, "the former one is fenced off"


def test_a_launch_waits_for_restarts_and_fails_when_they_are_given_up(tmp_path, clock):
    run = SmallRun(tmp_path, clock)
    run.nodes["n1"].broken = "no worker comes up here"
    with pytest.raises(RuntimeFault, match="no worker comes up here"):
        run.runtime.launch(run.deployment)
    assert run.nodes["n1"].asked.count("start") == MOST_RESTARTS + 1
    assert clock.now - 100.0 == pytest.approx(sum(back_off_seconds(number) for number in range(MOST_RESTARTS)), rel=0.1)


def test_after_the_switch_a_change_holds_although_an_instance_was_given_up(tmp_path, clock):
    run = SmallRun(tmp_path, clock)
    run.runtime.launch(run.deployment)
    run.nodes["n2"].broken = "no worker comes up here"
    assert isinstance(run.runtime.deploy(run.moved("n2")), Done)
    assert run.nodes["n2"].running == frozenset()
    assert run.runtime.deployment() == run.moved("n2")
    run.nodes["n2"].broken = ""
    run.runtime.heal()
    assert run.nodes["n2"].running == {"count@n2"}


def test_an_error_in_user_code_ends_a_wait_at_once(tmp_path, clock):
    run = SmallRun(tmp_path, clock)
    run.runtime.launch(run.deployment)
    (name,) = run.nodes["n1"].running
    run.nodes["n1"].fail(name, "operator split: ValueError", by_user=True)
    with pytest.raises(RuntimeFault, match="ValueError"):
        run.runtime._barriers.await_running(run.runtime.plan.instances)
    assert clock.now == 100.0
