"""The hour of EDRP 7.2: the source goes from 70 to 220 tuples/s and back, and every minute is planned anew."""

from dataclasses import dataclass, field
from functools import cached_property

from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact.exact import Exact
from rheostat.reference.ansnet import ansnet
from rheostat.reference.taxi import taxi

BOUNDS = Bounds(response_time_ms=175.0, cost_per_hour=30.0, downtime_seconds=7.5)
"""R_max, C_max, T_D,max [EDRP 7.2]."""
FIRST = (0.5, 0.5, 0.0)
"""The initial deployment ignores downtime and weighs response time and cost equally."""
MINUTES = 60
LEAST_TPS, PEAK_TPS = 70.0, 220.0
PINS = ("new-york", "los-angeles")
"""Of data source and globalRank. Assumed: the paper does not say where they are."""
LIMIT_SECONDS = 20.0
"""For one plan."""


def source_rate_tps(minute: float) -> float:
    """Up during the first half, down during the second.

    >>> [source_rate_tps(minute) for minute in (0, 15, 30, 60)]
    [70.0, 145.0, 220.0, 70.0]
    """
    half = MINUTES / 2
    return LEAST_TPS + (PEAK_TPS - LEAST_TPS) * (1 - abs(minute - half) / half)


@dataclass(frozen=True)
class Setting:
    """One way to spend the hour."""

    name: str
    weights: tuple[float, float, float]
    """w_r, w_c, w_d."""
    planner: Planner = field(default_factory=lambda: Exact(explains=False))
    pins: tuple[str, str] = PINS
    infrastructure: Infrastructure = field(default_factory=ansnet)
    every: int = 1
    """Minutes between two plans."""


@dataclass(frozen=True)
class Minute:
    """What ran in a minute, and what had to change for it."""

    minute: int
    outcome: Outcome
    deployment: Deployment
    response_time_ms: float
    cost_per_hour: float
    downtime_seconds: float
    changed: tuple[str, ...]
    """Operators that were deployed anew."""

    @property
    def replicated(self) -> tuple[str, ...]:
        """Operators with more than one replica."""
        return tuple(name for name, replicas in self.deployment.items() if len(replicas) > 1)


@dataclass(frozen=True)
class Hour:
    """All minutes of a setting."""

    setting: Setting
    minutes: tuple[Minute, ...]

    @cached_property
    def mean_response_time_ms(self) -> float:
        """Over all minutes."""
        return sum(m.response_time_ms for m in self.minutes) / len(self.minutes)

    @cached_property
    def mean_cost_per_hour(self) -> float:
        """Over all minutes."""
        return sum(m.cost_per_hour for m in self.minutes) / len(self.minutes)

    @cached_property
    def downtime_seconds(self) -> float:
        """In all."""
        return sum(m.downtime_seconds for m in self.minutes)

    @cached_property
    def reconfigurations(self) -> tuple[Minute, ...]:
        """Minutes in which something changed."""
        return tuple(m for m in self.minutes if m.changed)

    @cached_property
    def unproven(self) -> int:
        """Plans that were not proven in time."""
        return sum(m.outcome.status is not PlanStatus.OPTIMAL for m in self.minutes)

    def first_replicated(self) -> tuple[int, tuple[str, ...]] | None:
        """When an operator got a second replica for the first time, and which."""
        return next(((m.minute, m.replicated) for m in self.minutes if m.replicated), None)


def spent(setting: Setting) -> Hour:
    """Plans minute by minute; each plan knows what the one before has left."""
    minutes: list[Minute] = []
    current: Deployment | None = None
    for minute in range(0, MINUTES + 1, setting.every):
        application = taxi(source_rate_tps(minute), 2, pins=setting.pins)
        weights = FIRST if current is None else setting.weights
        objective = EdrpObjective(*weights, BOUNDS)
        problem = Problem(application, setting.infrastructure, objective, current, limits=Limits(LIMIT_SECONDS))
        # The first deployment is the same in all settings, whatever plans the others.
        outcome = (Exact(explains=False) if current is None else setting.planner).plan(problem)
        deployment = outcome.deployment or current
        if deployment is None:
            raise RuntimeError(f"no first deployment: {outcome.status}")
        evaluation = outcome.evaluation or problem.evaluated(deployment)
        changed = tuple(change.operator for change in evaluation.reconfiguration.changes)
        minutes.append(
            Minute(
                minute,
                outcome,
                deployment,
                evaluation.response_time_ms,
                evaluation.cost_per_hour,
                evaluation.downtime_seconds,
                changed,
            )
        )
        current = deployment
    return Hour(setting, tuple(minutes))
