"""The scenario of a simulation, from the arguments of `simulate` and `compare-policies`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.pairs import pairs_of, wrong_option
from rheostat.cli.output import Complaint, WrongUse
from rheostat.control.managers.initial_deployment import balanced, near_its_inputs
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.membership import kinds_of
from rheostat.model.network.resources import Infrastructure
from rheostat.simulation.load.city_days import city_days
from rheostat.simulation.load.rate_traces import read_trace
from rheostat.simulation.load.workload import CurveWorkload, Workload
from rheostat.simulation.queues.noise import Noise
from rheostat.simulation.queues.servers import Behaviour, Burst
from rheostat.simulation.studies.latency_curves import shared_bounds
from rheostat.simulation.world.node_supply import Supply
from rheostat.simulation.world.scenario import Scenario

KINDS = ("application", "infrastructure")
DAYS = "days"
"""The workload that is built in."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The behaviour of the simulated world, as the options give it."""

    workload: str = DAYS
    between: tuple[float, float] | None = None
    """Rates that the smallest and the largest of the workload become."""
    speed: float = 1.0
    """How much faster than recorded a trace is replayed."""
    hours: float = 1.0
    noise: float = 0.0
    measurement_noise: float = 0.0
    sample_seconds: float = 5.0
    bursts: Sequence[str] = ()
    """`operator=seconds`."""
    downtime: Downtime | None = None
    sync_seconds: float | None = None
    hop_ms: float = 0.0

    def __post_init__(self) -> None:
        """Rejects numbers out of range by the name of their option."""
        for name, least in (("noise", 0), ("measurement_noise", 0), ("sync_seconds", 0), ("hop_ms", 0)):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= least):
                raise wrong_option(name, f"{value} is not a finite number >= 0", "write a number >= 0")
        for name in ("hours", "speed", "sample_seconds"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise wrong_option(name, f"{value} is not a finite number > 0", "write a number > 0")

    @property
    def seconds(self) -> float:
        """The length of the run."""
        return 3600.0 * self.hours

    @property
    def model(self) -> DowntimeModel:
        """The downtime model of changes."""
        kind = FullRestart if self.downtime is Downtime.FULL_RESTART else PauseAndResume
        return kind() if self.sync_seconds is None else kind(self.sync_seconds)


def scenario_of(files: Sequence[str], deployment: str | None, conditions: Conditions, kind: str) -> Scenario:
    """The scenario these documents and conditions describe."""
    given = find_sound(files, KINDS, [] if deployment is None else [deployment])
    application, infrastructure = of_type(given, Application), of_type(given, Infrastructure)
    if application is None or infrastructure is None:
        raise WrongUse(Complaint("one document is missing", f"give one of each: {', '.join(KINDS)}"))
    if deployment is not None:
        placed = only(given[-1], Deployment, "deployment")
    elif kind == "e2df":
        placed = balanced(application, infrastructure)
    else:
        placed = near_its_inputs(application, infrastructure)
    return Scenario(
        application,
        infrastructure,
        placed,
        workload_of(conditions),
        downtime=conditions.model,
        behaviours=_bursts(application, conditions.bursts),
        noise=Noise(conditions.noise, 10.0, conditions.measurement_noise),
        supply=Supply(kinds_of(infrastructure)) if kind == "e2df" else Supply(),
        hop_ms=conditions.hop_ms,
        sample_seconds=conditions.sample_seconds,
    )


def workload_of(conditions: Conditions) -> Workload:
    """The workload that a text names: city days, a recording, or a curve."""
    text, between = conditions.workload, conditions.between
    if text == DAYS:
        low, high = between or (150.0, 500.0)
        days = max(1, round(conditions.hours / 24 * conditions.speed) + 1)
        try:
            return city_days(low, high, days=days, day_seconds=86_400.0 / conditions.speed)
        except ValueError as wrong:
            raise wrong_option("between", str(wrong)) from wrong
    if Path(text).suffix.lower() == ".csv" or Path(text).is_file():
        trace = read_trace(Path(text)).faster(conditions.speed)
        try:
            return trace if between is None else trace.scaled(*between)
        except ValueError as wrong:
            raise wrong_option("between", str(wrong)) from wrong
    if between is not None or conditions.speed != 1.0:
        raise WrongUse(Complaint("a curve says its own rates and times", "leave out --between and --speed"))
    try:
        return CurveWorkload.of(text)
    except ValueError as wrong:
        remedy = f"write {DAYS}, a CSV file, or a curve such as 'ramp 5 550 for 300'"
        raise WrongUse(Complaint(f"--workload: {wrong}", remedy)) from wrong


def with_bounds(
    settings: ControlSettings, scenario: Scenario, objective_ms: float | None, bounds: Sequence[str]
) -> ControlSettings:
    """The settings with R_max,op as given, else with every operator's share of the objective."""
    given = {name: _number("bound", value) for name, value in pairs_of("bound", bounds)}
    shared = {}
    if objective_ms is not None:
        if not (isfinite(objective_ms) and objective_ms > 0):
            raise wrong_option("objective_ms", f"{objective_ms} is not a finite number > 0", "write milliseconds > 0")
        shared = shared_bounds(scenario.application, scenario.behaviours, objective_ms)
    return replace(settings, latency_bounds_ms={**shared, **given})


def _bursts(application: Application, pairs: Sequence[str]) -> dict[str, Behaviour]:
    found = {}
    for name, text in pairs_of("burst", pairs):
        if name not in application.by_name:
            raise wrong_option("burst", f"there is no operator {name!r}", did_you_mean(name, application.by_name))
        seconds = _number("burst", text)
        if seconds <= 0:
            raise wrong_option("burst", f"{seconds:g} is not a period > 0", "write operator=seconds")
        found[name] = Behaviour(burst=Burst(seconds))
    return found


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise wrong_option(option, f"{text!r} is no number")
    return value
