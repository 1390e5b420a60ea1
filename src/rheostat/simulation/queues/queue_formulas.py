"""Formulas of queueing theory over arrays: sojourn time of a replica, and growth and drain of its queue.

Tuples wait for two reasons. Randomness: tuples come in bunches and some take longer than others. The stationary
formulas cover this; they hold within a fraction of a second unless a replica is almost saturated. And lack of capacity:
during a pause or an overload tuples pile up, and drain afterwards, which is plain book-keeping. The first is `sojourn`,
the second `backlogs`; a tuple's time is the sum of both. All times are seconds, rates tuples per second.
"""

from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def backlogs(start: Values, arrivals: Values, capacities: Values) -> Values:
    """Tuples waiting at the end of every step: q_t = max(q_{t-1} + a_t - c_t, 0), Lindley's recursion.

    Steps are along the last axis; `start` has one entry for each queue. Solved for all steps at once: with
    S_t = Σ_{s<=t} (a_s - c_s) it is q_t = S_t + max(q_0, max_{s<=t} -S_s).

    >>> backlogs(np.array([5.0]), np.array([[1.0, 1.0, 9.0]]), np.array([[4.0, 4.0, 4.0]])).tolist()
    [[2.0, 0.0, 5.0]]
    """
    drift = np.cumsum(arrivals - capacities, axis=-1)
    lowest = np.maximum.accumulate(-drift, axis=-1)
    # Where the queue runs empty the two terms cancel; a remainder from rounding is no tuple.
    waiting = drift + np.maximum(lowest, start[..., None])
    return np.where(waiting > 1e-9 * (1.0 + np.abs(drift)), waiting, 0.0)


def sojourn(load: Values, service_rate: Values, variability: Values) -> tuple[Values, Values]:
    """Mean and variance of the time in an M/G/1 queue, in seconds, by Pollaczek and Khinchine.

    E = 1/μ + λ (1 + C²) / (2 μ² (1 - ρ)), C² the squared coefficient of variation of the service time; with C² = 1 it
    is the 1 / (μ - λ) of an M/M/1 queue. The variance assumes an exponential waiting time of the tuples that wait,
    which is exact for M/M/1 and the usual approximation otherwise. Needs ρ < 1.
    """
    utilization = load / service_rate
    waiting = utilization * (1.0 + variability) / (2.0 * service_rate * (1.0 - utilization))
    # With probability ρ a tuple waits, for an exponential time of mean waiting/ρ.
    waiting_square = (1.0 + variability) * waiting / (service_rate * (1.0 - utilization))
    service_variance = variability / service_rate**2
    return waiting + 1.0 / service_rate, waiting_square - waiting**2 + service_variance


def burst_seconds(load: Values, service_rate: Values, period_seconds: Values, share: Values) -> Values:
    """Time a replica works on a burst, if a share of its load comes at once at the start of every period.

    The burst brings share λ T tuples; the others keep coming while it is served: T_b = share λ T / (μ - (1 - share) λ).
    A tuple of the burst waits for a part of T_b that is uniform from 0 to T_b. The average utilization shows nothing of
    it: this is what EDF's footnote 5 says of its ranking operators. Never longer than the period: what is not done by
    then is backlog.
    """
    spare = np.maximum(service_rate - (1.0 - share) * load, 1e-12)
    return np.asarray(np.minimum(share * load * period_seconds / spare, period_seconds))


def quantile(mean: float, variance: float, probability: float) -> float:
    """The quantile of a gamma distribution with this mean and variance, by Wilson and Hilferty.

    A sum of exponential times is a gamma distribution if they are alike, and near one if they are not.

    >>> round(quantile(1.0, 1.0, 0.95), 1), quantile(2.0, 0.0, 0.5)
    (3.0, 2.0)
    """
    ninth = max(variance, 0.0) / (9.0 * max(mean, 1e-12) ** 2)
    root = 1.0 - ninth + _normal_quantile(probability) * sqrt(ninth)
    return float(mean * max(root, 0.0) ** 3)


@cache
def _normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)
