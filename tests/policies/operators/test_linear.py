"""Linear policy, whose numbers an external algorithm finds."""

import pytest
from tests.contracts.policy import OperatorPolicyContract

from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators.linear import Linear
from rheostat.policies.policy_registry import policy_named


def seen(busy, replicas=2, rate=100.0, true_rate=100.0):
    return OperatorView("count", 0.0, replicas, 1, 4, (busy,) * replicas, rate, 5.0, true_rate)


@pytest.mark.parametrize(
    ("busy", "replicas", "wanted"),
    [
        pytest.param(0.71, 2, 3, id="busy: one more"),
        pytest.param(0.5, 2, 2, id="in between: hold"),
        pytest.param(0.29, 2, 1, id="idle: one fewer"),
        pytest.param(0.9, 4, 4, id="there are no more than the most"),
        pytest.param(0.1, 1, 1, id="the last one stays"),
    ],
)
def test_by_default_it_follows_the_utilisation(busy, replicas, wanted):
    assert Linear().decide(seen(busy, replicas), None)[0].wanted == wanted


def test_replicas_and_rate_count_by_what_there_can_be_at_most():
    assert Linear((0.0, 1.0, 0.0, 10.0)).weighted_sum(0.5, 0.9, 0.25) == pytest.approx(3.0)
    # 100 of the 400 tuples/s that four replicas serve: 10 x 0.25 = 2.5 > 1.
    assert Linear((0.0, 0.0, 0.0, 10.0)).decide(seen(0.5), None)[0].wanted == 3
    assert Linear((0.0, 0.0, 0.0, 10.0)).decide(seen(0.5, true_rate=1000.0), None)[0].wanted == 2


def test_the_score_is_how_far_beyond_the_line_it_is():
    assert Linear().decide(seen(0.75), None)[0].score == pytest.approx(0.25)
    assert Linear().decide(seen(1.0), None)[0].score == 1.0


def test_a_list_from_a_document_is_taken():
    assert policy_named("linear", {"coefficients": [1, 2, 3, 4]}).coefficients == (1, 2, 3, 4)


@pytest.mark.parametrize("wrong", [(), (1.0, 2.0, 3.0), (1.0, 2.0, 3.0, float("nan"))])
def test_anything_but_four_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match="need 4 finite coefficients"):
        Linear(wrong)


class TestLinearContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Linear((-1.0, -2.0, 4.0, 3.0))
