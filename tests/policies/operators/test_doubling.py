"""Elastic Storm's scaling policy, worked out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.policy import ApplicationPolicyContract

from rheostat.policies.contract.policy_views import ApplicationView, OperatorView
from rheostat.policies.operators import doubling
from rheostat.policies.operators.doubling import Doubling


def seen(**operators):
    views = (
        OperatorView(name, 0.0, len(utilizations), 1, 20, tuple(utilizations))
        for name, utilizations in operators.items()
    )
    return ApplicationView(0.0, tuple(views))


def wanted(view, policy=None):
    policy = policy or Doubling()
    proposals, _ = policy.decide_all(view, policy.begin())
    return {name: proposal.wanted for name, proposal in proposals.items()}


@pytest.mark.parametrize(
    ("utilizations", "expected"),
    [
        pytest.param([0.5] * 4, 4, id="in between: hold"),
        pytest.param([0.9, 0.9, 0.5, 0.1], 6, id="one more for each in overload"),
        pytest.param([0.9] * 5, 10, id="all in overload: doubled"),
        pytest.param([0.9] * 15, 20, id="never more executors than tasks"),
        pytest.param([0.1] * 20, 10, id="all idle: halved"),
        pytest.param([0.1] * 5, 3, id="an odd number is halved upwards"),
        pytest.param([0.1] * 19 + [0.3], 20, id="not all idle: hold"),
        pytest.param([0.1], 1, id="the last one stays"),
        pytest.param([0.7], 1, id="at the threshold is not above it"),
        pytest.param([0.2] * 2, 2, id="at the lower threshold is not below it"),
    ],
)
def test_decisions(utilizations, expected):
    assert wanted(seen(detector=utilizations)) == {"detector": expected}


def test_one_executor_more_for_each_in_overload():
    assert doubling.overloaded_executors((0.71, 0.7, 0.9), 0.7) == 2


def test_only_an_operator_all_of_whose_executors_are_idle_is_halved():
    assert doubling.all_underloaded((0.1, 0.19), 0.2)
    assert not doubling.all_underloaded((0.1, 0.2), 0.2)


def test_the_more_executors_are_busy_the_greater_the_score_of_a_scale_out():
    proposals, _ = Doubling().decide_all(seen(a=[0.9, 0.1], b=[0.9, 0.9]), Doubling().begin())
    assert (proposals["a"].score, proposals["b"].score) == (0.5, 1.0)


def test_the_busiest_decides_the_score_of_a_scale_in_and_holding_has_none():
    proposals, _ = Doubling().decide_all(seen(a=[0.1, 0.05], b=[0.0]), Doubling().begin())
    assert proposals["a"].score == pytest.approx(0.5)
    assert proposals["b"].score == 0.0


def test_a_minimum_is_kept():
    view = ApplicationView(0.0, (OperatorView("detector", 0.0, 6, 4, 20, (0.0,) * 6),))
    assert wanted(view) == {"detector": 4}


def test_operators_are_decided_on_together_and_then_left_alone_for_twelve_invocations():
    policy = Doubling()
    proposals, memory = policy.decide_all(seen(generator=[0.0, 0.0], detector=[0.9, 0.9]), policy.begin())
    assert {name: proposal.wanted for name, proposal in proposals.items()} == {"generator": 1, "detector": 4}
    after = seen(generator=[0.9], detector=[0.9] * 4)
    for _ in range(12):
        proposals, memory = policy.decide_all(after, memory)
        assert {name: proposal.wanted for name, proposal in proposals.items()} == {"generator": 1, "detector": 4}
    proposals, _ = policy.decide_all(after, memory)
    assert {name: proposal.wanted for name, proposal in proposals.items()} == {"generator": 2, "detector": 8}


def test_a_proposal_that_was_not_carried_out_does_not_start_the_cool_down():
    policy = Doubling()
    _, memory = policy.decide_all(seen(detector=[0.9]), policy.begin())
    proposals, _ = policy.decide_all(seen(detector=[0.9]), memory)
    assert proposals["detector"].wanted == 2


def test_thresholds_must_leave_a_gap_after_halving():
    assert doubling.prevents_oscillation(0.7, 0.2, 0.29)
    assert not doubling.prevents_oscillation(0.7, 0.2, 0.3)
    with pytest.raises(ValueError, match="would oscillate"):
        Doubling(0.5, 0.25)
    with pytest.raises(ValueError, match="would oscillate"):
        Doubling(0.7, 0.2, gap=0.4)
    with pytest.raises(ValueError, match="need 0 <= scale_in"):
        Doubling(0.2, 0.7)


@given(st.integers(2, 40), st.floats(0, 0.199), st.floats(0.01, 0.49))
def test_halving_never_calls_for_a_scale_out_at_the_same_load(executors, utilization, scale_in):
    policy = Doubling(min(1.0, 2 * scale_in + 0.01), scale_in, cooldown_invocations=0)
    load = min(utilization, scale_in * 0.999) * executors
    after = doubling.halved(executors)
    view = ApplicationView(0.0, (OperatorView("o", 0.0, after, 1, 100, (load / after,) * after),))
    assert wanted(view, policy)["o"] <= after


class TestDoublingContract(ApplicationPolicyContract):
    @pytest.fixture
    def policy(self):
        return Doubling(cooldown_invocations=2)
