"""Formulas against an account of every single tuple."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation.events import gamma_services, poisson, times_in_queue

from rheostat.simulation.queues.queue_formulas import backlogs, burst_seconds, quantile, sojourn


def one(value):
    return np.array([float(value)])


@given(
    st.floats(0, 50),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=30),
)
def test_all_steps_at_once_are_the_recursion_step_by_step(start, steps):
    arrivals, capacities = (np.array([[pair[i] for pair in steps]]) for i in (0, 1))
    waiting, expected = start, []
    for arrived, able in steps:
        waiting = max(waiting + arrived - able, 0.0)
        expected.append(waiting)
    assert backlogs(one(start), arrivals, capacities)[0] == pytest.approx(expected, abs=1e-6)


def test_an_exponential_queue_is_one_by_mu_minus_lambda_with_its_square_as_variance():
    mean, variance = sojourn(one(70), one(284), one(1))
    assert mean[0] == pytest.approx(1 / (284 - 70))
    assert variance[0] == pytest.approx(1 / (284 - 70) ** 2)


@pytest.mark.parametrize("variability", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("utilization", [0.3, 0.7, 0.85])
def test_the_mean_time_is_that_of_single_tuples(utilization, variability):
    rng = np.random.default_rng(7)
    rate, count = 100.0, 150_000
    times = times_in_queue(poisson(rate * utilization, count, rng), gamma_services(rate, variability, count, rng))
    mean, variance = sojourn(one(rate * utilization), one(rate), one(variability))
    assert mean[0] == pytest.approx(times.mean(), rel=0.1)
    # Exact for exponential service, an approximation otherwise.
    assert variance[0] ** 0.5 == pytest.approx(times.std(), rel=0.12 if variability == 1 else 0.4)


def test_percentiles_of_queues_in_a_row_are_those_of_single_tuples():
    rng = np.random.default_rng(3)
    count, rates, load = 120_000, (100.0, 140.0, 110.0), 60.0
    moments, total = poisson(load, count, rng), np.zeros(count)
    for rate in rates:
        times = times_in_queue(moments, rng.exponential(1 / rate, count))
        moments, total = moments + times, total + times
    parts = [sojourn(one(load), one(rate), one(1)) for rate in rates]
    mean, variance = sum(m for m, _ in parts), sum(v for _, v in parts)
    for level in (0.5, 0.95, 0.99):
        assert quantile(mean[0], variance[0], level) == pytest.approx(np.quantile(total, level), rel=0.06)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_tuples_that_come_in_bursts_wait_for_each_other(share):
    """Half of what the burst takes on average, though the utilisation is that of a calm stream."""
    rng = np.random.default_rng(5)
    load, rate, period, rounds = 60.0, 100.0, 2.0, 400
    bursts = np.repeat(np.arange(rounds) * period, int(share * load * period))
    calm = poisson((1 - share) * load, int((1 - share) * load * period * rounds), rng) if share < 1 else np.empty(0)
    moments = np.concatenate([bursts, calm])
    order = np.argsort(moments, kind="stable")
    times = times_in_queue(moments[order], np.full(len(moments), 1 / rate))
    of_bursts = times[order < len(bursts)]
    longest = burst_seconds(one(load), one(rate), one(period), one(share))[0]
    # With others in between, a burst takes longer, and its tuples are mostly in front.
    assert of_bursts.mean() == pytest.approx(longest / 2, rel=0.05 if share == 1 else 0.35)


def test_a_burst_never_takes_longer_than_its_period():
    assert burst_seconds(one(500), one(100), one(2), one(1))[0] == 2


@given(st.floats(0.001, 10), st.floats(0, 10))
def test_a_higher_level_is_a_longer_time_and_no_spread_is_the_mean(mean, variance):
    levels = [quantile(mean, variance, level) for level in (0.5, 0.95, 0.99)]
    assert levels == sorted(levels)
    assert quantile(mean, 0.0, 0.95) == pytest.approx(mean)
