"""Forecasts, schedules of least cost, the predictive policy and the oracle."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts.policy import OperatorPolicyContract

from rheostat.model.graph.latency import MM1, Constant
from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators.cost_schedule import (
    expected_costs,
    least_cost_schedule,
    load_within_bound,
    period_costs,
    schedule_cost,
)
from rheostat.policies.operators.forecast import Trend
from rheostat.policies.operators.hold import Hold
from rheostat.policies.operators.model_based import ModelBased
from rheostat.policies.operators.oracle import Oracle
from rheostat.policies.operators.period_cost import Weights, change_price
from rheostat.policies.operators.predictive import Predictive
from rheostat.policies.operators.q_learning import QLearning
from rheostat.policies.operators.threshold import Threshold

WEIGHTS = Weights()
QUEUE = MM1(100.0)
BOUND_MS = 20.0
"""A replica is quick enough up to 50 tuples/s."""

cost_tables = st.integers(1, 3).flatmap(
    lambda most: st.lists(st.lists(st.floats(0, 1), min_size=most, max_size=most), min_size=1, max_size=5)
)


def test_a_period_costs_its_replicas_and_its_slowness():
    costs = period_costs([40.0, 80.0], QUEUE, BOUND_MS, WEIGHTS, 2)
    assert costs == pytest.approx(np.array([[0.2, 0.4], [0.6, 0.4]]))


def test_at_the_bound_a_period_is_quick_enough():
    assert period_costs([50.0], QUEUE, BOUND_MS, WEIGHTS, 1).tolist() == [[0.4]]
    assert period_costs([50.01], QUEUE, BOUND_MS, WEIGHTS, 1).tolist() == [[0.8]]


@given(cost_tables, st.floats(0, 1), st.integers(1, 3))
def test_the_schedule_is_the_best_of_all(drawn, change_cost, start):
    costs = np.array(drawn)
    periods, most = costs.shape
    start = min(start, most)
    schedule, cost = least_cost_schedule(costs, change_cost, start)
    everything = product(range(1, most + 1), repeat=periods)
    best = min(schedule_cost(costs, change_cost, start, every) for every in everything)
    assert cost == pytest.approx(best)
    assert schedule_cost(costs, change_cost, start, schedule) == pytest.approx(best)


def test_staying_wins_a_tie():
    assert least_cost_schedule(np.array([[0.5, 0.4]]), 0.1, 1)[0] == [1]


def test_nothing_costs_nothing():
    assert least_cost_schedule(np.zeros((0, 3)), 0.2, 1) == ([], 0.0)


def test_a_straight_line_is_forecast_without_error():
    trend = Trend(0.0, 10.0)
    for rate in range(10, 200, 10):
        trend = trend.after(float(rate), 0.5, 0.2)
    assert trend.ahead(3, damping=1.0) == pytest.approx([200.0, 210.0, 220.0])
    assert trend.error == pytest.approx(0.0)


def test_a_slope_is_found_and_damped_and_a_rate_is_never_negative():
    trend = Trend(100.0)
    for rate in range(110, 400, 10):
        trend = trend.after(float(rate), 0.5, 0.2)
    assert trend.slope == pytest.approx(10.0, abs=0.5)
    first, second = trend.ahead(2, 0.5)
    assert second - first == pytest.approx((first - trend.level) / 2)
    assert Trend(5.0, -10.0).ahead(3, 1.0) == [0.0, 0.0, 0.0]


def test_what_may_come_deviates_by_what_it_was_wrong_by():
    trend = Trend(100.0)
    for rate in [150.0, 50.0] * 40:
        trend = trend.after(rate, 0.1, 0.2)
    assert trend.error == pytest.approx(50.0, rel=0.15)
    assert trend.deviation == pytest.approx(1.2533 * trend.error, rel=1e-4)


def test_a_jump_is_followed_when_it_was_seen_twice_and_a_single_one_is_not():
    calm = Trend(100.0)
    for rate in [104.0, 96.0] * 40:
        calm = calm.after(rate, 0.05, 0.1)
    once = calm.after(300.0, 0.05, 0.1)
    assert once.level < 120
    assert once.after(300.0, 0.05, 0.1).level == 300.0
    assert once.after(100.0, 0.05, 0.1).level < 120
    assert once.after(-100.0, 0.05, 0.1).level < 120
    down = calm.after(10.0, 0.05, 0.1).after(10.0, 0.05, 0.1)
    assert (down.level, down.slope, down.surprises) == (10.0, 0.0, 0)


@given(st.lists(st.floats(0, 500), min_size=1, max_size=5), st.integers(1, 4))
def test_costs_that_are_expected_without_error_are_the_costs(rates, most):
    known = period_costs(rates, QUEUE, BOUND_MS, WEIGHTS, most)
    expected = expected_costs(rates, 0.0, load_within_bound(QUEUE, BOUND_MS), WEIGHTS, most)
    # On the line itself the two may fall on either side.
    near = np.abs(np.array(rates)[:, None] - 50.0 * np.arange(1, most + 1)) < 1e-6
    assert np.where(near, 0.0, expected) == pytest.approx(np.where(near, 0.0, known))


def test_slowness_counts_by_its_probability():
    assert expected_costs([50.0], 10.0, 50.0, WEIGHTS, 2)[0] == pytest.approx([0.2 + 0.4 * 0.5, 0.4], abs=1e-6)
    assert expected_costs([40.0], 10.0, 50.0, WEIGHTS, 1)[0] == pytest.approx([0.4 + 0.4 * 0.158655], abs=1e-6)


@pytest.mark.parametrize(
    ("latency", "bound_ms", "quick"),
    [(QUEUE, 20.0, 50.0), (QUEUE, 5.0, 0.0), (MM1(3000.0), 1.0, 2000.0), (Constant(5.0), 4.0, 0.0)],
)
def test_a_replica_is_quick_enough_up_to_a_load(latency, bound_ms, quick):
    assert load_within_bound(latency, bound_ms) == pytest.approx(quick, abs=1e-6)


def test_what_takes_no_longer_under_any_load_is_always_quick():
    assert load_within_bound(Constant(5.0), 5.0) >= 1e12


def test_a_change_costs_all_the_slowness_it_brings():
    assert change_price(WEIGHTS, 0) == 0.2
    assert change_price(WEIGHTS, 5) == pytest.approx(2.2)


def view(step, replicas, rate, most=6):
    load = rate / replicas
    utilization = (min(1.0, load / 100.0),) * replicas
    latency = min(1e6, QUEUE.latency_ms(load))
    return OperatorView("count", 30.0 * step, replicas, 1, most, utilization, rate, latency, 100.0, 0.0)


def followed(policy, rates, most=6):
    """What a policy costs on a trace: at the beginning of a period it knows the period before."""
    memory, replicas, schedule = policy.begin(), 1, []
    for step, _ in enumerate(rates):
        proposal, memory = policy.decide(view(step, replicas, rates[max(0, step - 1)], most), memory)
        replicas = proposal.wanted
        schedule.append(replicas)
    costs = period_costs(rates, QUEUE, BOUND_MS, WEIGHTS, most)
    return schedule_cost(costs, WEIGHTS.reconfiguration, 1, schedule), schedule


def oracle(rates, most=6):
    return Oracle(tuple(rates), max_replicas=most, latency=QUEUE, latency_bound_ms=BOUND_MS, weights=WEIGHTS)


rates_over_time = st.lists(st.sampled_from([0.0, 30.0, 45.0, 80.0, 120.0, 260.0]), min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(rates_over_time)
def test_nobody_does_better_than_the_oracle_on_its_own_cost(rates):
    limit = oracle(rates)
    cost, schedule = followed(limit, rates)
    assert schedule == list(limit.schedule)
    assert cost == pytest.approx(limit.cost)
    learners = {"weights": WEIGHTS, "latency_bound_ms": BOUND_MS}
    others = [
        Hold(),
        Threshold(0.5),
        Predictive(WEIGHTS, BOUND_MS),
        Predictive(WEIGHTS, BOUND_MS, QUEUE),
        QLearning(**learners, exploration=0.3),
        ModelBased(**learners),
    ]
    for policy in others:
        assert followed(policy, rates)[0] >= limit.cost - 1e-9


def test_the_oracle_scales_before_the_peak_and_does_not_follow_what_is_over_soon():
    # One quick period costs 0.4 for being slow; going up and down again 0.4 for the changes, and the replica.
    assert oracle([40.0, 80.0, 40.0, 40.0]).schedule == (1, 1, 1, 1)
    assert oracle([40.0] * 2 + [80.0] * 9 + [40.0] * 9).schedule == (1,) * 2 + (2,) * 9 + (1,) * 9


def test_an_oracle_that_knows_what_changes_slow_down_makes_fewer_of_them():
    rates = [40.0] * 2 + [80.0] * 9 + [40.0] * 9 + [80.0] * 9
    assert len(set(pairwise(oracle(rates).schedule)) - {(1, 1), (2, 2)}) == 2
    assert replace(oracle(rates), slowed_by_a_change=5.0).schedule == (1,) * 2 + (2,) * 27


def test_where_changes_are_dear_the_forecast_is_calm():
    random = np.random.default_rng(3)
    rates = np.maximum(48.0 + 8.0 * random.standard_normal(400), 0.0).tolist()
    cheap, dear = (
        followed(Predictive(WEIGHTS, BOUND_MS, QUEUE, slowed_by_a_change=slowed), rates)[1] for slowed in (0.0, 5.0)
    )
    changes = [sum(one != other for one, other in pairwise(schedule)) for schedule in (cheap, dear)]
    assert 4 * changes[1] < changes[0]


def test_the_oracle_holds_before_and_after_its_trace():
    limit = oracle([80.0])
    assert limit.decide(view(0, 1, 80.0), None)[0].wanted == 2
    assert limit.decide(view(1, 1, 80.0), None)[0].wanted == 1
    later = replace(limit, start_seconds=60.0)
    assert [later.decide(view(step, 1, 80.0), None)[0].wanted for step in (1, 2, 3)] == [1, 2, 1]


def test_on_a_slow_wave_the_predictive_policy_is_near_the_oracle():
    rates = [160 + 120 * float(np.sin(2 * np.pi * step / 200)) for step in range(800)]
    predicted, _ = followed(Predictive(WEIGHTS, BOUND_MS, QUEUE), rates)
    assert predicted <= 1.15 * oracle(rates).cost
    assert predicted < followed(Threshold(0.5), rates)[0]


def test_a_rise_is_met_before_it_arrives():
    rates = [10.0 + 2.0 * step for step in range(60)]
    _, schedule = followed(Predictive(WEIGHTS, BOUND_MS, QUEUE), rates)
    scaled_out = schedule.index(2)
    assert rates[scaled_out] <= 52.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon_periods": 0},
        {"smoothing": 0.0},
        {"damping": 1.5},
        {"slowed_by_a_change": -1.0},
        {"latency_bound_ms": 0.0},
    ],
)
def test_predicting_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="need"):
        Predictive(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rates_tps": (float("nan"),)},
        {"rates_tps": (-1.0,)},
        {"rates_tps": (float("inf"),)},
        {"period_seconds": 0.0},
        {"slowed_by_a_change": -1.0},
        {"start_replicas": 2},
        {"min_replicas": 0},
    ],
)
def test_an_oracle_that_cannot_know_is_refused(wrong):
    with pytest.raises(ValueError, match=r"need|finite number"):
        Oracle(**wrong)


class TestPredictiveContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return Predictive(horizon_periods=4)


class TestOracleContract(OperatorPolicyContract):
    @pytest.fixture
    def policy(self):
        return oracle([10.0, 90.0, 300.0, 20.0], most=8)
