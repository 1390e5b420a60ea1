"""`rheostat plan`: a deployment by a planner."""

from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.plan_inputs import NAMES, Files, Numbers, outcome_of, planner_named, problem_of, why_none
from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json, say, warn
from rheostat.cli.views.plan_progress import Watching
from rheostat.cli.views.plan_view import draw_plan, measure_of, plan_json, print_plan
from rheostat.model.documents import write
from rheostat.planning.contract.outcome import Outcome

app = typer.Typer(add_completion=False)


@app.command()
def plan(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="A document, or a name such as taxi.")],
    infrastructure: Annotated[
        str, typer.Argument(metavar="INFRASTRUCTURE", help="A document, or a name such as ansnet.")
    ],
    *,
    objective: Annotated[
        str | None, typer.Option(help="A document: the objective; else the response time alone.")
    ] = None,
    current: Annotated[
        str | None, typer.Option(help="A document: the current deployment; the change from it has its cost.")
    ] = None,
    planner: Annotated[str, typer.Option(metavar="NAME", help=f"The control: {NAMES}.")] = "exact",
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best found is the answer.")] = None,
    gap: Annotated[float, typer.Option(help="Distance from the bound that is good enough: 0.05 is 5 %.")] = 0.0,
    downtime: Annotated[Downtime | None, typer.Option(help="How the engine changes a deployment.")] = None,
    sync_seconds: Annotated[float | None, typer.Option(help="Constant part of every change.")] = None,
    hop_ms: Annotated[float, typer.Option(help="Delay of a stream between two queries, in milliseconds.")] = 0.0,
    rate: Annotated[float | None, typer.Option(help="Tuples per second of every source, instead of its own.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the deployment into this document, too.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw operators on nodes into this file, too.")] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Nothing but the document of the deployment.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Plan the number of replicas of every operator, and their nodes.

    Exits with 1 if there is no deployment that keeps every constraint, or none was found in time.
    """
    if as_yaml and as_json:
        raise WrongUse(Complaint("--yaml and --json are two forms of one answer", "give one of them"))
    planner_named(planner)
    numbers = Numbers(downtime, sync_seconds, hop_ms, rate, time_limit, gap)
    problem = problem_of(Files(application, infrastructure, objective, current), numbers)
    with Watching(f"{planner} plans", measure_of(problem)) as progress:
        outcome = outcome_of(planner, problem, progress)
    if outcome.deployment is not None:
        # First, since nothing may follow the answer: an error would be a second one.
        if output is not None:
            output.write_text(write(outcome.deployment), encoding="utf-8")
            warn(f"written: {output}")
        if svg is not None:
            draw_plan(problem, outcome, svg)
    if as_json:
        answer_json(ok=outcome.deployment is not None, **plan_json(problem, outcome, planner))
    elif as_yaml:
        _say_yaml(outcome)
    else:
        print_plan(problem, outcome, planner)
    raise typer.Exit(ExitCode.NO if outcome.deployment is None else ExitCode.FINE)


def _say_yaml(outcome: Outcome) -> None:
    if outcome.deployment is None:
        warn(*(f"no: {why}" for why in why_none(outcome)))
    else:
        say(write(outcome.deployment).rstrip())
