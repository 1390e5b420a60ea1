"""Region and infrastructure managers, and their talk with an application."""

from dataclasses import replace

import pytest
from tests.control.still_world import StillWorld, nodes

from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.managers.application_manager import ApplicationManager
from rheostat.control.managers.infrastructure_manager import InfrastructureManager
from rheostat.control.managers.operator_manager import Local
from rheostat.control.managers.region_manager import RegionManager
from rheostat.control.managers.request_inbox import Inbox
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.policies.grants.token_bucket import TokenBucket
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied
from rheostat.policies.nodes.region_size import TargetCapacity
from rheostat.policies.replicas.placement import LeastUsed


class Town:
    """One application on one region, with everything that looks after them."""

    def __init__(self, world, free=5, policy=None, **settings):
        self.world = world
        state = ApplicationState(world.application, Averages(world), by_region=True)
        self.application = ApplicationManager(
            state,
            Inbox(),
            world,
            world.clock,
            world.journal,
            local=Local(LeastUsed()),
            settle_seconds=0.0,
            **settings,
        )
        self.region = RegionManager("", TargetCapacity(free), (state,), world, world.journal)
        self.manager = InfrastructureManager(
            [self.region], [self.application], world.journal, policy or AcceptUnlessOccupied(vacate_seconds=120)
        )

    def minute(self, number):
        self.world.clock.wait_until(60.0 * number)
        now = self.world.clock.now_seconds()
        self.region.step(now)
        self.manager.step(now)
        self.application.step(now)

    def told(self):
        return self.world.entries("infrastructure")


def test_too_little_room_starts_nodes_and_they_are_not_asked_for_twice():
    town = Town(StillWorld(at=nodes(3, 1.0)))
    town.minute(0)
    assert [node.name for node in town.world.coming] == ["small3", "small4", "small5", "small6", "small7"]
    assert town.region.requested == dict.fromkeys([node.name for node in town.world.coming], (1, 0.0))
    town.minute(1)
    assert len(town.world.coming) == 5
    town.world.arrive()
    town.minute(2)
    assert town.region.requested == {}
    assert len(town.world.at.nodes) == 8
    assert town.world.coming == []


def test_a_node_that_does_not_come_is_given_up_and_asked_for_again():
    town = Town(StillWorld(at=nodes(3, 1.0)), free=1)
    town.minute(0)
    assert town.region.requested == {"small3": (1, 0.0)}
    town.world.coming = []
    town.minute(9)
    assert town.world.coming == []
    town.minute(10)
    assert [facts.get("given_up") for facts in town.world.entries("nodes")] == [None, ["small3"], None]
    assert len(town.world.coming) == 1


def test_a_node_that_has_failed_is_given_up_at_the_next_look_and_another_is_asked_for():
    town = Town(StillWorld(at=nodes(3, 1.0)), free=3)
    town.minute(0)
    town.world.arrive()
    broken, other = "small3", "small4"
    town.world.lose(broken)
    town.world.lose(other)
    town.world.failures = dict.fromkeys((broken, other), "no power")
    town.minute(1)
    started, given_up, again = town.world.entries("nodes")
    assert started["started"] == ["small3", "small4", "small5"]
    assert (given_up["given_up"], given_up["reason"]) == ([broken, other], "no power")
    assert len(again["started"]) == 2
    assert len(town.region.requested) == 2


def test_a_node_that_is_up_is_no_failure_whatever_was_said_of_it():
    town = Town(StillWorld(at=nodes(3, 1.0)), free=1)
    town.minute(0)
    town.world.arrive()
    town.world.failures = {"small3": "no power"}
    town.minute(1)
    assert town.region.requested == {}
    assert [facts.get("given_up") for facts in town.world.entries("nodes")] == [None]


def test_what_the_provider_has_no_more_of_is_refused_with_its_reason():
    """It has a limit of its own: a node that is lost and may come back counts there, and is not to be seen here."""
    world = StillWorld(at=nodes(3, 1.0))
    start, asked = world.start, []

    def limited(kind, region):
        if len(asked) == 2:
            raise ValueError("node limit reached (5 of 5)")
        asked.append(start(kind, region))
        return asked[-1]

    world.start = limited
    town = Town(world)
    town.minute(0)
    assert [node.name for node in world.coming] == asked == list(town.region.requested)
    assert world.entries("nodes")[0]["started"] == asked
    assert town.told()[0]["refused"] == "start 3 small"
    assert town.told()[0]["reason"] == "node limit reached (5 of 5)"


def test_empty_nodes_beyond_the_target_are_stopped():
    town = Town(StillWorld(at=nodes(10, 1.0)))
    town.minute(0)
    assert [node.name for node in town.world.at.nodes] == [f"n{i}" for i in range(8)]
    assert town.world.entries("nodes")[0]["stopped"] == ["n9", "n8"]


