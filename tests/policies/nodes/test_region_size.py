"""E2DF 4.1: nodes for a region, worked out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.policies.nodes import region_size as region
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied
from rheostat.policies.nodes.region_size import RegionProposal, RegionView, RentedNode, TargetCapacity

KINDS = (("large", 8), ("small", 1), ("medium", 2))


def nodes(count, assigned=0, utilization=0.0, prefix="n", capacity=1, **more):
    return tuple(RentedNode(f"{prefix}{i}", capacity, assigned, utilization, **more) for i in range(count))


def decided(*groups, policy=TargetCapacity(), kinds=KINDS):  # noqa: B008 - a frozen value
    return policy.decide(RegionView("rome", 0.0, tuple(node for group in groups for node in group), kinds))


def test_room_is_what_all_nodes_could_still_hold():
    held = (RentedNode("a", 4, 1), RentedNode("b", 2, 2), RentedNode("c", 8, 0, leaving=True))
    assert region.free_capacity(held) == 3
    assert region.has_room(held, 3)
    assert not region.has_room(held, 4)


def test_too_little_room_is_filled_with_nodes_of_the_smallest_kind():
    assert decided(nodes(4, assigned=1), nodes(2, prefix="free")) == RegionProposal(
        "small", 3, reason="room for 2 replicas, 5 are wanted"
    )


def test_as_many_as_it_takes_and_no_more():
    proposal = decided(nodes(1, assigned=1), kinds=(("medium", 2), ("large", 8), ("broken", 0)))
    assert (proposal.kind, proposal.start) == ("medium", 3)


def test_exactly_enough_room_is_enough():
    assert decided(nodes(4, assigned=1, utilization=0.5), nodes(5, prefix="free")).start == 0


def test_where_no_nodes_can_be_had_it_says_so():
    proposal = decided(nodes(1), kinds=())
    assert (proposal.kind, proposal.start) == (None, 0)
    assert "no nodes can be had" in proposal.reason


def test_nodes_on_their_way_count_so_that_they_are_not_asked_for_again():
    assert decided(nodes(3, assigned=1, utilization=0.5), nodes(5, prefix="starting", utilization=None)).start == 0


def test_empty_nodes_go_as_long_as_there_is_room_without_them():
    proposal = decided(nodes(3, assigned=1, utilization=0.5), nodes(7, prefix="free"))
    assert proposal.stop == ("free6", "free5")
    assert not proposal.vacate


def test_a_node_that_is_starting_is_not_stopped():
    assert decided(nodes(9, prefix="starting", utilization=None)).stop == ()


def test_under_used_nodes_are_vacated_if_what_they_hold_finds_room_elsewhere():
    used = (RentedNode("idle", 2, 1, 0.05), RentedNode("busy", 2, 1, 0.5))
    assert decided(used, nodes(5, utilization=0.5, prefix="free")).vacate == ()
    # Six are free beside it: one of them takes the replica, five are left.
    roomy = (RentedNode("idle", 2, 1, 0.05), RentedNode("busy", 8, 2, 0.5))
    assert decided(roomy).vacate == ("idle",)


def test_under_used_is_at_most_the_threshold_and_never_what_is_not_known():
    assert region.is_under_used(0.1, 0.1)
    assert not region.is_under_used(0.11, 0.1)
    assert not region.is_under_used(None, 0.1)
    assert not RentedNode("a", 1, 0, float("nan")).utilization


def test_a_node_that_leaves_is_not_asked_to_leave_again():
    leaving = RentedNode("idle", 2, 1, 0.0, leaving=True)
    assert decided((leaving, RentedNode("busy", 9, 1, 0.5))).vacate == ()


views = st.lists(
    st.builds(
        lambda capacity, assigned, utilization, leaving: (capacity, min(capacity, assigned), utilization, leaving),
        st.integers(1, 4),
        st.integers(0, 4),
        st.sampled_from([None, 0.0, 0.05, 0.5]),
        st.booleans(),
    ),
    max_size=8,
).map(lambda drawn: tuple(RentedNode(f"n{i}", *node) for i, node in enumerate(drawn)))


@given(views, st.integers(0, 6))
def test_after_its_proposal_there_is_room_enough_and_nothing_more_to_propose(held, free):
    policy = TargetCapacity(free)
    proposal = policy.decide(RegionView("rome", 0.0, held, KINDS))
    moved = sum(node.assigned for node in held if node.name in proposal.vacate)
    left = [node for node in held if node.name not in {*proposal.stop, *proposal.vacate}]
    started = [RentedNode(f"new{i}", dict(KINDS)[proposal.kind]) for i in range(proposal.start)]
    assert region.free_capacity([*left, *started]) - moved >= free
    assert all(node.assigned == 0 for node in held if node.name in proposal.stop)
    again = policy.decide(RegionView("rome", 0.0, (*left, *started), KINDS)) if not proposal.vacate else proposal
    assert again.start == (0 if not proposal.vacate else proposal.start)
    assert not (proposal.start and (proposal.stop or proposal.vacate))


def test_a_view_survives_the_journal():
    view = RegionView("rome", 7.0, nodes(2, assigned=1), KINDS)
    assert RegionView.from_plain(json.loads(json.dumps(view.to_plain()))) == view


class TestAccepting:
    """E2DF's infrastructure manager accepts everything but what is occupied; ours has two limits."""

    wants = (("milan", RegionProposal("small", 3)), ("rome", RegionProposal("small", 2, stop=("n1",))))

    def test_everything_is_accepted_by_default(self):
        assert AcceptUnlessOccupied().accepted(self.wants, 4) == (list(self.wants), [])

    def test_an_inhibited_region_gets_no_nodes_but_may_give_some_back(self):
        granted, refused = AcceptUnlessOccupied(inhibited=frozenset({"rome"})).accepted(self.wants, 4)
        assert [(name, proposal.start, proposal.stop) for name, proposal in granted] == [
            ("milan", 3, ()),
            ("rome", 0, ("n1",)),
        ]
        assert [(r.region, r.what, r.reason) for r in refused] == [
            ("rome", "start 2 small", "region rome is inhibited")
        ]

    def test_nodes_are_limited_in_all_regions_together(self):
        granted, refused = AcceptUnlessOccupied(max_nodes=8).accepted(self.wants, 4)
        assert [proposal.start for _, proposal in granted] == [3, 1]
        assert (refused[0].what, refused[0].reason) == ("start 1 small", "there are 7 of at most 8 nodes")

    def test_what_one_region_gives_back_another_may_have(self):
        wants = [("milan", RegionProposal(stop=("n1", "n2"))), ("rome", RegionProposal("small", 3))]
        granted, refused = AcceptUnlessOccupied(max_nodes=8).accepted(wants, 7)
        assert granted[1][1].start == 3
        assert not refused

    def test_a_node_has_to_be_left_in_time(self):
        policy = AcceptUnlessOccupied(vacate_seconds=60)
        assert not policy.is_late(100, 159)
        assert policy.is_late(100, 160)

    @pytest.mark.parametrize("wrong", [{"max_nodes": 0}, {"vacate_seconds": 0.0}])
    def test_limits_that_are_none_are_refused(self, wrong):
        with pytest.raises(ValueError, match="need"):
            AcceptUnlessOccupied(**wrong)


@pytest.mark.parametrize("wrong", [{"free": -1}, {"low": 1.0}, {"low": -0.1}])
def test_targets_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="need"):
        TargetCapacity(**wrong)
