"""The two learners against an independent value iteration on processes that are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.policy import OperatorPolicyContract

from rheostat.errors import InvalidModel
from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators import learner as learning
from rheostat.policies.operators import model_based, q_learning
from rheostat.policies.operators import period_cost as costs
from rheostat.policies.operators.learner import ACTIONS, Learner, LearningStep
from rheostat.policies.operators.model_based import ModelBased
from rheostat.policies.operators.period_cost import Weights
from rheostat.policies.operators.q_learning import QLearning

WEIGHTS = Weights(reconfiguration=0.2, performance=0.5, resources=0.3)
MOST = 3


def too_slow(replicas, level):
    """The world: a replica carries one quantum."""
    return level > replicas


def view(replicas, level, at=0.0):
    latency = 100.0 if too_slow(replicas, level) else 1.0
    return OperatorView("count", at, replicas, 1, MOST, (), 50.0 * level, latency)


def value_iteration(moves, discount, weights=WEIGHTS):
    """Q* by the textbook, state by state: an independent computation, in plain Python."""
    levels = range(len(moves))
    values = {(level, k, a): 0.0 for level in levels for k in range(1, MOST + 1) for a in ACTIONS if 1 <= k + a <= MOST}
    for _ in range(200):
        best = {(level, k): min(values[level, k, a] for a in ACTIONS if 1 <= k + a <= MOST) for level, k, _ in values}
        values = {
            (level, k, a): sum(
                chance
                * (
                    weights.reconfiguration * (a != 0)
                    + weights.performance * too_slow(k + a, there)
                    + weights.resources * (k + a) / MOST
                    + discount * best[there, k + a]
                )
                for there, chance in enumerate(moves[level])
            )
            for level, k, a in values
        }
    return values


def test_the_cost_of_a_period_weighs_change_slowness_and_replicas():
    cost = costs.period_cost(WEIGHTS, changed=True, too_slow=False, share_of_replicas=2 / 3)
    assert cost == pytest.approx(0.2 + 0.3 * 2 / 3)
    assert costs.period_cost(WEIGHTS, changed=False, too_slow=True, share_of_replicas=1) == pytest.approx(0.8)


@given(st.booleans(), st.booleans(), st.floats(0, 1))
def test_the_cost_is_what_was_known_and_what_was_not(changed, slow, share):
    cost = costs.period_cost(WEIGHTS, changed=changed, too_slow=slow, share_of_replicas=share)
    unknown = costs.unknown_cost(WEIGHTS, cost, changed=changed, share_of_replicas=share)
    assert unknown == pytest.approx(0.5 if slow else 0.0)
    assert costs.known_cost(WEIGHTS, changed=changed, share_of_replicas=share) + unknown == pytest.approx(cost)


def test_weights_off_one_are_refused_in_one_line():
    with pytest.raises(InvalidModel, match=r"cost weights: weights: the weights sum to 1\.1; make them sum to 1"):
        Weights(0.3, 0.4, 0.4)


def test_rates_go_to_the_nearest_level_and_not_beyond_the_last():
    learner = Learner(rate_quantum_tps=50, rate_levels=4)
    assert [learner.level(rate) for rate in (0, 24.9, 25, 74, 200, 1e6)] == [0, 0, 1, 1, 4, 4]


def test_what_was_done_is_seen_in_the_replicas_and_a_leap_is_nothing_to_learn_from():
    assert learning.action_taken(LearningStep(1, 2), view(2, 1)) == 0
    assert learning.action_taken(LearningStep(1, 2), view(3, 1)) == 1
    assert learning.action_taken(LearningStep(1, 1), view(3, 1)) is None


def test_q_learning_moves_its_estimate_towards_what_it_paid():
    assert q_learning.updated_value(2.0, 0.5, 3.0, 0.1, 0.9) == pytest.approx(0.9 * 2 + 0.1 * (0.5 + 0.9 * 3))


def test_the_score_of_an_action_is_its_gain_among_the_greatest_so_far():
    assert learning.action_score(0.5, 0.7) == 0.5
    assert learning.action_score(2.0, 8.0) == 0.25
    assert learning.action_score(-1.0, 2.0) == 0.0


def test_the_greatest_gain_is_over_all_actions_so_far():
    row = np.array([2.0, 5.0, 0.5])
    assert learning.greatest_gain_in(row, [0, 1, 2], 0.0) == 1.5
    assert learning.greatest_gain_in(row, [0, 1], 0.7) == 0.7


def test_transitions_are_estimated_by_counting_and_an_unknown_level_stays():
    estimates = model_based.transition_estimates(np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    assert estimates.tolist() == [[0.25, 0.75, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_move_leads_to_the_replicas_it_says_and_to_rates_by_their_chances():
    estimates = np.array([[0.25, 0.75], [0.0, 1.0]])
    worth = np.array([[1.0, 10.0], [2.0, 20.0]])
    assert model_based.following_values(estimates, worth).tolist() == [[1.75, 17.5], [2.0, 20.0]]


def test_penalties_are_averaged_exponentially():
    assert model_based.updated_penalty(0.4, 0.0, 0.1) == pytest.approx(0.36)


@given(
    st.lists(st.floats(0, 1), min_size=12, max_size=12),
    st.integers(0, 3),
    st.integers(0, 2),
    st.floats(0, 1),
)
def test_fewer_replicas_or_more_load_never_cost_less_than_what_was_just_learned(drawn, level, place, learned):
    penalties = np.array(drawn).reshape(4, 3)
    penalties[level, place] = learned
    bounded = model_based.monotone(penalties, level, place)
    for j in range(4):
        for k in range(3):
            if j >= level and k <= place:
                assert bounded[j, k] >= learned
            elif j <= level and k >= place:
                assert bounded[j, k] <= learned
            else:
                assert bounded[j, k] == penalties[j, k]
    assert bounded[level, place] == learned


def walked(policy, levels, steps, *, explore=0):
    """Runs a policy in the known world; every `explore` steps somebody else scales, to see all states."""
    memory, replicas = policy.begin(), 1
    random = np.random.default_rng(1)
    for step in range(steps):
        proposal, memory = policy.decide(view(replicas, levels[step], 30.0 * step), memory)
        replicas = proposal.wanted
        if explore and step % explore == 0:
            replicas = int(min(MOST, max(1, view(replicas, 0).replicas + random.integers(-1, 2))))
    return memory


def test_model_based_equals_an_independent_value_iteration_on_a_known_process():
    # The rate goes round and round: every transition and every penalty can be learned exactly.
    circle = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], dtype=float)
    policy = ModelBased(WEIGHTS, 10.0, 50.0, rate_levels=3, discount=0.9, learning_rate=1.0, sweeps=20)
    memory = walked(policy, [step % 4 for step in range(300)], 300, explore=2)
    assert memory.moves[0, 1] > 0
    expected = value_iteration(circle, 0.9)
    for (level, k, action), value in expected.items():
        assert memory.values[level, k - 1, ACTIONS.index(action)] == pytest.approx(value, abs=1e-5)


def test_one_backup_is_one_step_of_value_iteration():
    policy = ModelBased(WEIGHTS, 10.0, rate_levels=1, discount=0.9)
    estimates, penalties = np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[0.0, 0.0, 0.0], [0.5, 0.2, 0.0]])
    zero = np.broadcast_to(learning.forbidden(MOST), (2, MOST, 3)).copy()
    once = model_based.backed_up(zero, estimates, penalties, policy)
    assert once[0, 0, ACTIONS.index(0)] == pytest.approx(0.3 / 3 + 0.25)
    assert once[0, 0, ACTIONS.index(1)] == pytest.approx(0.2 + 0.3 * 2 / 3 + 0.1)
    assert np.isinf(once[0, 0, ACTIONS.index(-1)])
    assert np.isinf(once[0, 2, ACTIONS.index(1)])
    twice = model_based.backed_up(once, estimates, penalties, policy)
    best = [min(once[level, 0]) for level in (0, 1)]
    assert twice[0, 0, 0] == pytest.approx(0.1 + 0.5 * (0.9 * best[0]) + 0.5 * (0.5 + 0.9 * best[1]))


def test_q_learning_converges_to_the_value_iteration():
    circle = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], dtype=float)
    policy = QLearning(WEIGHTS, 10.0, 50.0, rate_levels=3, discount=0.5, learning_rate=0.2, exploration=0.6, seed=3)
    steps = 12_000
    memory = walked(policy, [step % 4 for step in range(steps)], steps)
    for (level, k, action), value in value_iteration(circle, 0.5).items():
        assert memory.values[level, k - 1, ACTIONS.index(action)] == pytest.approx(value, abs=0.02)


def test_q_learning_takes_the_action_of_least_value_and_of_equals_it_holds():
    policy = QLearning(rate_levels=1, exploration=0.0)
    values = np.zeros((2, MOST, 3))
    values[1, 1] = [0.5, 0.7, 0.2]
    learned = q_learning.QMemory(values)
    assert policy.decide(view(2, 1), learned)[0].wanted == 3
    values[1, 1] = [0.5, 0.2, 0.7]
    assert policy.decide(view(2, 1), learned)[0].wanted == 1
    values[1, 1] = [0.5, 0.5, 0.5]
    assert policy.decide(view(2, 1), learned)[0].wanted == 2


def test_at_its_bound_a_response_is_in_time():
    learner, at = Learner(WEIGHTS, latency_bound_ms=100.0), view(1, 2)
    assert at.latency_ms == 100.0
    assert learner.cost(at, 0) == pytest.approx(0.1)
    assert replace(learner, latency_bound_ms=99.9).cost(at, 0) == pytest.approx(0.6)


@pytest.mark.parametrize(("books_refused", "learned"), [(True, 1), (False, 0)])
def test_a_refused_action_is_booked_as_chosen_or_as_holding(books_refused, learned):
    policy = QLearning(WEIGHTS, rate_levels=1, exploration=0.0, books_refused=books_refused)
    values = np.zeros((2, MOST, 3))
    values[1, 1] = [0.5, 0.7, 0.2]
    proposal, memory = policy.decide(view(2, 1), q_learning.QMemory(values))
    assert proposal.wanted == 3
    _, memory = policy.decide(view(2, 1, 30.0), memory)
    changed = [ACTIONS[i] for i in np.nonzero(memory.values[1, 1] != values[1, 1])[0]]
    assert changed == [learned]


def test_what_was_granted_is_what_was_chosen():
    policy = QLearning(WEIGHTS, rate_levels=1, exploration=0.0)
    values = np.zeros((2, MOST, 3))
    values[1, 1] = [0.5, 0.7, 0.2]
    _, memory = policy.decide(view(2, 1), q_learning.QMemory(values))
    _, memory = policy.decide(view(3, 1, 30.0), memory)
    assert memory.values[1, 1].tolist() != values[1, 1].tolist()
    assert memory.values[1, 1, ACTIONS.index(1)] == pytest.approx(0.9 * 0.2 + 0.1 * (0.2 + 0.3))


def test_what_was_not_seen_is_not_learned_from():
    policy = ModelBased(WEIGHTS, 10.0, rate_levels=3)
    _, memory = policy.decide(view(1, 1), policy.begin())
    _, memory = policy.decide(OperatorView("count", 30.0, 1, 1, MOST), memory)
    _, memory = policy.decide(view(1, 3, 60.0), memory)
    assert memory.moves.sum() == 0
    _, memory = policy.decide(view(1, 3, 90.0), memory)
    assert memory.moves.sum() == 1


def test_exploration_is_by_seed_and_as_often_as_said():
    def explored(seed):
        policy = QLearning(exploration=0.3, seed=seed)
        decisions = []
        memory = policy.begin()
        for step in range(400):
            proposal, memory = policy.decide(view(2, 1, 30.0 * step), memory)
            decisions.append("explored" in proposal.reason)
        return decisions

    assert explored(1) == explored(1) != explored(2)
    assert sum(explored(1)) == pytest.approx(120, abs=30)


def test_the_model_based_learner_ends_with_enough_replicas_and_then_rests():
    policy = ModelBased(Weights(0.4, 0.4, 0.2), 10.0, rate_levels=3)
    memory, replicas, changes = policy.begin(), 1, []
    for step in range(400):
        proposal, memory = policy.decide(view(replicas, 2, 30.0 * step), memory)
        if proposal.wanted != replicas:
            changes.append(step)
        replicas = proposal.wanted
    assert replicas == 2
    assert changes[-1] < 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"discount": 1.0},
        {"learning_rate": 0.0},
        {"rate_quantum_tps": 0.0},
        {"rate_levels": 0},
        {"latency_bound_ms": 0.0},
    ],
)
@pytest.mark.parametrize("kind", [QLearning, ModelBased])
def test_settings_that_cannot_converge_are_refused(kind, wrong):
    with pytest.raises(ValueError, match="need"):
        kind(**wrong)


def test_exploration_and_sweeps_have_their_limits():
    with pytest.raises(ValueError, match="exploration"):
        QLearning(exploration=1.5)
    with pytest.raises(ValueError, match="sweeps"):
        replace(ModelBased(), sweeps=0)


class TestQLearningContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return QLearning(rate_levels=4, exploration=0.3)


class TestModelBasedContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return ModelBased(rate_levels=4)
