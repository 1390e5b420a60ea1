"""The problem and the planner, from the arguments of `plan`, `compare` and `run`."""

from dataclasses import dataclass
from math import inf, isfinite

from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.output import Complaint, WrongUse
from rheostat.cli.views.plan_progress import Watching
from rheostat.cli.views.plan_view import measure_of
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective, OdpObjective
from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.planner import SILENT, Planner, Progress, Unsuited
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.planner_registry import PLANNERS

KINDS = ("application", "infrastructure")
NAMES = ", ".join(PLANNERS)
"""For the help."""


@dataclass(frozen=True, slots=True)
class Files:
    """Documents, or names of the library."""

    application: str
    infrastructure: str
    objective: str | None = None
    current: str | None = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """Parameters of the problem, and limits of the search."""

    downtime: Downtime | None = None
    sync_seconds: float | None = None
    hop_ms: float = 0.0
    rate: float | None = None
    time_limit: float | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        """Rejects numbers below 0 by the name of their option."""
        options = ("sync_seconds", "hop_ms", "rate", "time_limit", "gap")
        for name in options:
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0):
                option = f"--{name.replace('_', '-')}"
                raise WrongUse(Complaint(f"{option} {value} is not a finite number >= 0", "write a number >= 0"))

    @property
    def model(self) -> DowntimeModel:
        """The downtime model of changes."""
        kind = FullRestart if self.downtime is Downtime.FULL_RESTART else PauseAndResume
        return kind() if self.sync_seconds is None else kind(self.sync_seconds)


def problem_of(files: Files, numbers: Numbers) -> Problem:
    """The problem with its normalisers fixed, so that the answers of several planners can be compared."""
    if files.current is None and (numbers.downtime is not None or numbers.sync_seconds is not None):
        raise WrongUse(Complaint("a downtime is the cost of a change", "add --current FILE, what runs now"))
    options = [argument for argument in (files.current, files.objective) if argument is not None]
    given = find_sound([files.application, files.infrastructure], KINDS, options)
    application, infrastructure = of_type(given, Application), of_type(given, Infrastructure)
    if application is None or infrastructure is None:
        raise WrongUse(Complaint("one document is missing", f"give one of each: {', '.join(KINDS)}"))
    current = None if files.current is None else only(given[2], Deployment, "deployment")
    wanted = OdpObjective() if files.objective is None else only(given[-1], Objective, "objective")
    if numbers.rate is not None:
        application = application.with_source_rate(numbers.rate)
    limits = Limits(inf if numbers.time_limit is None else numbers.time_limit, numbers.gap)
    return normalised(
        Problem(application, infrastructure, wanted, current, numbers.model, numbers.hop_ms, limits=limits)
    )


def planner_named(name: str) -> Planner:
    """A planner of the registry; WrongUse with a suggestion if there is none of this name."""
    if name not in PLANNERS:
        raise WrongUse(Complaint(f"there is no planner {name!r}", did_you_mean(name, PLANNERS)))
    return PLANNERS[name].planner


def outcome_of(name: str, problem: Problem, progress: Progress = SILENT) -> Outcome:
    """A planner's answer; WrongUse if the planner does not suit the problem."""
    try:
        return planner_named(name).plan(problem, progress)
    except Unsuited as refusal:
        raise WrongUse(Complaint(f"the planner {name} cannot be asked this: {refusal}", "ask exact")) from refusal


def first_problem(application: Application, infrastructure: Infrastructure, objective: Objective | None) -> Problem:
    """The problem of the first deployment; without an objective the least response time."""
    return normalised(Problem(application, infrastructure, objective or OdpObjective()))


def planned_deployment(problem: Problem, name: str) -> Deployment:
    """The first deployment by a planner."""
    with Watching(f"{name} plans", measure_of(problem)) as progress:
        outcome = outcome_of(name, problem, progress)
    if outcome.deployment is None:
        remedy = "give --deployment, or nodes with more capacity"
        raise WrongUse(*(Complaint(f"{name} finds no deployment: {why}", remedy) for why in why_none(outcome)))
    return outcome.deployment


def why_none(outcome: Outcome) -> tuple[str, ...]:
    """The reasons for having no deployment; at least the status."""
    return outcome.conflict or (str(outcome.status),)
