"""The running application that the user means, and the outcome of a change."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.inputs.run_inputs import BASE
from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json, say, warn
from rheostat.control.loop.effects import effect_parts
from rheostat.control.loop.ports import Done, Effect
from rheostat.controller.controller_client import RunningApplication
from rheostat.model.documents import read_application, read_infrastructure
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure

Directory = Annotated[
    Path | None, typer.Option(help="Directory of the application; not needed if only one runs below .rheostat/.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


def find_running(directory: Path | None) -> RunningApplication:
    """The application in a directory, else the only one that runs below `.rheostat/`."""
    if directory is not None:
        return RunningApplication(directory)
    candidates = [RunningApplication(path.parent) for path in sorted(BASE.glob("*/controller.json"))]
    found = [one for one in candidates if one.answers()]
    if len(found) == 1:
        return found[0]
    if not found:
        raise WrongUse(Complaint(f"no application runs below {BASE}/", "start one with rheostat run, or --directory"))
    several = ", ".join(str(one.directory) for one in found)
    raise WrongUse(Complaint(f"several applications run: {several}", "say which with --directory"))


def find_directory(directory: Path | None) -> Path:
    """The directory of a run, running or not: the one given, else the only one below `.rheostat/`."""
    if directory is not None:
        if not (directory / "journal.db").exists():
            raise WrongUse(Complaint(f"nothing was run in {directory}", "give the --directory of a run"))
        return directory
    found = sorted(path.parent for path in BASE.glob("*/journal.db"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise WrongUse(Complaint(f"nothing was run below {BASE}/", "start something with rheostat run, or --directory"))
    several = ", ".join(str(path) for path in found)
    raise WrongUse(Complaint(f"there are several runs: {several}", "say which with --directory"))


def documents_of(directory: Path) -> tuple[Application, Infrastructure]:
    """The application and nodes of a run, as `rheostat run` wrote them."""
    return read_application(directory / "application.yaml"), read_infrastructure(directory / "infrastructure.yaml")


def current_deployment(status: dict[str, Any]) -> Deployment:
    """The deployment in a status."""
    return Deployment.of(status["deployment"])


def unknown_operators(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """A reason for each name that is not an operator."""
    there = list(known)
    return [f"there is no operator {name!r}; {did_you_mean(name, there)}" for name in names if name not in there]


def ask(running: RunningApplication, wanted: Deployment, current: Deployment, *, as_json: bool) -> None:
    """Asks for the change and prints its outcome."""
    same = wanted.placed == current.placed
    effect = Done(0.0) if same else running.change(wanted, current)
    what = str(Reconfiguration.between(current, wanted)) if set(wanted) == set(current) else "a change"
    answer(effect, what, as_json=as_json)


def answer(effect: Effect, what: str, *, as_json: bool) -> None:
    """Prints the outcome of a change; exit code 0 if it took place, else 1."""
    parts, done = effect_parts(effect), isinstance(effect, Done)
    seconds = round(parts.downtime_seconds, 3)
    if as_json:
        body = {"effect": parts.outcome, "change": what, "paused_seconds": seconds}
        answer_json(ok=done, **body, mistakes=[Complaint(reason) for reason in parts.reasons])
    elif done:
        say(*(f"done: {one}" for one in what.split("; ")))
        if seconds:
            say(f"paused for {seconds:.2f} s")
    else:
        warn(*(f"{parts.outcome}: {reason}" for reason in parts.reasons))
    raise typer.Exit(ExitCode.FINE if done else ExitCode.NO)
