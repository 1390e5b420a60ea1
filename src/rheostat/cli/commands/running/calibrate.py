"""`rheostat calibrate`: the service rates and latencies of operators under several loads."""

import importlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.inputs.run_inputs import BASE, RunFiles, default_directory, find_wanted, first_deployment
from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json, page, say
from rheostat.cli.views.tables import plain_table
from rheostat.control.knowledge.profile import Profile
from rheostat.model.graph.application import Application, Kind
from rheostat.model.run_settings import NodeForm

app = typer.Typer(add_completion=False)
CURVE = "curve"
"""The parameter by which a source is told its rate."""


@app.command()
def calibrate(
    application: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="A document, or package.module:application in Python.")
    ],
    infrastructure: Annotated[str, typer.Argument(metavar="INFRASTRUCTURE", help="A document with the nodes.")],
    *,
    loads: Annotated[str, typer.Option(help="Tuples per second of the sources, one after the other.")] = "10,20,40",
    seconds: Annotated[float, typer.Option(min=1, help="How long each of them.")] = 30.0,
    deployment: Annotated[
        str | None, typer.Option(help="A document: the deployment; else one replica of each.")
    ] = None,
    objective_ms: Annotated[
        float | None, typer.Option(help="R_max: the response time that is shared out among operators.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The profile to write; one that is there is added to.")] = Path(
        "profile.json"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object at the end instead of text.")] = False,
) -> None:
    """Run an application under several loads, and save the profile of its operators.

    Per operator: what one replica can process, and its latency as a function of the load, by least squares. `rheostat
    run --profile` plans with it. The sources must take their rate as a parameter called `curve`.
    """
    wanted = find_wanted(RunFiles(application, infrastructure, deployment))
    stepped = replace(wanted, application=with_loads(wanted.application, _loads(loads), seconds))
    running = importlib.import_module("rheostat.cli.session.run_loop")
    directory = BASE / f"{default_directory(wanted.application).name}-calibration"
    shutil.rmtree(directory, ignore_errors=True)
    order = running.Order(
        stepped,
        wanted.deployment or first_deployment(wanted),
        directory.absolute(),
        NodeForm.EMBEDDED,
        seconds=seconds * len(_loads(loads)),
        aside=as_json,
        profile=Profile.load(out),
    )
    fine = running.carry_out(order)
    profile = Profile.load(directory / "profile.json")
    profile.save(out)
    _tell(profile, objective_ms, out, as_json=as_json)
    raise typer.Exit(ExitCode.FINE if fine else ExitCode.NO)


def with_loads(application: Application, loads: list[float], seconds: float) -> Application:
    """The application with sources that bring these rates, one after the other."""
    curve = "; ".join(f"{load:g} for {seconds:g}" for load in loads)
    operators, fixed = [], []
    for operator in application.operators:
        parameters = dict(operator.parameters)
        if operator.kind is Kind.SOURCE and CURVE not in parameters:
            fixed.append(operator.name)
        if operator.kind is Kind.SOURCE:
            told = {**{name: value for name, value in parameters.items() if name != "total"}, CURVE: curve}
            operators.append(replace(operator, parameters=tuple(told.items())))
        else:
            operators.append(operator)
    if fixed:
        what = f"the rate of {', '.join(fixed)} cannot be set: it has no parameter {CURVE!r}"
        raise WrongUse(Complaint(what, "run it under its own loads instead: every run keeps a profile.json"))
    return replace(application, operators=tuple(operators))


def _loads(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError as wrong:
        raise WrongUse(Complaint(f"--loads: {text!r} is no list of numbers", "write 10,20,40")) from wrong
    if not found or any(not 0 < load < float("inf") for load in found):
        raise WrongUse(Complaint(f"--loads: {text!r} has loads that are not > 0", "write 10,20,40"))
    return found


def _tell(profile: Profile, objective_ms: float | None, out: Path, *, as_json: bool) -> None:
    bounds = {} if objective_ms is None else profile.bounds_ms(objective_ms)
    if as_json:
        answer_json(ok=True, profile=str(out), bounds_ms=bounds, **profile.to_plain())
        return
    table = plain_table("operator", "tuples/s", "latency", "± ms", "points", "R_max,op ms", right=("tuples/s", "± ms"))
    for name, known in sorted(profile.operators.items()):
        fit = known.fit()
        rate = "-" if known.true_rate_tps is None else f"{known.true_rate_tps:.1f}"
        told = ("-", "-") if fit is None else (str(fit.model), f"{fit.error_ms:.0f}")
        table.add_row(name, rate, *told, str(len(known.points)), f"{bounds[name]:.0f}" if name in bounds else "-")
    page().print(table)
    if profile.hop_ms is not None:
        say(f"a hop between two queries takes {profile.hop_ms:.0f} ms")
    say(f"written: {out}")
