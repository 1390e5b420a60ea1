"""The managers of a running application: they step, pause, tell their troubles, and take up what a former one left."""

import threading

import pytest
from tests.control.managers.test_infrastructure_managers import Town
from tests.control.still_world import START, StillWorld, nodes

from rheostat.control.history.node_story import node_stories
from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.ports import NODE_JOINED, Done, Entry, RolledBack
from rheostat.control.managers.decisions import DECISION, EFFECT
from rheostat.control.managers.operator_manager import MEMORY
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Control, World, build
from rheostat.controller.decision_loop import DecisionLoop
from rheostat.controller.recovery import finish_decisions, finish_node_decisions
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.reconfiguration import Change, Reconfiguration
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied


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
    steering = DecisionLoop(lambda _: Control((loop,), None), SystemClock(), still.journal, START, frozenset)
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
    steering = DecisionLoop(lambda _: Control((loop,), None), SystemClock(), still.journal, START, frozenset)
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
        return DecisionLoop(lambda _: Control((), None), SystemClock(), still.journal, START, frozenset)

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

    DecisionLoop(built, still.clock, still.journal, still.deployment(), frozenset)
    for before, after in zip(first.operators, again[0].operators, strict=True):
        assert after.policy.saved(after.memory) == before.policy.saved(before.memory)
        assert after.policy.saved(after.memory) != after.policy.saved(after.policy.begin())


def test_an_effect_is_not_invented_for_a_decision_to_hold(still):
    still.journal.append(Entry(EFFECT, 1.0, {"outcome": "done"}))
    finish_decisions(still.journal, START, 2.0)
    assert len(list(still.journal.read())) == 1
    assert isinstance(still.apply(Reconfiguration()), Done)


def outcomes(world):
    return [story.result().outcome for story in node_stories(world.journal)]


def test_a_node_that_was_on_its_way_when_the_controller_was_killed_is_given_up_once():
    town = Town(StillWorld(at=nodes(3, 1.0)), free=2)
    town.minute(0)
    first, second = (node.name for node in town.world.coming)
    town.world.journal.append(Entry(NODE_JOINED, 9.0, {"name": first}))
    for _ in range(2):
        finish_node_decisions(town.world.journal, town.world.at.index.keys(), 60.0, "killed")
    assert [facts.get("given_up") for facts in town.world.entries("nodes")] == [None, [second]]
    assert outcomes(town.world) == ["given up"]


def leaving():
    """A town whose n2 is to be left, and was not when its controller was killed."""
    world = StillWorld(at=nodes(4, 3.0), cpu={"n2": 0.05}, refuses=RolledBack("it was killed"))
    world.deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n3": 1}, "count": {"n2": 1}})
    town = Town(world)
    town.minute(0)
    assert outcomes(world) == ["under way"]
    return world


def test_a_node_that_was_to_be_left_may_be_used_again_and_is_asked_for_again():
    world = leaving()
    finish_node_decisions(world.journal, world.at.index.keys(), 30.0, "killed")
    assert outcomes(world) == ["cancelled"]
    world.refuses = None
    again = Town(world)
    again.minute(1)
    again.minute(2)
    assert outcomes(world) == ["cancelled", "done"]
    assert "n2" not in world.at.index


def test_a_node_that_had_gone_before_anybody_could_tell_is_told_as_gone():
    world = leaving()
    world.lose("n2")
    finish_node_decisions(world.journal, world.at.index.keys(), 30.0, "killed")
    assert outcomes(world) == ["done"]


def test_two_decisions_about_one_name_both_come_to_an_end():
    """A provider begins to count anew with every controller: the name is given twice."""
    world = StillWorld(at=nodes(3, 1.0))
    for minute in range(2):
        Town(world, free=1).minute(minute)
        world.coming = []
    finish_node_decisions(world.journal, world.at.index.keys(), 90.0, "killed")
    assert outcomes(world) == ["given up", "given up"]


@pytest.mark.parametrize(
    "at", [pytest.param(nodes(3, 1.0), id="refused: too many"), pytest.param(nodes(10, 1.0), id="done: two are let go")]
)
def test_what_has_ended_or_was_refused_is_left_alone(at):
    world = StillWorld(at=at)
    Town(world, policy=AcceptUnlessOccupied(max_nodes=3)).minute(0)
    before = len(list(world.journal.read()))
    finish_node_decisions(world.journal, world.at.index.keys(), 60.0, "killed")
    assert len(list(world.journal.read())) == before


@pytest.mark.parametrize("ends", ["killed", "stopped"])
def test_no_decision_about_nodes_is_left_open_however_a_controller_ends(ends):
    world = leaving()
    steering = DecisionLoop(lambda _: Control((), None), SystemClock(), world.journal, START, world.at.index.keys)
    if ends == "stopped":
        world.journal.append(Entry("nodes", 31.0, {"by": "m", "started": ["n9"], "stopped": [], "reason": "room"}))
        steering.start()
        steering.stop()
        assert outcomes(world) == ["cancelled", "given up"]
    assert outcomes(world)[0] == "cancelled"
