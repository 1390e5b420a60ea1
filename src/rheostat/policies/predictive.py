"""What will be the cheapest for the near future? Forecasts the rate, plans the replicas for it, takes the first step.

It minimises the same cost as the learners of EDF, over a horizon in which a reconfiguration can pay for itself; what it
plans beyond the first step is thrown away, and planned again with what was seen since.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rheostat.model.latency import MM1, LatencyModel
from rheostat.policies.costs import Weights
from rheostat.policies.forecast import Trend
from rheostat.policies.policy import Proposal, hold
from rheostat.policies.schedule import least_cost_schedule, period_costs, schedule_cost
from rheostat.policies.views import OperatorView, Plain


@dataclass(frozen=True, slots=True)
class Predictive:
    """Receding-horizon control of one operator."""

    name: ClassVar[str] = "predictive"

    weights: Weights = Weights()
    latency_bound_ms: float = 250.0
    """R_max,op."""
    latency: LatencyModel | None = None
    """R(load of a replica), where it was calibrated; None: an M/M/1 queue with the measured true rate."""
    horizon_periods: int = 20
    """How far it looks: a change must pay for itself within these periods."""
    smoothing: float = 0.3
    """How quickly the level follows the rate."""
    trend_smoothing: float = 0.1
    """How quickly the slope follows the level."""
    damping: float = 0.9
    """What is left of a trend after a period."""
    margin: float = 1.0
    """How many mean errors above the forecast to plan for."""

    def __post_init__(self) -> None:
        """Refuses settings that look nowhere."""
        if not self.latency_bound_ms > 0 or self.horizon_periods < 1 or not self.margin >= 0:
            raise ValueError(f"need latency_bound_ms > 0, horizon_periods >= 1 and margin >= 0, got {self}")
        if not (0 < self.smoothing <= 1 and 0 < self.trend_smoothing <= 1 and 0 <= self.damping <= 1):
            raise ValueError(f"need 0 < smoothing <= 1, 0 < trend_smoothing <= 1, 0 <= damping <= 1, got {self}")

    def begin(self) -> Trend | None:
        """Nothing was seen."""
        return None

    def decide(self, view: OperatorView, memory: Trend | None) -> tuple[Proposal, Trend | None]:
        """The first step of the cheapest plan for the forecast."""
        rate = view.input_rate_tps
        if rate is None:
            return hold(view, "the rate is not known"), memory
        trend = Trend(rate) if memory is None else memory.after(rate, self.smoothing, self.trend_smoothing)
        latency = self._latency(view)
        if latency is None:
            return hold(view, "neither a latency model nor the true rate is known"), trend
        forecast = trend.ahead(self.horizon_periods, self.margin, self.damping)
        return self._proposal(view, latency, forecast), trend

    def _latency(self, view: OperatorView) -> LatencyModel | None:
        if self.latency is not None:
            return self.latency
        return MM1(view.true_rate_tps) if view.true_rate_tps else None

    def _proposal(self, view: OperatorView, latency: LatencyModel, forecast: list[float]) -> Proposal:
        most = max(view.max_replicas, view.replicas)
        costs = period_costs(forecast, latency, self.latency_bound_ms, self.weights, most)
        staying = schedule_cost(costs, 0.0, view.replicas, [view.replicas] * len(forecast))
        allowed = np.full(most, np.inf)
        allowed[view.min_replicas - 1 : view.max_replicas] = 0.0
        # Staying is always possible, even if the bounds were moved.
        allowed[view.replicas - 1] = 0.0
        plan, cost = least_cost_schedule(costs + allowed, self.weights.reconfiguration, view.replicas)
        told = f"{forecast[0]:.0f} tuples/s are expected next, {forecast[-1]:.0f} at the end of the horizon"
        if plan[0] == view.replicas:
            return hold(view, told)
        return Proposal(plan[0], min(1.0, max(0.0, 1 - cost / staying)), f"{told}; saves {staying - cost:.3g}")

    def saved(self, memory: Trend | None) -> Plain:
        """Where the rate is and where it is heading."""
        return None if memory is None else [memory.level, memory.slope, memory.error]

    def loaded(self, plain: Any) -> Trend | None:
        """What was saved."""
        return None if plain is None else Trend(*plain)
