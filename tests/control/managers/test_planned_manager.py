"""Deployments by a planner, at run time."""

from dataclasses import dataclass, field

import pytest
from tests.control.still_world import StillWorld, nodes

from rheostat.control.history.replay_decisions import Replay
from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.knowledge.profile import OperatorProfile, Profile
from rheostat.control.loop.ports import Refused
from rheostat.control.managers.planned_manager import (
    PlannedManager,
    journaled_application,
    measured_application,
    with_degrees,
    without_downtime,
)
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1, MicroBatch
from rheostat.model.observation import Sample, Subject
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.solvers.exhaustive import Exhaustive

SMALL = Application(
    "words",
    (
        Operator("source", Kind.SOURCE, rate_tps=10, latency=MM1(1000), pin="n0"),
        Operator("count", max_replicas=2, latency=MM1(100)),
    ),
    (Stream("source", "count"),),
)
AT_START = Deployment.single({"source": "n0", "count": "n1"})
OBJECTIVE = EdrpObjective(0.3, 0.3, 0.4, Bounds(1000, 30, 60))


@dataclass
class Asked:
    """A planner that remembers what it was asked, and answers like another."""

    planner: object = field(default_factory=Exhaustive)
    problems: list = field(default_factory=list)

    def plan(self, problem, *args):
        self.problems.append(problem)
        return self.planner.plan(problem, *args)


@dataclass
class Clueless:
    def plan(self, *_):
        return Outcome(PlanStatus.INFEASIBLE, conflict=("count is saturated", "on every node"))


def small_world(rate=10.0, **settings):
    return StillWorld(AT_START, nodes(3), SMALL, {"source": 0.1, "count": 0.5}, rate_tps=rate, **settings)


def managed(world, planner=None, objective=OBJECTIVE, **settings):
    state = ApplicationState(world.application, Averages(world))
    planner = planner or Asked()
    return PlannedManager(planner, state, world, world.clock, world.journal, objective, **settings), planner


def stepped(manager, world, *minutes):
    for minute in minutes:
        world.clock.wait_until(60.0 * minute)
        manager.step(world.clock.now_seconds())


def test_s_edrp_plans_in_every_period_with_the_rates_that_were_measured():
    world = small_world(rate=10.0)
    manager, planner = managed(world)
    stepped(manager, world, 0)
    assert len(world.deployed["count"]) == 1
    world.rate_tps = 150.0
    stepped(manager, world, 1, 2)
    assert len(world.deployed["count"]) == 2
    assert [problem.application.rates.operators["source"] for problem in planner.problems] == [10.0, 150.0, 150.0]


def test_what_was_measured_is_planned_with_and_such_a_plan_can_be_made_again():
    slow = MicroBatch(40.0, 100.0)
    points = [(load, slow.latency_ms(load)) for load in (5.0, 10.0, 15.0, 20.0, 25.0, 30.0)]
    profile = Profile({"count": OperatorProfile(points, [40.0] * 6)})
    world = small_world(rate=60.0)
    manager, planner = managed(world, profile=profile)
    stepped(manager, world, 0)
    assert planner.problems[0].application.by_name["count"].latency.capacity_tps == 40.0
    assert len(world.deployed["count"]) == 2, "declared, one could do a hundred"
    profile.operators.clear()
    replay = Replay(planned=manager)
    world.deployed = AT_START
    assert list(replay.differences(world.journal)) == []
    assert replay.decided == 1


def test_the_first_plan_does_not_count_downtime_and_later_ones_do():
    world = small_world()
    manager, planner = managed(world)
    stepped(manager, world, 0, 1)
    first, second = (problem.objective for problem in planner.problems)
    assert (first.response_time, first.cost, first.downtime) == (0.5, 0.5, 0.0)
    assert second == OBJECTIVE


def test_where_the_start_was_planned_the_first_plan_counts_downtime_as_well():
    world = small_world()
    manager, planner = managed(world, starts_as_a_guess=False)
    stepped(manager, world, 0, 1)
    assert [problem.objective for problem in planner.problems] == [OBJECTIVE, OBJECTIVE]
    assert [facts["first"] for facts in world.entries("plan")] == [False, False]


def test_what_was_expected_is_journaled():
    world = small_world(rate=150.0)
    manager, _ = managed(world)
    stepped(manager, world, 0)
    plan, effect = world.entries("plan")[0], world.entries("effect")[0]
    assert plan["status"] == "optimal"
    assert plan["predicted"]["response_ms"] > 0
    assert effect["outcome"] == "done"
    assert effect["predicted"] == plan["predicted"]


def test_what_came_of_a_plan_is_measured_when_it_has_settled():
    world = small_world(rate=150.0, response_ms=400.0)
    manager, _ = managed(world, settle_seconds=30.0)
    stepped(manager, world, 0)
    assert world.entries("measured") == []
    world.response_ms = 90.0
    stepped(manager, world, 1)
    (told,) = world.entries("measured")
    assert told["predicted"]["response_before_ms"] == 400.0
    assert told["predicted"]["response_ms"] == world.entries("plan")[0]["predicted"]["response_ms"]
    assert told["predicted"]["utilization"] == {"count": 0.25}
    assert told["measured"] == {"utilization": {"count": 0.25}, "response_ms": 90.0}


