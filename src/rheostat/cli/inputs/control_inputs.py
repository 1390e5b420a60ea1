"""The control of a run, from its settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from rheostat.cli.inputs.control_set import tuned
from rheostat.cli.inputs.plan_inputs import planner_named
from rheostat.cli.output import Complaint, WrongUse, warn
from rheostat.control.history.journal import from_line
from rheostat.control.history.lessons import misfits
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import PLANNED, ControlSettings, averaging_over
from rheostat.control.setup.factory import Planning, has_local_managers
from rheostat.model.graph.application import Application
from rheostat.model.quality.objective import Bounds, EdrpObjective, Objective, OdpObjective
from rheostat.planning.contract.planner import Silent
from rheostat.planning.contract.problem import Limits
from rheostat.planning.exact.jit_warm_up import warm_up

NONE = "none"
LONGEST_DOWNTIME = 60.0
"""T_D,max in seconds: a change that pauses longer is not worth it, whatever it brings."""
SAMPLES_PER_PERIOD = 3.0
"""So often everything is measured between two decisions: one odd sample is then outvoted."""


@dataclass(frozen=True, slots=True)
class Steered:
    """The control of a run: its settings, its planner and what its policies begin with."""

    settings: ControlSettings
    planning: Planning | None = None
    objective_ms: float | None = None
    learned: tuple[Entry, ...] = ()
    """What managers begin with."""

    @property
    def is_on(self) -> bool:
        """Whether there are managers."""
        return self.settings.kind != NONE

    @property
    def sample_seconds(self) -> float:
        """Seconds between two measurements."""
        return min(5.0, self.settings.manager_period() / SAMPLES_PER_PERIOD)

    def facts(self) -> dict[str, str]:
        """The facts that the report names."""
        told = {"control": self.settings.kind, "policy": self.settings.policy_name(), "global": self.settings.granting}
        if self.settings.kind in PLANNED and self.planning is not None:
            told = {"control": self.settings.kind, "planner": type(self.planning.planner).__name__}
        return told if self.objective_ms is None else {**told, "objective_ms": f"{self.objective_ms:g}"}


@dataclass(frozen=True, slots=True)
class Wishes:
    """The settings of control as they were given."""

    control: str = NONE
    policy: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    granting: str = "all"
    granting_options: Mapping[str, Any] = field(default_factory=dict)
    objective_ms: float | None = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    period: float | None = None
    settle: float | None = None
    warm_up: float = 0.0
    planner: str | None = None
    objective: Objective | None = None
    dry_run: bool = False
    learned: Path | None = None
    tuning: Mapping[str, Any] = field(default_factory=dict)


def control_settings(wishes: Wishes, application: Application) -> ControlSettings:
    """The settings that these options describe; every mistake in them is told at once."""
    objective = wishes.objective_ms
    if objective is not None and not (isfinite(objective) and objective > 0):
        raise WrongUse(Complaint(f"--objective-ms: {objective} is not a finite number > 0", "write milliseconds > 0"))
    if strange := [name for name, value in wishes.bounds.items() if not isinstance(value, int | float)]:
        remedy = "write operator=milliseconds"
        raise WrongUse(*(Complaint(f"--bound: the bound of {name} is no number", remedy) for name in strange))
    settings = ControlSettings(
        wishes.control,
        wishes.policy,
        wishes.options,
        wishes.granting,
        wishes.granting_options,
        period_seconds=wishes.period,
        warm_up_seconds=wishes.warm_up,
        latency_bounds_ms=wishes.bounds,
        dry_run=wishes.dry_run,
        memory_every=10,
    )
    settings.check(application)
    period = settings.manager_period()
    settings = replace(
        settings,
        settle_seconds=period if wishes.settle is None else wishes.settle,
        averaging_seconds=min(settings.averaging_seconds, averaging_over(period)),
        region_period_seconds=min(settings.region_period_seconds, 2 * period),
    )
    settings = tuned(settings, wishes.tuning)
    settings.check(application)
    return settings


def steered(wishes: Wishes, application: Application) -> Steered:
    """The settings that these options describe, with a planner that is ready if one decides."""
    settings = control_settings(wishes, application)
    planning = None
    if settings.kind in PLANNED:
        # Else the first plan of a machine would take a minute, while the application runs.
        warm_up(PreparationLine())
        planning = Planning(
            planner_named(wishes.planner or "exact"),
            wishes.objective or _balanced(application, wishes.objective_ms),
            limits=Limits(max(1.0, settings.manager_period() / 3)),
        )
    lessons = lessons_from(wishes.learned, settings, application)
    return Steered(settings, planning, wishes.objective_ms, lessons)


def lessons_from(path: Path | None, settings: ControlSettings, application: Application) -> tuple[Entry, ...]:
    """What was learned in another run; everything that does not fit these settings is told at once."""
    if path is None:
        return ()
    remedy = "make it with rheostat simulate --save-learned, with the same --policy and --set"
    if not has_local_managers(settings):
        what = f"{settings.kind} with the policy {settings.policy_name()} does not learn"
        raise WrongUse(Complaint(f"--learned: {what}", "leave it out, or choose a policy that learns"))
    try:
        lessons = tuple(from_line(line) for line in path.read_text(encoding="utf-8").splitlines())
        wrong_ones = misfits(lessons, settings, application)
    except (OSError, ValueError, LookupError, TypeError) as wrong:
        raise WrongUse(Complaint(f"--learned: {path} cannot be read: {wrong}", remedy)) from wrong
    if wrong_ones:
        raise WrongUse(*(Complaint(f"--learned: {what}", remedy) for what in wrong_ones))
    return lessons


class PreparationLine(Silent):
    """Prints what is prepared before anything runs."""

    def prepares(self, what: str) -> None:
        """One line."""
        warn(f"the planner {what}")


def _balanced(application: Application, response_ms: float | None) -> Objective:
    """The objective of a run without one: the response time; with a bound for it, cost and downtime weigh as much."""
    if response_ms is None:
        return OdpObjective()
    most = sum(operator.cost_per_hour * operator.max_replicas for operator in application.operators)
    bounds = Bounds(response_time_ms=response_ms, cost_per_hour=most or 1.0, downtime_seconds=LONGEST_DOWNTIME)
    return EdrpObjective(1 / 3, 1 / 3, 1 / 3, bounds)
