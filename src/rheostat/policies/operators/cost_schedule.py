"""Cheapest schedule of replica numbers over periods with known costs, by dynamic programming."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from rheostat.model.graph.latency import LatencyModel
from rheostat.policies.operators.learner import Table
from rheostat.policies.operators.period_cost import Weights

MOST_TPS = 1e12
"""A load beyond any real one."""
HALVINGS = 40
"""Number of halvings, after which the load is known to one part in 10¹²."""


def period_costs(
    rates_tps: Sequence[float], latency: LatencyModel, bound_ms: float, weights: Weights, max_replicas: int
) -> Table:
    """Cost of every period with 1, 2, ... replicas, without that of a change: [period, replicas - 1].

    These are the terms of EDF's cost (1) that depend on rate and replicas.
    """
    counts = range(1, max_replicas + 1)
    slow = [[latency.latency_ms(rate / count) > bound_ms for count in counts] for rate in rates_tps]
    shares = np.array([weights.resources * count / max_replicas for count in counts])
    return np.asarray(weights.performance * np.array(slow, dtype=float).reshape(-1, max_replicas) + shares)


def expected_costs(
    rates_tps: Sequence[float], deviation_tps: float, quick_tps: float, weights: Weights, max_replicas: int
) -> Table:
    """Expected costs if rates are forecast with an error: a violation counts by its probability.

    A replica keeps the bound up to `quick_tps`; rates are normally distributed around the forecast.
    """
    counts = np.arange(1, max_replicas + 1)
    shares = weights.resources * counts / max_replicas
    above = np.asarray(rates_tps)[:, None] - quick_tps * counts
    slow = ndtr(above / deviation_tps) if deviation_tps > 0 else above > 0
    return np.asarray(weights.performance * slow + shares)


def load_within_bound(latency: LatencyModel, bound_ms: float) -> float:
    """The greatest load of a replica at which it keeps the bound, by bisection; 0 if it never does."""
    low, high = 0.0, 1.0
    while latency.latency_ms(high) <= bound_ms and high < MOST_TPS:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if latency.latency_ms(middle) <= bound_ms else (low, middle)
    return low


def least_cost_schedule(costs: Table, change_cost: float, start: int) -> tuple[list[int], float]:
    """Cheapest replicas for every period and their total cost, with `start` replicas before the first.

    Backwards: V_t(k) is the least that periods t, t+1, ... can cost after k replicas in the period before. As every
    change costs the same, it is the cheaper of staying and of a change to the best number, so that a period examines
    each number of replicas once. Staying wins a tie. Numbers that are not allowed cost inf.
    """
    periods, most = costs.shape
    following = np.zeros(most)
    reached = np.empty_like(costs)
    for period in range(periods - 1, -1, -1):
        reached[period] = costs[period] + following
        following = np.minimum(reached[period], reached[period].min() + change_cost)
    schedule, now = [], start
    for period in range(periods):
        best = int(reached[period].argmin()) + 1
        if reached[period][now - 1] > reached[period][best - 1] + change_cost:
            now = best
        schedule.append(now)
    return schedule, float(following[start - 1]) if periods else 0.0


def schedule_cost(costs: Table, change_cost: float, start: int, schedule: Sequence[int]) -> float:
    """Cost of a given schedule: the sum of EDF's (1) over its periods."""
    before = [start, *schedule[:-1]]
    changes = sum(one != other for one, other in zip(before, schedule, strict=True))
    return float(sum(costs[period, count - 1] for period, count in enumerate(schedule)) + change_cost * changes)