def under_used():
    """Twelve slots, of which three are taken; n2 does nothing, n3 is there to take its replica."""
    world = StillWorld(at=nodes(4, 3.0), cpu={"n2": 0.05})
    return replace_deployed(world, Deployment.single({"source": "n0", "split": "n1", "count": "n2"}))


def replace_deployed(world, deployed):
    world.deployed = deployed
    return world


def test_an_under_used_node_is_hidden_left_and_stopped():
    # All others hold something, so that no empty node can be given back instead.
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n3": 1}, "count": {"n2": 1}})
    town = Town(StillWorld(deployed, nodes(4, 3.0), cpu={"n2": 0.05}))
    town.minute(0)
    assert town.told()[0]["vacate"] == "n2"
    assert "n2" not in town.world.deployed.nodes()
    assert town.application.state.hidden == {"n2"}
    town.minute(1)
    assert "n2" not in town.world.at.index
    assert town.application.state.hidden == set()
    assert town.manager.asked == {}


def test_an_application_refuses_to_leave_a_node_it_is_pinned_to():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n3": 1}, "count": {"n2": 1}})
    town = Town(StillWorld(deployed, nodes(4, 3.0), cpu={"n0": 0.05}))
    town.minute(0)
    assert town.told()[0]["refused"] == "vacate n0"
    assert town.told()[0]["reason"] == "operator source is pinned to it"
    assert town.application.state.hidden == set()
    assert town.region.leaving == set()


def test_a_node_that_is_not_left_in_time_may_be_used_again():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n3": 1}, "count": {"n2": 1}})
    # The bucket grants no migration while the response time is fine: the application stays.
    town = Town(StillWorld(deployed, nodes(4, 3.0), cpu={"n2": 0.05}), granting=TokenBucket())
    town.minute(0)
    town.minute(1)
    assert town.application.state.hidden == {"n2"}
    town.world.cpu["n2"] = 0.5
    town.minute(2)
    assert town.told()[-1] == {"by": "infrastructure manager", "cancelled": "n2", "reason": "not left within 120 s"}
    assert town.application.state.hidden == set()
    assert town.application.leaving.nodes == set()
    assert town.region.leaving == set()


def test_a_node_stays_if_there_is_no_room_elsewhere_for_what_it_holds():
    world = under_used()
    town = Town(world, free=0)
    town.application.state.shown = frozenset({"n2"})
    town.application.state.refresh(0.0)
    reason = town.application.leaving.agree("n2", town.application.state)
    assert reason == "there is no room elsewhere for the 1 replicas of count"


def test_room_for_exactly_what_it_holds_is_room_enough():
    town = Town(under_used(), free=0)
    state = town.application.state
    state.shown = frozenset({"n2", "n3"})
    town.world.deployed = Deployment.of({"source": {"n0": 1}, "split": {"n3": 2}, "count": {"n2": 1}})
    state.refresh(0.0)
    assert town.application.leaving.agree("n2", state) == ""
    town.world.deployed = Deployment.of({"source": {"n0": 1}, "split": {"n3": 3}, "count": {"n2": 1}})
    assert town.application.leaving.agree("n2", state) == "there is no room elsewhere for the 1 replicas of count"


def test_an_inhibited_region_gets_no_nodes():
    town = Town(StillWorld(at=nodes(3, 1.0)), policy=AcceptUnlessOccupied(inhibited=frozenset({""})))
    town.minute(0)
    assert town.world.coming == []
    assert town.told()[0]["refused"] == "start 5 small"


def test_every_application_gets_its_view_of_the_resources():
    town = Town(StillWorld())
    town.manager.show(town.application, frozenset({"n1", "n2"}))
    town.application.state.refresh(0.0)
    assert {view.name for view in town.application.state.node_views("count")} == {"n1", "n2"}
    town.manager.show(town.application, None)
    assert len(town.application.state.node_views("count")) == 5


def test_a_region_manager_sees_its_own_region_only():
    members = tuple(Node(f"n{i}", 2.0, region="rome" if i < 3 else "milan") for i in range(5))
    world = StillWorld(at=Infrastructure("two", members))
    state = ApplicationState(world.application, Averages(world))
    state.refresh(0.0)
    milan = RegionManager("milan", TargetCapacity(), (state,), world, world.journal)
    assert [node.name for node in milan.view(0.0).nodes] == ["n3", "n4"]


def test_replicas_of_all_applications_count():
    world, other = (
        StillWorld(),
        replace(StillWorld(), deployed=Deployment.single({"source": "n0", "split": "n0", "count": "n0"})),
    )
    states = [ApplicationState(each.application, Averages(each)) for each in (world, other)]
    for state in states:
        state.refresh(0.0)
    manager = RegionManager("", TargetCapacity(), states, world, world.journal)
    assert {node.name: node.assigned for node in manager.view(0.0).nodes} == pytest.approx(
        {"n0": 4, "n1": 1, "n2": 1, "n3": 0, "n4": 0}
    )
