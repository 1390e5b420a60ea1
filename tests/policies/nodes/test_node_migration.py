"""EDF 6: away from a node that is too busy."""

import json

import pytest

from rheostat.policies.contract.policy_views import NodeView
from rheostat.policies.nodes import node_migration
from rheostat.policies.nodes.node_migration import HostView, NodeMigration

NEIGHBOURS = (
    NodeView("quiet", 10, room=2, utilization=0.2),
    NodeView("busy", 1, room=2, utilization=0.9),
    NodeView("full", 1, room=0, utilization=0.1),
)


def host(utilization=0.9, hosted=(("count", 2), ("split", 1)), neighbours=NEIGHBOURS, at=0.0):
    return HostView("here", at, utilization, hosted, neighbours)


def test_a_replica_moves_to_a_neighbour_that_has_room_and_is_not_overloaded_itself():
    found = NodeMigration().decide(host())
    assert found.operator in {"count", "split"}
    assert found.target == "quiet"
    assert found.score == pytest.approx(0.5)


def test_replicas_are_chosen_by_chance_each_as_likely_as_the_other():
    drawn = [NodeMigration(seed=seed).decide(host()).operator for seed in range(300)]
    assert drawn.count("count") == pytest.approx(200, rel=0.15)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        pytest.param(host(0.8), "80% busy", id="at the threshold"),
        pytest.param(host(None), "not known", id="nothing measured"),
        pytest.param(host(float("nan")), "not known", id="no number measured"),
        pytest.param(host(hosted=()), "nothing that could move", id="everything pinned"),
        pytest.param(host(neighbours=NEIGHBOURS[1:]), "no neighbour has room", id="nowhere to go"),
    ],
)
def test_else_it_holds_and_says_why(view, said):
    found = NodeMigration().decide(view)
    assert found.operator is None
    assert said in found.reason


def test_overload_is_above_the_threshold_and_its_excess_is_the_score():
    assert node_migration.is_overloaded(0.81, 0.8)
    assert not node_migration.is_overloaded(0.8, 0.8)
    assert node_migration.migration_score(0.95, 0.8) == pytest.approx(0.75)
    assert node_migration.migration_score(1.4, 0.8) == 1.0


def test_the_same_seed_at_the_same_moment_decides_the_same_from_the_journal():
    view = host(at=1234.5)
    again = HostView.from_plain(json.loads(json.dumps(view.to_plain())))
    assert again == view
    assert NodeMigration(seed=3).decide(again) == NodeMigration(seed=3).decide(view)


@pytest.mark.parametrize("threshold", [0.0, 1.0, float("nan")])
def test_a_threshold_that_says_nothing_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        NodeMigration(threshold)