def test_figures_that_do_not_come_again_are_not_waited_for_for_ever():
    world = small_world(rate=150.0)
    manager, _ = managed(world)
    stepped(manager, world, 0)
    del world.work["count"]
    stepped(manager, world, 10)
    assert world.entries("measured") == [], "they may still come"
    stepped(manager, world, 11)
    assert world.entries("measured")[0]["measured"] == {"utilization": {}, "response_ms": 150.0}


def test_a_plan_says_what_was_seen_and_what_staying_would_be():
    world = small_world(rate=150.0)
    manager, _ = managed(world)
    stepped(manager, world, 0, 1)
    first, second = world.entries("plan")
    assert first["seen"] == {"response_ms": 150.0, "replicas": 2, "busy": {"source": 0.1, "count": 0.5}}
    assert first["staying"]["response_ms"] is None
    assert "operator count is saturated" in first["staying"]["broken"]
    assert "staying" not in second, "nothing changes: that is what was chosen"


def test_s_odp_plans_again_if_its_first_plan_was_not_done():
    world = small_world(refuses=Refused(("another change is under way",)))
    manager, planner = managed(world, objective=OdpObjective(), every_period=False, keeps_degrees=True)
    stepped(manager, world, 0)
    world.refuses = None
    stepped(manager, world, 1, 2)
    assert len(planner.problems) == 2
    assert [facts["outcome"] for facts in world.entries("effect")] == ["refused", "done"]


def test_a_first_plan_that_was_not_done_is_not_counted_as_one():
    world = small_world(rate=150.0, refuses=Refused(("another change is under way",)))
    manager, _ = managed(world)
    stepped(manager, world, 0, 1)
    assert [facts["first"] for facts in world.entries("plan")] == [True, True]


@pytest.mark.parametrize(("rate", "planned"), [(150.0, True), (None, False)])
def test_a_manager_that_is_started_again_knows_whether_what_runs_was_planned(rate, planned):
    world = small_world(rate=rate)
    before, _ = managed(world)
    stepped(before, world, 0)
    world.rate_tps = 150.0
    again, _ = managed(world)
    again.recall(world.journal)
    stepped(again, world, 1)
    assert world.entries("plan")[-1]["first"] is not planned


def test_without_rates_it_holds_and_says_so():
    world = small_world(rate=None)
    manager, planner = managed(world)
    stepped(manager, world, 0)
    assert planner.problems == []
    assert world.entries("plan")[0]["held"] == "the rates are not known"


def test_what_a_planner_cannot_answer_changes_nothing_and_is_told():
    world = small_world()
    manager, _ = managed(world, Clueless())
    stepped(manager, world, 0)
    assert world.changes == []
    assert world.entries("plan")[0]["held"] == "count is saturated; on every node"


def test_s_odp_plans_on_the_first_rates_and_then_only_when_a_node_is_lost():
    world = small_world(rate=None)
    manager, planner = managed(world, objective=OdpObjective(), every_period=False, keeps_degrees=True)
    stepped(manager, world, 0)
    world.rate_tps = 10.0
    stepped(manager, world, 1, 2, 3)
    assert len(planner.problems) == 1
    world.deployed = AT_START
    world.lose("n1")
    stepped(manager, world, 4, 5)
    assert len(planner.problems) == 2
    assert "n1" not in world.deployed.nodes()
    assert planner.problems[1].current is None


@dataclass
class Streams:
    """A world that measures a stream as well."""

    world: object

    def samples(self):
        return [*self.world.samples(), Sample(Subject.stream("source", "count"), 0.0, {"output_rate": 25.0})]

    def deployment(self):
        return self.world.deployment()

    def infrastructure(self):
        return self.world.infrastructure()


def test_a_measured_stream_counts_more_than_its_selectivity():
    state = ApplicationState(SMALL, Averages(Streams(small_world(rate=40.0))))
    state.refresh(0.0)
    application = measured_application(state)
    assert application.rates.streams == {("source", "count"): 25.0}
    assert application.rates.operators["source"] == 40.0


def test_the_rates_of_a_plan_can_be_read_back():
    world = small_world(rate=150.0)
    manager, planner = managed(world)
    stepped(manager, world, 0)
    (facts,) = world.entries("plan")
    assert facts["sources_tps"] == {"source": 150.0}
    assert journaled_application(SMALL, facts).rates == planner.problems[0].application.rates


def test_odp_places_as_many_replicas_as_there_are():
    fixed = with_degrees(SMALL, {"source": 1, "count": 2})
    assert [(operator.min_replicas, operator.max_replicas) for operator in fixed.operators] == [(1, 1), (2, 2)]


def test_measured_streams_replace_what_was_declared():
    world = small_world(rate=40.0)
    state = ApplicationState(SMALL, Averages(world))
    state.refresh(0.0)
    assert measured_application(state).rates.streams == {("source", "count"): 40.0}


@pytest.mark.parametrize(
    ("weights", "left"), [((0.3, 0.3, 0.4), (0.5, 0.5)), ((0.6, 0.0, 0.4), (1.0, 0.0)), ((0.0, 0.6, 0.4), (0.0, 1.0))]
)
def test_weights_without_downtime_keep_their_proportion(weights, left):
    objective = without_downtime(EdrpObjective(*weights, Bounds(1, 1, 1)))
    assert (objective.response_time, objective.cost, objective.downtime) == (*left, 0.0)
