"""Node for a new replica, and choice of the replica to stop."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.policies.contract.policy_views import NodeView
from rheostat.policies.replicas.placement import LeastUsed, NearerIsLikelier, StayTogether
from rheostat.policies.replicas.victims import FewestMoved, OneOfTheTwoBusiest, OnTheMostUsedNode, ReplicaView

NODES = [
    NodeView("far", delay_ms=50, room=2, utilization=0.1, held=1),
    NodeView("near", delay_ms=1, room=2, utilization=0.5, held=2),
    NodeView("full", delay_ms=0, room=0, utilization=0.0, held=3),
    NodeView("middle", delay_ms=20, room=9, utilization=0.2, held=0),
]

nodes = st.lists(
    st.builds(
        NodeView,
        st.text("abcdef", min_size=1, max_size=3),
        st.floats(allow_nan=True),
        st.integers(0, 3),
        st.none() | st.floats(allow_nan=True),
        st.integers(0, 3),
    ),
    unique_by=lambda node: node.name,
    max_size=6,
)


def test_the_nearer_the_likelier_among_those_with_room():
    random = Random(1)
    drawn = Counter(NearerIsLikelier().target(NODES, random) for _ in range(6000))
    assert drawn.keys() == {"near", "middle", "far"}
    assert drawn["near"] == pytest.approx(3000, rel=0.1)
    assert drawn["middle"] == pytest.approx(2000, rel=0.1)
    assert drawn["far"] == pytest.approx(1000, rel=0.1)


def test_the_least_used_node_with_room_is_taken():
    assert LeastUsed().target(NODES, Random(1)) == "far"


def test_a_node_nobody_has_measured_is_taken_for_busy():
    unmeasured = NodeView("new", room=9)
    assert LeastUsed().target([*NODES, unmeasured], Random(1)) == "far"
    assert LeastUsed().target([unmeasured], Random(1)) == "new"


def test_together_is_where_most_siblings_are_and_there_is_room():
    assert StayTogether().target(NODES, Random(1)) == "near"


@pytest.mark.parametrize("way", [NearerIsLikelier(), LeastUsed(), StayTogether()])
@given(nodes=nodes, seed=st.integers(0, 3))
def test_every_way_finds_room_if_there_is_any_and_decides_the_same_by_the_same_chance(way, nodes, seed):
    found = way.target(nodes, Random(seed))
    roomy = {node.name for node in nodes if node.room > 0}
    assert found in roomy if roomy else found is None
    assert way.target(nodes, Random(seed)) == found


REPLICAS = [
    ReplicaView("a", utilization=0.9, node_utilization=0.2),
    ReplicaView("b", utilization=0.5, node_utilization=0.8),
    ReplicaView("b", utilization=0.7, node_utilization=0.8),
    ReplicaView("c", utilization=None, node_utilization=None),
]


def test_edf_takes_the_replica_on_the_most_used_node():
    assert OnTheMostUsedNode().victim(REPLICAS, Random(1)) == "b"


def test_e2df_takes_one_of_the_two_busiest_replicas():
    drawn = Counter(OneOfTheTwoBusiest().victim(REPLICAS, Random(seed)) for seed in range(400))
    assert drawn.keys() == {"a", "b"}
    assert drawn["a"] == pytest.approx(200, rel=0.2)


def test_elastic_storm_takes_it_where_the_fewest_are():
    assert FewestMoved().victim(REPLICAS[:3], Random(1)) == "a"


@pytest.mark.parametrize("way", [OnTheMostUsedNode(), OneOfTheTwoBusiest(), FewestMoved()])
def test_every_way_finds_the_only_replica(way):
    assert way.victim([ReplicaView("a")], Random(1)) == "a"
