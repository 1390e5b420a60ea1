"""Views of policies, and the limits of their settings."""

import json
from math import inf, nan

import pytest
from hypothesis import given
from tests.contracts.policy import operator_views

from rheostat.policies.contract.guards import CoolDown
from rheostat.policies.contract.policy import Proposal, decision_random
from rheostat.policies.contract.policy_views import ApplicationView, NodeView, OperatorView, known
from rheostat.policies.contract.requests import Request
from rheostat.policies.grants.grants import Quota
from rheostat.policies.grants.token_bucket import TokenBucket
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied
from rheostat.policies.nodes.region_size import TargetCapacity
from rheostat.policies.operators.flink import Flink
from rheostat.policies.operators.predictive import Predictive


@pytest.mark.parametrize("odd", [None, nan, inf, -inf, -1.0])
def test_what_is_no_number_is_not_known(odd):
    assert known(odd) is None
    view = OperatorView("count", 0.0, 1, utilizations=() if odd is None else (odd,), input_rate_tps=odd, backlog=odd)
    assert (view.utilizations, view.input_rate_tps, view.backlog) == ((), None, None)


def test_nothing_is_a_number():
    assert known(0.0) == 0.0
    assert OperatorView("count", 0.0, 2, 1, 2, (0.0, 0.0)).utilizations == (0.0, 0.0)


def test_one_unusable_utilization_spoils_them_all():
    assert OperatorView("count", 0.0, 2, 1, 2, (0.5, nan)).utilizations == ()


def test_a_distance_that_is_not_known_is_far():
    assert NodeView("n1", nan).delay_ms > 1e6


@pytest.mark.parametrize(("replicas", "allowed"), [(1, 2), (2, 2), (4, 4), (9, 5)])
def test_the_nearest_number_that_is_allowed(replicas, allowed):
    assert OperatorView("count", 0.0, 3, 2, 5).within_bounds(replicas) == allowed


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1, 0, 1), (1, 3, 2)])
def test_numbers_of_replicas_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="need 1 <= min_replicas"):
        OperatorView("count", 0.0, *wrong)


@pytest.mark.parametrize("stream", [("b", "a", 1.0), ("a", "a", 1.0), ("a", "b", -1.0), ("a", "b", nan)])
def test_streams_that_go_backwards_or_carry_no_number_are_refused(stream):
    views = (OperatorView("a", 0.0, 1), OperatorView("b", 0.0, 1))
    with pytest.raises(ValueError, match="along the flow"):
        ApplicationView(0.0, views, (stream,))


@given(operator_views())
def test_views_survive_the_journal(view):
    whole = ApplicationView(1.5, (view,), (), 12.0)
    assert ApplicationView.from_plain(json.loads(json.dumps(whole.to_plain(), allow_nan=False))) == whole


@pytest.mark.parametrize(("wanted", "score"), [(0, 0.5), (1, 1.1), (1, -0.1), (1, nan)])
def test_a_proposal_nobody_could_rank_or_run_is_refused(wanted, score):
    with pytest.raises(ValueError, match="a proposal wants"):
        Proposal(wanted, score)


def test_a_request_nobody_could_rank_is_refused():
    with pytest.raises(ValueError, match="a score goes from 0 to 1"):
        Request(None, 2.0, "somebody")


def test_chance_is_by_seed_and_by_every_part():
    drawn = {decision_random(seed, *parts).random() for seed in (0, 1) for parts in (("a", 1), ("a", 2), ("b", 1))}
    assert len(drawn) == 6
    assert decision_random(0, "a", 1).random() == decision_random(0, "a", 1).random()


@pytest.mark.parametrize(
    "make",
    [
        lambda: TokenBucket(low_ms=0.0),
        lambda: Predictive(smoothing=1.0, trend_smoothing=1.0, damping=1.0, slowed_by_a_change=0.0, horizon_periods=1),
        lambda: Predictive(damping=0.0),
        lambda: AcceptUnlessOccupied(max_nodes=1),
        lambda: Quota(1),
        lambda: TargetCapacity(0, 0.0),
        lambda: CoolDown(0.0, 0.0),
        lambda: Flink(utilization=1.0, boundary=0.0, restart_seconds=0.0, lag_allowed_seconds=0.0),
    ],
)
def test_the_last_value_before_the_wrong_ones_is_allowed(make):
    make()


def test_thresholds_that_are_the_same_leave_nothing_in_between():
    with pytest.raises(ValueError, match="low_ms < high_ms"):
        TokenBucket(low_ms=225.0)
