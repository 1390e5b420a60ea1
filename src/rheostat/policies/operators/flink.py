"""Formula of Apache Flink's autoscaler: capacity for the rate, the lag and the next restart.

Replicas are changed only outside of a band of utilization; downwards only after a delay, to the most that was
recommended in it, and never while a backlog is being worked off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar

from rheostat.policies.contract.policy import Proposal, hold
from rheostat.policies.contract.policy_views import ApplicationView, OperatorView, Plain
from rheostat.policies.operators.true_rate import distance, replicas_for, target_rates

Recommended = Mapping[str, tuple[tuple[float, int], ...]]
"""Scale-downs in their delay: per operator, times and recommended numbers of replicas."""


@dataclass(frozen=True, slots=True)
class Flink:
    """Flink's rule, with its default settings."""

    name: ClassVar[str] = "flink"

    utilization: float = 0.7
    """Target utilization of a replica."""
    boundary: float = 0.3
    """Distance of the utilization from the target up to which nothing changes."""
    restart_seconds: float = 300.0
    """Seconds for which a change stops the application."""
    catch_up_seconds: float = 1800.0
    """Seconds in which the backlog of a restart or a lag has to be worked off."""
    scale_down_delay_seconds: float = 3600.0
    max_scale_up_factor: float = 100_000.0
    """Greatest share of the replicas that a change adds."""
    max_scale_down_factor: float = 0.6
    """Greatest share of the replicas that a change removes."""
    lag_allowed_seconds: float = field(default=5.0)
    """Seconds of work up to which a backlog does not count as lag."""

    def __post_init__(self) -> None:
        """Rejects an empty band and invalid durations."""
        if not 0 < self.utilization <= 1 or not 0 <= self.boundary < self.utilization:
            raise ValueError(f"need 0 < utilization <= 1 and 0 <= boundary < utilization, got {self}")
        if not self.catch_up_seconds > 0 or min(self.restart_seconds, self.scale_down_delay_seconds) < 0:
            raise ValueError(f"need catch_up_seconds > 0 and no negative durations, got {self}")
        if not (self.max_scale_up_factor > 0 and 0 < self.max_scale_down_factor <= 1 and self.lag_allowed_seconds >= 0):
            raise ValueError(f"need factors > 0, scale-down at most 1, and an allowed lag >= 0, got {self}")

    def begin(self) -> Recommended:
        """No scale-down is in its delay."""
        return {}

    def decide_all(self, view: ApplicationView, memory: Recommended) -> tuple[dict[str, Proposal], Recommended]:
        """A proposal for every operator, from its own capacity and the rates that will arrive."""
        rates = target_rates(view)
        proposals: dict[str, Proposal] = {}
        waiting: dict[str, tuple[tuple[float, int], ...]] = {}
        for each in view.operators:
            rate, per_replica = rates[each.operator], each.true_rate_tps
            if rate is None or not per_replica:
                proposals[each.operator] = hold(each, "the rate of the sources or its own true rate is not known")
                continue
            proposals[each.operator], kept = self._proposal(each, rate, per_replica, memory.get(each.operator, ()))
            if kept:
                waiting[each.operator] = kept
        return proposals, waiting

    def _proposal(
        self, view: OperatorView, rate: float, per_replica: float, waiting: tuple[tuple[float, int], ...]
    ) -> tuple[Proposal, tuple[tuple[float, int], ...]]:
        lag = self._lag(view, per_replica)
        has = view.replicas * per_replica
        wanted = self.recommended(view, rate, lag, per_replica)
        least = capacity(rate, lag, self.catch_up_seconds, min(1.0, self.utilization + self.boundary))
        most = capacity(rate, lag, self.catch_up_seconds, self.utilization - self.boundary, self.restart_seconds)
        if has < least and wanted > view.replicas:
            reason = f"{has:g} tuples/s can be taken, {least:g} are needed"
            return Proposal(wanted, distance(view.replicas, wanted), reason), ()
        if has <= most or wanted >= view.replicas:
            return hold(view, f"{has:g} tuples/s can be taken, between {least:g} and {most:g}"), ()
        if lag > 0:
            return hold(view, f"a backlog of {view.backlog:g} tuples is being worked off"), ()
        return self._scale_down(view, wanted, waiting)

    def _scale_down(
        self, view: OperatorView, wanted: int, waiting: tuple[tuple[float, int], ...]
    ) -> tuple[Proposal, tuple[tuple[float, int], ...]]:
        seen = (*waiting, (view.at_seconds, wanted))
        waited = view.at_seconds - seen[0][0]
        if waited < self.scale_down_delay_seconds:
            left = self.scale_down_delay_seconds - waited
            return hold(view, f"{wanted} replicas would do, decided in {left:g} s"), seen
        most = view.within_bounds(max(count for _, count in seen))
        if most >= view.replicas:
            return hold(view, "more replicas were recommended while it waited"), seen[1:]
        reason = f"no more than {most} replicas were recommended for {waited:g} s"
        return Proposal(most, distance(view.replicas, most), reason), ()

    def _lag(self, view: OperatorView, per_replica: float) -> float:
        """The backlog, if it is more than the usual amount under way; else 0."""
        backlog = view.backlog or 0.0
        return backlog if backlog > self.lag_allowed_seconds * view.replicas * per_replica else 0.0

    def recommended(self, view: OperatorView, rate: float, lag: float, per_replica: float) -> int:
        """Replicas for the target utilization, within the factors and the bounds."""
        needed = capacity(rate, lag, self.catch_up_seconds, self.utilization, self.restart_seconds)
        least = replicas_for(view.replicas * (1 - self.max_scale_down_factor), 1.0)
        most = max(view.replicas + 1, int(min(1e9, view.replicas * (1 + self.max_scale_up_factor))))
        return view.within_bounds(max(least, min(most, replicas_for(needed, per_replica))))

    def saved(self, memory: Recommended) -> Plain:
        """The scale-downs in their delay as plain data."""
        return {operator: [list(pair) for pair in pairs] for operator, pairs in memory.items()}

    def loaded(self, plain: Any) -> Recommended:
        """The scale-downs in their delay from plain data."""
        return {operator: tuple((at, count) for at, count in pairs) for operator, pairs in plain.items()}


def capacity(
    rate_tps: float, lag: float, catch_up_seconds: float, utilization: float, restart_seconds: float = 0.0
) -> float:
    """LAG / CATCH_UP + RATE x RESTART / CATCH_UP + RATE / UTILIZATION, in tuples per second.

    Without `restart_seconds` it is what the operator needs as it runs; with it, what it needs after a change.
    """
    if utilization <= 0:
        return inf
    return lag / catch_up_seconds + rate_tps * restart_seconds / catch_up_seconds + rate_tps / utilization
