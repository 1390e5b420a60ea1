"""Predictive policy: forecasts the rate, plans the cheapest replicas for the near future, takes the first step.

It minimises the same cost as the learners of EDF, over a horizon in which a reconfiguration can pay for itself. A rate
is forecast with an error, and a violation counts by its probability; a change counts with the whole time for which it
slows tuples down. The plan beyond the first step is discarded, and made again with the next view.

How quickly the forecast follows the rate is a matter of the same price: a change of the rate that is over before one
replica fewer has paid for the reconfiguration is averaged out. So the dearer changes are, the calmer the forecast is.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np

from rheostat.model.graph.latency import MM1, LatencyModel
from rheostat.policies.contract.policy import Proposal, hold
from rheostat.policies.contract.policy_views import OperatorView, Plain, plain_fields
from rheostat.policies.operators.cost_schedule import (
    expected_costs,
    least_cost_schedule,
    load_within_bound,
    schedule_cost,
)
from rheostat.policies.operators.forecast import Trend
from rheostat.policies.operators.period_cost import Weights, change_price

FARTHEST_PERIODS = 240
"""Greatest forecast horizon."""


@dataclass(frozen=True, slots=True)
class Predictive:
    """Receding-horizon control of one operator."""

    name: ClassVar[str] = "predictive"

    weights: Weights = Weights()
    latency_bound_ms: float = 250.0
    """R_max,op."""
    latency: LatencyModel | None = None
    """R(load of a replica), if it was calibrated; None: an M/M/1 queue with the measured true rate."""
    slowed_by_a_change: float = 1.0
    """Periods times operators that are too slow because of a change: only its own, or all if everything restarts."""
    horizon_periods: int = 20
    """Least horizon; longer where one replica fewer needs longer to pay for a change."""
    smoothing: float | None = None
    """Weight of a new rate in the level; None: an average over the periods in which a change pays for itself."""
    trend_smoothing: float = 0.1
    """Weight of the level's change in the slope."""
    damping: float = 0.9
    """Share of a trend that is left after a period."""

    def __post_init__(self) -> None:
        """Rejects settings without a horizon or a valid smoothing."""
        if not self.latency_bound_ms > 0 or self.horizon_periods < 1 or not self.slowed_by_a_change >= 0:
            raise ValueError(f"need latency_bound_ms > 0, horizon_periods >= 1, slowed_by_a_change >= 0, got {self}")
        smoothing = 1.0 if self.smoothing is None else self.smoothing
        if not (0 < smoothing <= 1 and 0 < self.trend_smoothing <= 1 and 0 <= self.damping <= 1):
            raise ValueError(f"need 0 < smoothing <= 1, 0 < trend_smoothing <= 1, 0 <= damping <= 1, got {self}")

    def begin(self) -> Trend | None:
        """No trend before the first rate."""
        return None

    def decide(self, view: OperatorView, memory: Trend | None) -> tuple[Proposal, Trend | None]:
        """Proposes the first step of the cheapest plan for the forecast."""
        rate = view.input_rate_tps
        if rate is None:
            return hold(view, "the rate is not known"), memory
        smoothing = self.smoothing or 2 / (1 + self._pays_after(view))
        trend = Trend(rate) if memory is None else memory.after(rate, smoothing, self.trend_smoothing)
        latency = self._latency(view)
        if latency is None:
            return hold(view, "neither a latency model nor the true rate is known"), trend
        return self._proposal(view, latency, trend), trend

    def _latency(self, view: OperatorView) -> LatencyModel | None:
        if self.latency is not None:
            return self.latency
        return MM1(view.true_rate_tps) if view.true_rate_tps else None

    def _pays_after(self, view: OperatorView) -> int:
        """Periods after which one replica fewer has paid for the change, at least one."""
        price = change_price(self.weights, self.slowed_by_a_change)
        saved = self.weights.resources / max(view.max_replicas, view.replicas)
        return max(1, min(ceil(price / saved), FARTHEST_PERIODS)) if saved > 0 else FARTHEST_PERIODS

    def _proposal(self, view: OperatorView, latency: LatencyModel, trend: Trend) -> Proposal:
        most = max(view.max_replicas, view.replicas)
        # Twice the time in which one replica fewer pays for the change, so that the change can be worth it.
        horizon = min(max(self.horizon_periods, 2 * self._pays_after(view)), FARTHEST_PERIODS)
        forecast = trend.ahead(horizon, self.damping)
        quick = load_within_bound(latency, self.latency_bound_ms)
        costs = expected_costs(forecast, trend.deviation, quick, self.weights, most)
        staying = schedule_cost(costs, 0.0, view.replicas, [view.replicas] * len(forecast))
        allowed = np.full(most, np.inf)
        allowed[view.min_replicas - 1 : view.max_replicas] = 0.0
        # Staying is always possible, even if the bounds have changed.
        allowed[view.replicas - 1] = 0.0
        price = change_price(self.weights, self.slowed_by_a_change)
        plan, cost = least_cost_schedule(costs + allowed, price, view.replicas)
        told = (
            f"{forecast[0]:.0f} ± {trend.deviation:.0f} tuples/s are expected next, "
            f"{forecast[-1]:.0f} at the end of the horizon"
        )
        if plan[0] == view.replicas:
            return hold(view, told)
        return Proposal(plan[0], min(1.0, max(0.0, 1 - cost / staying)), f"{told}; saves {staying - cost:.3g}")

    def saved(self, memory: Trend | None) -> Plain:
        """The trend as plain data."""
        return None if memory is None else plain_fields(memory)

    def loaded(self, plain: Any) -> Trend | None:
        """The trend from plain data."""
        return None if plain is None else Trend(**plain)
