"""The application manager: collect, rank, grant, have it done, compare."""

import pytest
from tests.control.still_world import StillWorld, nodes

from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.loop.ports import Refused, RolledBack
from rheostat.control.managers.application_manager import ApplicationManager
from rheostat.control.managers.elasticity_manager import ElasticityManager
from rheostat.control.managers.operator_manager import Local
from rheostat.control.managers.request_inbox import Inbox
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.reconfiguration import Change
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.policies.contract.requests import Request
from rheostat.policies.grants.grants import DryRun
from rheostat.policies.grants.token_bucket import TokenBucket
from rheostat.policies.operators.doubling import Doubling
from rheostat.policies.operators.true_rate import TrueRate
from rheostat.policies.replicas.placement import LeastUsed


def managed(world, **settings):
    state = ApplicationState(world.application, Averages(world))
    return ApplicationManager(state, Inbox(), world, world.clock, world.journal, **settings)


def more(operator, node, score=0.5, here=None):
    current = Replicas.on(here or {"split": "n1", "count": "n2"}[operator])
    return Request(Change(operator, current, current.plus(node)), score, f"operator manager of {operator}")


def ask(manager, *requests):
    for request in requests:
        manager.inbox.put(request.by, request)


def test_what_is_granted_is_done_together():
    world = StillWorld()
    manager = managed(world)
    ask(manager, more("split", "n3"), more("count", "n4"))
    assert manager.act(0.0)
    assert world.deployed["split"] == Replicas.on("n1", "n3")
    assert world.deployed["count"] == Replicas.on("n2", "n4")
    assert len(world.changes) == 1
    assert world.entries("effect")[0]["downtime_seconds"] == 2.0


def test_of_two_in_conflict_the_lower_score_is_refused_and_the_journal_says_why():
    world = StillWorld()
    manager = managed(world)
    ask(manager, more("split", "n3", 0.9), more("count", "n3", 0.4))
    manager.step(0.0)
    assert len(world.deployed["count"]) == 1
    (refusal,) = world.entries("decision")[0]["refusals"]
    assert (refusal["by"], refusal["request"]["operator"]) == ("conflicts", "count")


def test_a_request_for_what_is_no_longer_there_is_refused():
    world = StillWorld()
    manager = managed(world)
    ask(manager, more("split", "n3", here="n4"))
    assert not manager.act(0.0)
    (refusal,) = world.entries("decision")[0]["refusals"]
    assert refusal["reason"] == "the operator has changed meanwhile"


def test_after_a_change_nobody_proposes_until_it_has_settled_and_old_measurements_do_not_count():
    world = StillWorld()
    manager = managed(world, settle_seconds=10.0)
    ask(manager, more("split", "n3"))
    manager.step(0.0)
    assert manager.state.settled_at_seconds == 12.0
    manager.state.refresh(12.0)
    assert manager.state.operator_view("count").utilizations == ()


def test_only_what_changed_may_have_to_settle():
    world = StillWorld()
    manager = managed(world, settles_alone=True)
    ask(manager, more("split", "n3"))
    manager.step(0.0)
    assert manager.state.unsettled_seconds("split", 2.0) == 30.0
    assert manager.state.unsettled_seconds("count", 2.0) == 0.0


@pytest.mark.parametrize("effect", [Refused(("node n3 does not run",)), RolledBack("node n3 was lost")])
def test_a_change_that_did_not_happen_is_told_and_nothing_has_to_settle(effect):
    world = StillWorld(refuses=effect)
    manager = managed(world)
    ask(manager, more("split", "n3"))
    assert not manager.act(0.0)
    facts = world.entries("effect")[0]
    assert facts["outcome"] in {"refused", "rolled back"}
    assert "n3" in facts["reasons"][0]
    assert manager.state.settled_at_seconds < 0


def test_what_was_expected_is_compared_with_what_came_of_it():
    world = StillWorld()
    manager = managed(world, settle_seconds=10.0)
    ask(manager, more("split", "n3"))
    manager.step(0.0)
    world.response_ms, world.work["split"] = 90.0, 0.6
    world.clock.wait_until(30.0)
    manager.step(30.0)
    (facts,) = world.entries("measured")
    assert facts["predicted"]["utilization"] == {"split": 0.25}
    assert facts["measured"]["utilization"] == {"split": pytest.approx(0.3)}
    assert (facts["predicted"]["response_before_ms"], facts["measured"]["response_ms"]) == (150.0, 90.0)
    world.clock.wait_until(60.0)
    manager.step(60.0)
    assert len(world.entries("measured")) == 1


def test_the_token_bucket_lets_one_change_through_when_the_application_is_slow():
    world = StillWorld(response_ms=400.0)
    manager = managed(world, granting=TokenBucket(), settle_seconds=0.0)
    for step in range(4):
        world.clock.wait_until(30.0 * step)
        ask(manager, more("split", "n3"), more("count", "n4"))
        manager.step(30.0 * step)
    granted = [[request["operator"] for request in facts["granted"]] for facts in world.entries("decision")]
    assert granted == [[], [], ["count"], []]


