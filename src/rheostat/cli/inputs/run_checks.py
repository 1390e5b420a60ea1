"""Checks of everything that a run was given, before anything is started: all mistakes at once."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.cli.inputs.application_loader import is_python
from rheostat.cli.inputs.document_inputs import find_sound, of_type
from rheostat.cli.inputs.given_settings import GivenSettings
from rheostat.cli.inputs.local_nodes import local_infrastructure
from rheostat.cli.inputs.run_inputs import RunFiles, RunRequest, find_wanted, read_profile
from rheostat.cli.inputs.spark_inputs import spark_settings
from rheostat.cli.output import Complaint, WrongUse
from rheostat.control.setup.control_settings import PLANNED
from rheostat.errors import InvalidDocument, InvalidModel
from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective
from rheostat.model.run_settings import NodeForm, RunSettings
from rheostat.runtime.spark.spark_settings import SparkSettings

if TYPE_CHECKING:
    from rheostat.cli.inputs.control_inputs import Wishes

NO_CONTROL = "none"
OF_CONTROL = (
    "policy", "set", "global", "global_set", "objective_ms", "bound", "period", "settle", "learned", "control_set",
    "dry_run",
)  # fmt: skip
"""Keys that say how managers decide."""


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run that can be started."""

    wanted: RunRequest
    spark: SparkSettings


def checked_run(given: GivenSettings) -> CheckedRun:
    """The run that the settings describe, or every complaint about them."""
    complaints = list(_contradictions(given.settings))
    wanted: RunRequest | None = None
    spark = SparkSettings()
    try:
        wanted = find_wanted(files_of(given))
    except WrongUse as error:
        complaints += error.complaints
    if wanted is not None:
        request = wanted
        complaints += _complaints(given, _checks(given.settings, request.application, request.infrastructure))
    if complaints or wanted is None:
        raise WrongUse(*(complaint for complaint in _all_located(given, complaints)))
    spark = _spark(given.settings, wanted.infrastructure)
    return CheckedRun(wanted, spark)


def complaints_about(given: GivenSettings) -> tuple[Complaint, ...]:
    """All mistakes of a run's document that show without running the user's code."""
    settings, files = given.settings, files_of(given)
    complaints = list(_contradictions(settings))
    documents: list[Any] = []
    options = [text for text in (files.infrastructure, files.deployment, files.objective) if text is not None]
    named = [] if is_python(files.application, files.root) else [files.application]
    try:
        documents += find_sound(named, ["application"], options)
    except WrongUse as error:
        complaints += error.complaints
    application, infrastructure = of_type(documents, Application), of_type(documents, Infrastructure)
    if application is not None:
        nodes = infrastructure or local_infrastructure(application, files.local_nodes)
        complaints += _complaints(given, _checks(settings, application, nodes))
    elif infrastructure is not None:
        nodes = infrastructure
        complaints += _complaints(given, [lambda: _spark(settings, nodes)])
    return tuple(_all_located(given, complaints))


def files_of(given: GivenSettings) -> RunFiles:
    """The arguments that name the parts of the run."""
    settings = given.settings
    return RunFiles(
        settings.application or "",
        settings.infrastructure,
        settings.deployment,
        settings.objective,
        settings.local_nodes or 1,
        given.root,
    )


def wishes_of(settings: RunSettings, objective: Objective | None) -> "Wishes":
    """The settings of control as `control_inputs` takes them."""
    # Planners and policies take a moment to load, for those who ask for control alone.
    inputs = importlib.import_module("rheostat.cli.inputs.control_inputs")
    found: Wishes = inputs.Wishes(
        settings.control or NO_CONTROL,
        settings.policy,
        settings.policy_settings,
        settings.global_policy or "all",
        settings.global_settings,
        settings.objective_ms,
        settings.bounds_ms,
        settings.period,
        settings.settle,
        planner=settings.planner,
        objective=objective,
        dry_run=settings.dry_run or False,
        learned=None if settings.learned is None else Path(settings.learned),
        tuning=settings.control_settings,
    )
    return found


def _contradictions(settings: RunSettings) -> Iterable[Complaint]:
    """Settings that need another one, or exclude it."""
    plans, control = settings.control in PLANNED, settings.control or NO_CONTROL
    if settings.planner is not None and settings.deployment is not None and not plans:
        yield Complaint("--planner and --deployment both say where operators run at first", "give one of them")
    if settings.objective is not None and settings.planner is None and not plans:
        yield Complaint("--objective requires --planner", "e.g. --planner exact")
    given = settings.given()
    for key in OF_CONTROL if control == NO_CONTROL else ():
        if given.get(key):
            yield Complaint(f"--{key.replace('_', '-')} requires --control", "e.g. --control edf")


def _checks(
    settings: RunSettings, application: Application, infrastructure: Infrastructure
) -> list[Callable[[], object]]:
    checks: list[Callable[[], object]] = [lambda: _spark(settings, infrastructure)]
    if settings.profile is not None:
        path = Path(settings.profile)
        checks.append(lambda: read_profile(path))
    if settings.control not in (None, NO_CONTROL):
        wishes = wishes_of(settings, None)
        inputs = importlib.import_module("rheostat.cli.inputs.control_inputs")

        def control() -> None:
            made = inputs.control_settings(wishes, application)
            inputs.lessons_from(wishes.learned, made, application)

        checks.append(control)
    return checks


def _spark(settings: RunSettings, infrastructure: Infrastructure) -> SparkSettings:
    is_shared = (settings.nodes or NodeForm.EMBEDDED) is NodeForm.EMBEDDED
    return spark_settings(settings.master, settings.spark, infrastructure, shared=is_shared)


def _complaints(given: GivenSettings, checks: Iterable[Callable[[], object]]) -> list[Complaint]:
    found: list[Complaint] = []
    for check in checks:
        try:
            check()
        except (WrongUse, InvalidModel, InvalidDocument) as error:
            found += given.complaints_of(error)
    return found


def _all_located(given: GivenSettings, complaints: Iterable[Complaint]) -> tuple[Complaint, ...]:
    return given.complaints_of(WrongUse(*complaints))
