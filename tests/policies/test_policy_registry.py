"""Policies by name."""

import pytest

from rheostat.errors import InvalidModel
from rheostat.policies.operators.period_cost import Weights
from rheostat.policies.policy_registry import APPLICATION_POLICIES, OPERATOR_POLICIES, POLICIES, policy_named
from tests.contracts.policy import ApplicationPolicyContract, OperatorPolicyContract


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_can_be_had_by_its_name_with_its_defaults(name):
    assert policy_named(name).name == name


def test_options_are_the_fields_and_weights_may_be_a_mapping():
    weights = {"reconfiguration": 0.4, "performance": 0.4, "resources": 0.2}
    policy = policy_named("q-learning", {"weights": weights, "seed": 7})
    assert policy.weights == Weights(0.4, 0.4, 0.2)
    assert policy.seed == 7


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("threshhld", {}, "policy: policy.name: there is no policy 'threshhld'; did you mean 'threshold'?"),
        (
            "threshold",
            {"scaleout": 0.4},
            "policy.scaleout: threshold has no setting 'scaleout'; did you mean 'scale_out'",
        ),
        ("doubling", {"scale_in": 0.4}, "thresholds would oscillate"),
        (
            "model-based",
            {"weights": {"performance": 0.9}},
            "policy.weights: the weights sum to 1.5; make them sum to 1",
        ),
        (
            "model-based",
            {"weights": {"performances": 0.4}},
            "policy.weights.performances: there is no weight 'performances'; did you mean 'performance'?",
        ),
        ("model-based", {"weights": {"performance": "high"}}, "policy.weights.performance: 'high' is not a number"),
        ("flink", {"utilization": "high"}, "policy: "),
    ],
)
def test_what_is_wrong_is_told_in_one_line_each(name, options, said):
    with pytest.raises(InvalidModel) as caught:
        policy_named(name, options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_mistakes_are_told_at_once():
    with pytest.raises(InvalidModel) as caught:
        policy_named("threshold", {"scaleout": 0.4, "slack": 2.0, "nonsense": 1})
    assert len(caught.value.mistakes) == 3


class TestEveryOperatorPolicy(OperatorPolicyContract):
    """With its defaults, whoever adds one; settings of their own are tried beside each policy."""

    @pytest.fixture(params=sorted(OPERATOR_POLICIES))
    def policy(self, request):
        return policy_named(request.param)


class TestEveryApplicationPolicy(ApplicationPolicyContract):
    @pytest.fixture(params=sorted(APPLICATION_POLICIES))
    def policy(self, request):
        return policy_named(request.param)
