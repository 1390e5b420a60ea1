"""`rheostat evaluate`: the quality of a deployment, and the cost of changing to it."""

from math import isfinite
from typing import Annotated

import typer

from rheostat.cli.inputs.document_inputs import find_sound, of_type, only
from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json
from rheostat.cli.views.evaluation_view import print_report, report_json
from rheostat.cli.views.verdict import Evaluated, Verdict
from rheostat.model.documents import Document
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Objective
from rheostat.model.quality.placed import Placed

KINDS = ("application", "infrastructure", "deployment")


app = typer.Typer(add_completion=False)


@app.command()
def evaluate(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="A document, or a name such as taxi.")],
    infrastructure: Annotated[
        str, typer.Argument(metavar="INFRASTRUCTURE", help="A document, or a name such as ansnet.")
    ],
    deployment: Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="A document: the deployment.")],
    *,
    current: Annotated[
        str | None, typer.Option(help="A document: the current deployment, for the cost of the change.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="A document: the objective, for its value and the bounds that are broken.")
    ] = None,
    downtime: Annotated[Downtime | None, typer.Option(help="How the engine changes a deployment.")] = None,
    sync_seconds: Annotated[float | None, typer.Option(help="Constant part of every change.")] = None,
    hop_ms: Annotated[float, typer.Option(help="Delay of a stream between two queries, in milliseconds.")] = 0.0,
    rate: Annotated[float | None, typer.Option(help="Tuples per second of every source, instead of its own.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Evaluate a deployment, and the cost of changing to it.

    Exits with 1 if an operator, a node or a link is overloaded or a bound is broken.
    """
    _refuse_bad_numbers(sync_seconds, hop_ms, rate)
    if current is None and (downtime is not None or sync_seconds is not None):
        raise WrongUse(Complaint("a downtime is the cost of a change", "add --current FILE, what runs now"))
    positional = [application, infrastructure, deployment]
    options = [argument for argument in (current, objective) if argument is not None]
    given = find_sound(positional, KINDS, options)
    running = None if current is None else only(given[3], Deployment, "deployment")
    wanted = None if objective is None else only(given[-1], Objective, "objective")
    placed = _placed(given[:3], hop_ms, rate)
    evaluated = Evaluated.of(placed, running, _model(downtime, sync_seconds), wanted)
    verdict = Verdict.of(evaluated)
    if as_json:
        answer_json(ok=verdict.good, **report_json(evaluated, verdict))
    else:
        print_report(evaluated, verdict)
    raise typer.Exit(ExitCode.FINE if verdict.good else ExitCode.NO)


def _refuse_bad_numbers(sync_seconds: float | None, hop_ms: float, rate: float | None) -> None:
    for option, value in (("--sync-seconds", sync_seconds), ("--hop-ms", hop_ms), ("--rate", rate)):
        if value is not None and not (isfinite(value) and value >= 0):
            raise WrongUse(Complaint(f"{option} {value} is not a finite number >= 0", "write a number >= 0"))


def _placed(given: tuple[Document, ...], hop_ms: float, rate: float | None) -> Placed:
    application, infrastructure = of_type(given, Application), of_type(given, Infrastructure)
    deployment = of_type(given, Deployment)
    if application is None or infrastructure is None or deployment is None:
        raise WrongUse(Complaint("one document is missing", f"give one of each: {', '.join(KINDS)}"))
    if rate is not None:
        application = application.with_source_rate(rate)
    return Placed(application, infrastructure, deployment, hop_ms)


def _model(downtime: Downtime | None, sync_seconds: float | None) -> DowntimeModel:
    kind = FullRestart if downtime is Downtime.FULL_RESTART else PauseAndResume
    return kind() if sync_seconds is None else kind(sync_seconds)
