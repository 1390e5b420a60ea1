"""`rheostat compare`: several planners on one problem, side by side."""

from typing import Annotated

import typer
from rich.text import Text

from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.plan_inputs import NAMES, Files, Numbers, planner_named, problem_of
from rheostat.cli.output import Complaint, ExitCode, WrongUse, answer_json, page, say
from rheostat.cli.views.plan_comparison import Answered, Comparison
from rheostat.cli.views.plan_progress import Watching
from rheostat.cli.views.plan_view import measure_of
from rheostat.planning.contract.planner import Unsuited
from rheostat.planning.contract.problem import Problem

USUAL = (
    "exact",
    "restricted",
    "sampled",
    "local-search",
    "greedy",
    "round-robin",
    "balanced",
    "t-storm",
    "pietzuch",
    "pietzuch-true",
    "rizou",
    "rizou-true",
)
"""All but those that take long for the same answer."""

app = typer.Typer(add_completion=False)


@app.command()
def compare(
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
    planner: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"One of them, as often as wanted; else all that are quick. Known: {NAMES}."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each of them.")] = 30.0,
    gap: Annotated[float, typer.Option(help="Distance from the bound that is good enough: 0.05 is 5 %.")] = 0.0,
    downtime: Annotated[Downtime | None, typer.Option(help="How the engine changes a deployment.")] = None,
    sync_seconds: Annotated[float | None, typer.Option(help="Constant part of every change.")] = None,
    hop_ms: Annotated[float, typer.Option(help="Delay of a stream between two queries, in milliseconds.")] = 0.0,
    rate: Annotated[float | None, typer.Option(help="Tuples per second of every source, instead of its own.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Run several planners on one problem, side by side.

    Each answer has its distance from the optimum, if one of the planners has proven it. Exits with 1 if no planner
    finds a deployment.
    """
    names = _chosen(planner, has_current=current is not None)
    numbers = Numbers(downtime, sync_seconds, hop_ms, rate, time_limit, gap)
    problem = problem_of(Files(application, infrastructure, objective, current), numbers)
    comparison = Comparison(problem, tuple(_answered(name, problem) for name in names))
    if as_json:
        measure, optimum = measure_of(problem), comparison.optimum
        answer_json(ok=comparison.found, measure=measure, optimum=optimum, planners=comparison.json())
    else:
        _print(comparison)
    raise typer.Exit(ExitCode.FINE if comparison.found else ExitCode.NO)


def _chosen(names: list[str] | None, *, has_current: bool) -> list[str]:
    if names is None:
        return [name for name in USUAL if has_current or name != "restricted"]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise WrongUse(Complaint(f"named twice: {', '.join(sorted(repeated))}", "name each planner once"))
    for name in names:
        planner_named(name)
    return names


def _answered(name: str, problem: Problem) -> Answered:
    """One planner's answer; a planner that does not suit the problem does not stop the others."""
    with Watching(f"{name} plans", measure_of(problem)) as progress:
        try:
            return Answered(name, planner_named(name).plan(problem, progress))
        except Unsuited as refusal:
            return Answered(name, None, str(refusal))


def _print(comparison: Comparison) -> None:
    problem, console = comparison.problem, page()
    better = "the greater the better" if problem.maximises else "the smaller the better"
    console.print(Text(f"{problem.application.name} on {problem.infrastructure.name}", "bold"))
    console.print(comparison.table())
    say("", f"objective: {measure_of(problem)}, {better}; off: how much worse than the proven optimum")
    say(*comparison.remarks())
    if comparison.optimum is None:
        say("no optimum was proven")
