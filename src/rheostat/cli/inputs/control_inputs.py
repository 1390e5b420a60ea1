"""Who steers a running application, and how? From the options of `rheostat run`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from rheostat.cli.inputs.control_set import tuned
from rheostat.cli.inputs.plan_inputs import planner_named
from rheostat.cli.inputs.simulate_inputs import options_of
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
from rheostat.planning.exact.jit_warm_up import made_ready

NONE = "none"
LONGEST_DOWNTIME = 60.0
"""T_D,max in seconds: a change that pauses longer is not worth it, whatever it brings."""
SAMPLES_PER_PERIOD = 3.0
"""So often everything is measured between two decisions: one odd sample is then outvoted."""


@dataclass(frozen=True, slots=True)
class Steered:
    """What `rheostat run` was told about control."""

    settings: ControlSettings
    planning: Planning | None = None
    objective_ms: float | None = None
    learned: tuple[Entry, ...] = ()
    """What managers begin with."""

    @property
    def is_on(self) -> bool:
        """Whether anybody decides anything."""
        return self.settings.kind != NONE

    @property
    def sample_seconds(self) -> float:
        """How often the application is measured."""
        return min(5.0, self.settings.manager_period() / SAMPLES_PER_PERIOD)

    def facts(self) -> dict[str, str]:
        """For the report."""
        told = {"control": self.settings.kind, "policy": self.settings.policy_name(), "global": self.settings.granting}
        if self.settings.kind in PLANNED and self.planning is not None:
            told = {"control": self.settings.kind, "planner": type(self.planning.planner).__name__}
        return told if self.objective_ms is None else {**told, "objective_ms": f"{self.objective_ms:g}"}


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options as they were given."""

    control: str = NONE
    policy: str | None = None
    options: Sequence[str] = ()
    granting: str = "all"
    granting_options: Sequence[str] = ()
    objective_ms: float | None = None
    bounds: Sequence[str] = ()
    period: float | None = None
    settle: float | None = None
    warm_up: float = 0.0
    planner: str | None = None
    objective: Objective | None = None
    dry_run: bool = False
    learned: Path | None = None
    tuning: Sequence[str] = ()


def steered(wishes: Wishes, application: Application) -> Steered:
    """The settings these options describe; whatever is wrong with them is told at once."""
    objective = wishes.objective_ms
    if objective is not None and not (isfinite(objective) and objective > 0):
        raise WrongUse(Complaint(f"--objective-ms: {objective} is not a finite number > 0", "write milliseconds > 0"))
    bounds = options_of("bound", wishes.bounds)
    settings = ControlSettings(
        wishes.control,
        wishes.policy,
        options_of("set", wishes.options),
        wishes.granting,
        options_of("global-set", wishes.granting_options),
        period_seconds=wishes.period,
        warm_up_seconds=wishes.warm_up,
        latency_bounds_ms=bounds,
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
    planning = None
    if settings.kind in PLANNED:
        # Else the first plan of a machine would take a minute, while the application runs.
        made_ready(PreparationLine())
        planning = Planning(
            planner_named(wishes.planner or "exact"),
            wishes.objective or _balanced(application, objective),
            limits=Limits(max(1.0, period / 3)),
        )
    return Steered(settings, planning, objective, lessons_from(wishes.learned, settings, application))


def lessons_from(path: Path | None, settings: ControlSettings, application: Application) -> tuple[Entry, ...]:
    """What was learned elsewhere; whatever does not fit these settings is told at once."""
    if path is None:
        return ()
    remedy = "make it with rheostat simulate --save-learned, with the same --policy and --set"
    if not has_local_managers(settings):
        what = f"nobody learns under {settings.kind}, {settings.policy_name()}"
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
    """Says what is prepared before anything runs."""

    def prepares(self, what: str) -> None:
        """One line."""
        warn(f"the planner {what}")


def _balanced(application: Application, response_ms: float | None) -> Objective:
    """What matters if nobody says it: the response time alone; with a bound for it, cost and downtime as much."""
    if response_ms is None:
        return OdpObjective()
    most = sum(operator.cost_per_hour * operator.max_replicas for operator in application.operators)
    bounds = Bounds(response_time_ms=response_ms, cost_per_hour=most or 1.0, downtime_seconds=LONGEST_DOWNTIME)
    return EdrpObjective(1 / 3, 1 / 3, 1 / 3, bounds)
