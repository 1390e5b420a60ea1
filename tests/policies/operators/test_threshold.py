"""EDF's and E2DF's rule, worked out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.policy import OperatorPolicyContract

from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators import threshold
from rheostat.policies.operators.hold import Hold
from rheostat.policies.operators.threshold import Threshold


def view(*utilizations, least=1, most=6):
    return OperatorView("count", 0.0, len(utilizations), least, most, utilizations)


def decided(*utilizations, least=1, most=6, **settings):
    proposal, _ = Threshold(**settings).decide(view(*utilizations, least=least, most=most), None)
    return proposal


@pytest.mark.parametrize(
    ("utilizations", "wanted"),
    [
        pytest.param((0.6,), 1, id="below the threshold: hold"),
        pytest.param((0.7,), 1, id="at the threshold: hold"),
        pytest.param((0.71,), 2, id="above it: one more"),
        pytest.param((0.1, 0.71, 0.1), 4, id="one busy replica is enough, whatever the others do"),
        pytest.param((0.2, 0.2), 1, id="one alone would be at 0.4 < 0.525: one less"),
        pytest.param((0.2625, 0.2625), 2, id="one alone would be at exactly 0.525: hold"),
        pytest.param((0.3, 0.3, 0.3), 2, id="two would be at 0.45: one less"),
        pytest.param((0.0,), 1, id="the last replica stays"),
    ],
)
def test_decisions(utilizations, wanted):
    assert decided(*utilizations).wanted == wanted


def test_bounds_are_kept():
    assert decided(0.9, 0.9, most=2).wanted == 2
    least = decided(0.0, 0.0, least=2)
    assert (least.wanted, least.score) == (2, 0.0)


def test_a_replica_above_the_threshold_is_overload():
    assert threshold.is_overloaded((0.2, 0.71), 0.7)
    assert not threshold.is_overloaded((0.7, 0.7), 0.7)


def test_what_the_rest_would_carry_decides_on_a_scale_in():
    assert threshold.utilization_of_the_rest((0.2, 0.3, 0.4)) == pytest.approx(0.45)
    assert threshold.is_underloaded((0.2, 0.3, 0.4), 0.7, 0.75)
    assert not threshold.is_underloaded((0.3, 0.4, 0.4), 0.7, 0.75)
    assert not threshold.is_underloaded((0.0,), 0.7, 0.75)


def test_the_score_of_a_scale_out_is_the_normalised_excess_of_the_busiest():
    assert threshold.scale_out_score(0.85, 0.7) == pytest.approx(0.5)
    assert threshold.scale_out_score(1.3, 0.7) == 1.0
    assert decided(0.75, 0.85).score == pytest.approx(0.5)


def test_the_score_of_a_scale_in_is_the_normalised_slack():
    assert threshold.scale_in_score((0.21, 0.21), 0.7, 0.75) == pytest.approx((0.525 - 0.42) / 0.525)
    assert decided(0.21, 0.21).score == pytest.approx(0.2)
    assert decided(0.0, 0.0).score == 1.0


@pytest.mark.parametrize("wrong", [{"scale_out": 1.0}, {"scale_out": 0.0}, {"slack": 1.0}, {"slack": 0.0}])
def test_thresholds_that_would_oscillate_are_refused(wrong):
    with pytest.raises(ValueError, match="need 0 <"):
        Threshold(**wrong)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_scale_in_is_never_followed_by_a_scale_out_at_the_same_evenly_spread_load(utilizations, high, slack):
    policy = Threshold(high, slack)
    proposal, _ = policy.decide(view(*utilizations), None)
    if proposal.wanted < len(utilizations):
        share = sum(utilizations) / proposal.wanted
        after, _ = policy.decide(view(*[share] * proposal.wanted), None)
        assert after.wanted <= proposal.wanted


class TestThresholdContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Threshold()


class TestHoldContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Hold()