def test_what_ran_on_a_lost_node_is_brought_elsewhere_without_waiting_for_a_token():
    world = StillWorld()
    manager = managed(world, granting=TokenBucket())
    world.lose("n2")
    assert manager.act(0.0)
    assert "n2" not in world.deployed.nodes()
    assert world.entries("decision")[0]["granted"][0]["reason"] == "node n2 is lost"


def test_everything_that_ran_on_a_lost_node_is_brought_elsewhere_in_one_change():
    """In the room there is: two of the three have to go to n3, one of each operator."""
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 2}, "count": {"n1": 1, "n2": 1}})
    rooms = (Node("n0", 1.0), Node("n1", 4.0), Node("n2", 2.0), Node("n3", 2.0))
    world = StillWorld(deployed, Infrastructure("four", rooms))
    manager = managed(world, local=Local(LeastUsed()))
    world.lose("n1")
    assert manager.act(0.0)
    assert len(world.changes) == 1, "it stands still once"
    assert "n1" not in world.deployed.nodes()
    assert (len(world.deployed["split"]), len(world.deployed["count"])) == (2, 2)
    held = [sum(replicas[node] for _, replicas in world.deployed.items()) for node in ("n0", "n2", "n3")]
    assert max(held) <= 2, "nobody holds more than there is room for"
    assert world.entries("decision")[0]["refusals"] == []


def test_what_finds_no_room_stays_and_the_others_go():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 2}, "count": {"n1": 2}})
    world = StillWorld(deployed, Infrastructure("two", (Node("n0", 1.0), Node("n1", 4.0), Node("n2", 3.0))))
    manager = managed(world, local=Local(LeastUsed()))
    world.lose("n1")
    assert manager.act(0.0)
    assert world.deployed["count"] == Replicas.on("n2", "n2")
    assert world.deployed["split"] == Replicas.on("n1", "n1")


def test_an_operator_on_two_lost_nodes_leaves_both_at_once():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n2": 1}, "count": {"n3": 1}})
    world = StillWorld(deployed, nodes(4, 4.0))
    manager = managed(world)
    world.lose("n1")
    world.lose("n2")
    assert manager.act(0.0)
    assert {"n1", "n2"}.isdisjoint(world.deployed.nodes())
    assert world.entries("decision")[0]["granted"][0]["reason"] == "node n1 is lost and node n2 is lost"


def test_a_dry_run_changes_nothing():
    world = StillWorld()
    manager = managed(world, granting=DryRun())
    ask(manager, more("split", "n3"))
    assert not manager.act(0.0)
    assert world.changes == []
    assert world.entries("decision")[0]["refusals"][0]["reason"] == "this would be done"


def test_every_step_is_journaled_also_when_nobody_wants_anything():
    world = StillWorld()
    managed(world).step(0.0)
    assert [facts["requests"] for facts in world.entries("decision")] == [[]]


def test_a_policy_for_the_whole_application_scales_all_operators_in_one_change():
    world = StillWorld(rate_tps=150.0, at=nodes(6))
    manager = managed(world, policy=TrueRate(1.0), local=Local(LeastUsed()))
    # Two operators may not take the same node at once: what is refused now comes with the next step.
    for step in range(3):
        world.clock.wait_until(60.0 * step)
        manager.step(60.0 * step)
    assert (len(world.deployed["split"]), len(world.deployed["count"])) == (2, 3)
    assert world.entries("application proposal")[0]["proposals"]["count"]["wanted"] == 3


class TestElasticityManager:
    def test_at_most_one_application_is_changed_at_a_time_and_then_the_others_have_their_turn(self):
        worlds = [StillWorld(work={"split": 0.9}), StillWorld(work={"split": 0.9}), StillWorld(work={"split": 0.5})]
        managers = [managed(world, policy=Doubling(cooldown_invocations=0), settle_seconds=0.0) for world in worlds]
        central = ElasticityManager(managers)
        central.step(0.0)
        assert [len(world.changes) for world in worlds] == [1, 0, 0]
        for world in worlds:
            world.clock.wait_until(10.0)
        central.step(10.0)
        assert [len(world.changes) for world in worlds] == [1, 1, 0]

    def test_it_follows_the_detector_down_to_what_it_needs(self):
        deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1}, "count": {"n2": 6}})
        world = StillWorld(deployed, nodes(3, 8.0), work={"count": 0.5})
        manager = managed(world, policy=Doubling(cooldown_invocations=3), settle_seconds=0.0)
        seen = []
        for step in range(14):
            world.clock.wait_until(10.0 * step)
            manager.step(10.0 * step)
            seen.append(len(world.deployed["count"]))
        assert list(dict.fromkeys(seen)) == [3, 2]
        assert seen.count(3) == 4
