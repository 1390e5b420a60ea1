"""The managers of a running application: they step, pause, tell their troubles, and take up what a former one left."""

import threading

import pytest

from rheostat.assembly.recovery import finish_decisions
from rheostat.assembly.steering import Steering
from rheostat.control.building import Control, World, build
from rheostat.control.clocks import SystemClock
from rheostat.control.decisions import DECISION, EFFECT
from rheostat.control.operator_manager import MEMORY
from rheostat.control.ports import Done, Entry
from rheostat.control.settings import ControlSettings
from rheostat.model.deployment import Replicas
from rheostat.model.reconfiguration import Change, Reconfiguration
from tests.control.still_world import START, StillWorld


class Counted:
    """A loop that counts its steps, and fails in the first."""

    name, period_seconds, offset_seconds = "counted", 0.01, 0.0

    def __init__(self):
        self.steps, self.enough = 0, threading.Event()

    def step(self, now_seconds):  # noqa: ARG002 - the protocol
        self.steps += 1
        if self.steps == 1:
            raise ZeroDivisionError("once")
        if self.steps >= 3:
            self.enough.set()


@pytest.fixture
def still():
    return StillWorld()


def steered(still, loop):
    steering = Steering(lambda _: Control((loop,), None), SystemClock(), still.journal, START)
    steering.start()
    return steering


def test_what_goes_wrong_in_a_step_is_told_and_the_next_one_comes(still):
    loop = Counted()
    steering = steered(still, loop)
    assert loop.enough.wait(10)
    steering.stop()
    assert [entry.facts["what"] for _, entry in still.journal.read(kind="trouble")] == ["ZeroDivisionError: once"]
    assert [story["told"] for story in steering.stories()] == ["counted: ZeroDivisionError: once"]


def test_paused_nobody_steps_until_it_goes_on(still):
    loop = Counted()
    steering = Steering(lambda _: Control((loop,), None), SystemClock(), still.journal, START)
    steering.pause()
    steering.start()
    assert not loop.enough.wait(0.2)
    assert loop.steps == 0
    steering.resume()
    assert loop.enough.wait(10)
    steering.stop()
    assert [entry.kind for _, entry in still.journal.read()] == ["control paused", "control resumed", "trouble"]


def test_who_was_paused_when_a_controller_ended_stays_so_until_somebody_resumes(still):
    def again():
        return Steering(lambda _: Control((), None), SystemClock(), still.journal, START)

    assert not again().is_paused
    again().pause()
    taken_over = again()
    assert taken_over.is_paused
    taken_over.resume()
    assert not again().is_paused


def interrupted(still):
    """A journal that ends with a decision: two replicas of split on n1 instead of one."""
    still.work["split"] = 0.95
    control = build(
        ControlSettings("edf", settle_seconds=0.0),
        World(still.application, still, Forgetting(), still.clock, still.journal),
    )
    for loop in control.loops:
        try:
            loop.step(30.0)
        except KeyboardInterrupt:
            break
    entries = [entry.kind for _, entry in still.journal.read()]
    assert entries[-1] == DECISION
    return next(entry for _, entry in still.journal.read(kind=DECISION))


class Forgetting:
    """An actuator whose controller is killed when it is asked."""

    def apply(self, _change):
        raise KeyboardInterrupt


@pytest.mark.parametrize(("switched", "outcome"), [(True, "done"), (False, "rolled back")])
def test_a_decision_during_which_the_controller_was_killed_gets_its_effect(still, switched, outcome):
    decision = interrupted(still)
    (request,) = decision.facts["granted"]
    wanted = START.having("split", Replicas.of(request["after"]))
    finish_decisions(still.journal, wanted if switched else START, 60.0)
    (effect,) = (entry for _, entry in still.journal.read(kind=EFFECT))
    assert effect.facts["outcome"] == outcome
    change = Reconfiguration((Change("split", START["split"], Replicas.of(request["after"])),))
    assert effect.facts["change"] == str(change)
    finish_decisions(still.journal, START, 61.0)
    assert len(list(still.journal.read(kind=EFFECT))) == 1, "once"


def test_what_was_learned_is_known_to_the_next_controller(still):
    settings = ControlSettings("edf", "q-learning", memory_every=1, settle_seconds=0.0)
    parts = World(still.application, still, still, still.clock, still.journal)
    first = build(settings, parts)
    for moment in (30.0, 60.0, 90.0):
        still.clock.wait_until(moment)
        for loop in first.loops:
            loop.step(moment)
    assert list(still.journal.read(kind=MEMORY))
    again = []

    def built(journal):
        again.append(build(settings, World(still.application, still, still, still.clock, journal)))
        return again[-1]

    Steering(built, still.clock, still.journal, still.deployment())
    for before, after in zip(first.operators, again[0].operators, strict=True):
        assert after.policy.saved(after.memory) == before.policy.saved(before.memory)
        assert after.policy.saved(after.memory) != after.policy.saved(after.policy.begin())


def test_an_effect_is_not_invented_for_a_decision_to_hold(still):
    still.journal.append(Entry(EFFECT, 1.0, {"outcome": "done"}))
    finish_decisions(still.journal, START, 2.0)
    assert len(list(still.journal.read())) == 1
    assert isinstance(still.apply(Reconfiguration()), Done)
