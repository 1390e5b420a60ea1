"""Operator and node managers."""

import json

from tests.control.still_world import StillWorld, nodes

from rheostat.control.history.explanation import explained
from rheostat.control.history.journal import to_line
from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.managers.node_manager import NodeManagers
from rheostat.control.managers.operator_manager import Local, OperatorManager, Proposed
from rheostat.control.managers.request_inbox import Inbox
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import ChangeKind
from rheostat.policies.nodes.node_migration import NodeMigration
from rheostat.policies.operators.q_learning import QLearning
from rheostat.policies.operators.threshold import Threshold
from rheostat.policies.replicas.placement import LeastUsed
from rheostat.policies.replicas.victims import OneOfTheTwoBusiest


def managed(world, operator="count", policy=None, **settings):
    inbox, state = Inbox(), ApplicationState(world.application, Averages(world))
    local = Local(LeastUsed(), OneOfTheTwoBusiest())
    manager = OperatorManager(operator, policy or Threshold(), state, inbox, world.journal, local, **settings)
    return manager, inbox


def test_an_overloaded_operator_asks_for_a_replica_on_the_least_used_node():
    world = StillWorld(work={"count": 0.8}, cpu={"n4": 0.1})
    manager, inbox = managed(world)
    manager.step(0.0)
    (request,) = inbox.take_all()
    assert request.kind is ChangeKind.SCALE_OUT
    assert request.change.added == {"n4": 1}
    assert request.by == "operator manager of count"
    assert world.entries("proposal")[0]["request"] == request.to_plain()


def test_an_idle_one_asks_for_one_less():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1}, "count": {"n2": 1, "n3": 1}})
    manager, inbox = managed(StillWorld(deployed, work={"count": 0.2}))
    manager.step(0.0)
    (request,) = inbox.take_all()
    assert request.kind is ChangeKind.SCALE_IN
    assert len(request.change.after) == 1


def test_without_samples_it_holds_and_says_so():
    world = StillWorld(work={})
    manager, inbox = managed(world)
    manager.step(0.0)
    assert inbox.take_all() == []
    told = list(explained(world.journal, holding=True))
    assert "operator manager of count holds 1 replicas: the utilization is not known." in told[0]
    assert "No utilization sample yet." in told[0]


def test_stale_samples_are_none():
    world = StillWorld(work={"count": 0.9})
    manager, inbox = managed(world)
    manager.step(0.0)
    assert inbox.take_all()
    world.work = {}
    world.clock.wait_until(60)
    manager.step(60.0)
    assert inbox.take_all() == []
    stale = world.entries("proposal")[1]
    assert stale["proposal"]["reason"] == "the utilization is not known"
    assert stale["silences"]["utilization"] == 60.0


def test_a_request_that_is_no_longer_wanted_is_withdrawn():
    world = StillWorld(work={"count": 0.9})
    manager, inbox = managed(world)
    manager.step(0.0)
    world.work = {"count": 0.5}
    world.clock.wait_until(31)
    manager.step(31.0)
    assert inbox.take_all() == []


def test_while_a_change_settles_nothing_is_proposed():
    world = StillWorld(work={"count": 0.9})
    manager, inbox = managed(world)
    manager.state.settle(10.0)
    manager.step(5.0)
    assert inbox.take_all() == []
    assert world.entries("proposal") == []


def test_where_nothing_has_room_nothing_is_asked_for():
    world = StillWorld(work={"count": 0.9}, at=nodes(5, resources=1.0))
    world.at = nodes(3, resources=1.0)
    manager, inbox = managed(world)
    manager.step(0.0)
    assert inbox.take_all() == []
    facts = world.entries("proposal")[0]
    assert facts["proposal"]["wanted"] == 2
    assert facts["request"] is None


def test_a_decision_can_be_read_back_and_asks_for_the_same():
    world = StillWorld(work={"count": 0.9})
    manager, inbox = managed(world)
    manager.step(0.0)
    (_, entry), *_ = world.journal.read(kind="proposal")
    again = Proposed.from_facts(json.loads(to_line(entry))["facts"])
    assert again.request(manager.local) == inbox.take_all()[0]


def test_what_was_learned_is_journaled_as_plain_data_and_a_manager_goes_on_from_it():
    world = StillWorld(work={"count": 0.5})
    manager, _ = managed(world, policy=QLearning(rate_levels=2), memory_every=2)
    for step in range(4):
        world.clock.wait_until(30.0 * step)
        manager.step(30.0 * step)
    first, second = world.entries("memory")
    assert (first["memory"]["steps"], second["memory"]["steps"]) == (2, 4)
    restored = manager.policy.loaded(second["memory"])
    heir, _ = managed(world, policy=manager.policy, memory=restored)
    assert heir.memory.steps == 4


class TestNodeManagers:
    def managed(self, world):
        inbox, state = Inbox(), ApplicationState(world.application, Averages(world))
        return NodeManagers(NodeMigration(0.8, LeastUsed()), state, inbox, world.journal), inbox

    def test_a_busy_node_asks_for_one_of_its_replicas_to_be_moved(self):
        world = StillWorld(cpu={"n2": 0.9, "n4": 0.1})
        managers, inbox = self.managed(world)
        managers.step(0.0)
        (request,) = inbox.take_all()
        assert request.kind is ChangeKind.MIGRATION
        assert (request.change.removed, request.change.added) == ({"n2": 1}, {"n4": 1})
        assert request.by == "node manager of n2"

    def test_what_is_pinned_stays(self):
        managers, inbox = self.managed(StillWorld(cpu={"n0": 0.99}))
        managers.step(0.0)
        assert inbox.take_all() == []

    def test_a_node_that_is_gone_asks_for_nothing_more(self):
        world = StillWorld(cpu={"n2": 0.9})
        managers, inbox = self.managed(world)
        managers.step(0.0)
        world.lose("n2")
        managers.step(0.0)
        assert inbox.take_all() == []

    def test_while_a_change_settles_nothing_is_asked_for(self):
        managers, inbox = self.managed(StillWorld(cpu={"n2": 0.9}))
        managers.state.settle(10.0)
        managers.step(0.0)
        assert inbox.take_all() == []
