"""Oracle policy with knowledge of the future rate: the limit that every policy is measured against.

It is given the whole trace, finds the schedule of least cost once, by dynamic programming, and then follows it.
"""

from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import ClassVar

import numpy as np

from rheostat.model.graph.latency import MM1, LatencyModel
from rheostat.policies.contract.policy import Proposal, WithoutMemory, hold
from rheostat.policies.contract.policy_views import OperatorView
from rheostat.policies.operators.cost_schedule import least_cost_schedule, period_costs
from rheostat.policies.operators.period_cost import Weights, change_price


@dataclass(frozen=True)
class Oracle(WithoutMemory):
    """Policy that knows the rate of one operator in every future period."""

    name: ClassVar[str] = "oracle"

    rates_tps: tuple[float, ...] = ()
    """Mean rate in period 0, 1, ...; after the last one the policy holds."""
    period_seconds: float = 30.0
    """Period 0 begins at `start_seconds`."""
    start_seconds: float = 0.0
    start_replicas: int = 1
    """Replicas before period 0."""
    min_replicas: int = 1
    max_replicas: int = 1
    latency: LatencyModel = MM1(1.0)
    """R(load of a replica)."""
    latency_bound_ms: float = 250.0
    """R_max,op."""
    weights: Weights = Weights()
    slowed_by_a_change: float = 0.0
    """Periods times operators that are too slow because of a change; 0: changes take no time."""

    def __post_init__(self) -> None:
        """Rejects bounds that exclude the start, and a trace with invalid rates."""
        if not 1 <= self.min_replicas <= self.start_replicas <= self.max_replicas:
            raise ValueError(f"need 1 <= min_replicas <= start_replicas <= max_replicas, got {self}")
        if not (self.period_seconds > 0 and self.latency_bound_ms > 0 and self.slowed_by_a_change >= 0):
            raise ValueError(f"need period_seconds > 0, latency_bound_ms > 0, slowed_by_a_change >= 0, got {self}")
        if wrong := [rate for rate in self.rates_tps if not 0 <= rate < float("inf")]:
            raise ValueError(f"a rate is a finite number >= 0, got {wrong[0]}")

    @cached_property
    def _planned(self) -> tuple[list[int], float]:
        costs = period_costs(self.rates_tps, self.latency, self.latency_bound_ms, self.weights, self.max_replicas)
        costs[:, : self.min_replicas - 1] = np.inf
        return least_cost_schedule(costs, change_price(self.weights, self.slowed_by_a_change), self.start_replicas)

    @property
    def schedule(self) -> tuple[int, ...]:
        """Number of replicas in every period."""
        return tuple(self._planned[0])

    @property
    def cost(self) -> float:
        """Least possible cost of the whole trace: the sum of EDF's (1) over its periods."""
        return self._planned[1]

    def decide(self, view: OperatorView, memory: None) -> tuple[Proposal, None]:
        """The replicas that the schedule gives for the period that begins now."""
        period = floor((view.at_seconds - self.start_seconds) / self.period_seconds + 1e-9)
        if view.input_rate_tps is None:
            return hold(view, "the operator is not seen: it may not be running"), memory
        if not 0 <= period < len(self.rates_tps):
            return hold(view, "the trace does not cover this period"), memory
        wanted = view.within_bounds(self.schedule[period])
        if wanted == view.replicas:
            return hold(view, f"{wanted} replicas are best in period {period}"), memory
        return Proposal(wanted, 1.0, f"{self.rates_tps[period]:g} tuples/s will come in period {period}"), memory
