"""`rheostat simulate`: an application under a control system, in virtual time."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.inputs.control_inputs import lessons_from
from rheostat.cli.inputs.control_set import HELP, OPTION, tuned
from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.pairs import settings_from
from rheostat.cli.inputs.plan_inputs import NAMES
from rheostat.cli.inputs.planner_inputs import PlannerChoice, unsuited_told
from rheostat.cli.inputs.simulate_inputs import Conditions, scenario_of, with_bounds
from rheostat.cli.output import ExitCode, answer_json, page, say, warn
from rheostat.cli.views.simulation_view import Bar, summary_json, summary_table
from rheostat.control.history.journal import to_line
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_record import ControlRecord
from rheostat.control.setup.control_settings import KINDS, PLANNED, ControlSettings
from rheostat.policies.policy_registry import GRANTING, POLICIES
from rheostat.report.html_report import write_report
from rheostat.report.run_summary import Exclusion, summarise
from rheostat.simulation.studies.simulated_run import Run
from rheostat.simulation.studies.simulated_run import simulate as simulated

app = typer.Typer(add_completion=False)


@app.command()
def simulate(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="A document, or a name such as taxi.")],
    infrastructure: Annotated[
        str, typer.Argument(metavar="INFRASTRUCTURE", help="A document, or a name such as ansnet.")
    ],
    *,
    workload: Annotated[
        str, typer.Option(help="days, a CSV file of recorded rates, or a curve such as 'ramp 5 550 for 300'.")
    ] = "days",
    between: Annotated[
        tuple[float, float] | None, typer.Option(help="Scale the workload to lie between these rates.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Replay a recording or days this much faster.")] = 1.0,
    hours: Annotated[float, typer.Option(help="How long to simulate.")] = 1.0,
    deployment: Annotated[str | None, typer.Option(help="A document: the first deployment.")] = None,
    control: Annotated[str, typer.Option(help=f"The control: {', '.join(KINDS)}.")] = "edf",
    policy: Annotated[str | None, typer.Option(help=f"How: {', '.join(POLICIES)}.")] = None,
    options: Annotated[list[str] | None, typer.Option("--set", help="A setting of the policy, name=value.")] = None,
    granting: Annotated[str, typer.Option("--global", help=f"What is granted: {', '.join(GRANTING)}.")] = "all",
    granting_options: Annotated[
        list[str] | None, typer.Option("--global-set", help="A setting of the global policy, name=value.")
    ] = None,
    planner: Annotated[str | None, typer.Option(help=f"The planner of s-edrp and s-odp: {NAMES}.")] = None,
    objective: Annotated[str | None, typer.Option(help="A document: what the planner minimises.")] = None,
    plan_seconds: Annotated[
        float | None, typer.Option(help="Time for one plan; how far it comes then depends on the machine.")
    ] = None,
    objective_ms: Annotated[float | None, typer.Option(help="R_max: the response time to keep.")] = None,
    bound: Annotated[list[str] | None, typer.Option(help="R_max,op of an operator, operator=ms.")] = None,
    period: Annotated[float | None, typer.Option(help="Seconds between two decisions.")] = None,
    settle: Annotated[float, typer.Option(help="Seconds to leave the application alone after a change.")] = 30.0,
    warm_up: Annotated[float, typer.Option(help="Seconds at the start that do not count in averages.")] = 0.0,
    noise: Annotated[float, typer.Option(help="Relative deviation of the rates.")] = 0.0,
    measurement_noise: Annotated[float, typer.Option(help="Relative error of measurements.")] = 0.0,
    sample: Annotated[float, typer.Option(help="Seconds between two measurements.")] = 5.0,
    burst: Annotated[list[str] | None, typer.Option(help="An operator fed in bursts, operator=seconds.")] = None,
    downtime: Annotated[Downtime | None, typer.Option(help="How the engine changes a deployment.")] = None,
    sync_seconds: Annotated[float | None, typer.Option(help="Constant part of every change.")] = None,
    hop_ms: Annotated[float, typer.Option(help="Delay of a stream between two queries, in milliseconds.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write the run as one HTML page.")] = None,
    recording: Annotated[Path | None, typer.Option(help="Write the recording as JSON.")] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Write every decision as a line of JSON, for rheostat replay.")
    ] = None,
    save_learned: Annotated[
        Path | None, typer.Option(help="Write what the policies have learned; rheostat run --learned reads it.")
    ] = None,
    learned: Annotated[Path | None, typer.Option(help="Begin with what --save-learned wrote.")] = None,
    tuning: Annotated[list[str] | None, typer.Option("--control-set", metavar="NAME=VALUE", help=HELP)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide, but change nothing; policies learn the cost of staying.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Run an application under a control system in virtual time.

    Exits with 1 if the mean response time exceeds the objective.
    """
    conditions = Conditions(
        workload, between, speed, hours, noise, measurement_noise, sample, burst or (), downtime, sync_seconds, hop_ms
    )
    settings = ControlSettings(
        control,
        policy,
        settings_from("set", options or []),
        granting,
        settings_from("global-set", granting_options or []),
        period_seconds=period,
        settle_seconds=settle,
        dry_run=dry_run,
    )
    scenario = scenario_of([application, infrastructure], deployment, conditions, control)
    settings = tuned(with_bounds(settings, scenario, objective_ms, bound or []), settings_from(OPTION, tuning or []))
    settings.check(scenario.application)
    known = lessons_from(learned, settings, scenario.application)
    planning = PlannerChoice(planner, objective, plan_seconds).planning([control], scenario)
    with Bar(scenario.application.name, conditions.seconds) as bar, unsuited_told():
        run = simulated(
            scenario,
            settings,
            conditions.seconds,
            seed=seed,
            objective_ms=objective_ms,
            planning=planning,
            progress=bar,
            learned=known,
        )
    exclusion = Exclusion(warm_up)
    summary = summarise(run.recording, exclusion)
    _write(run, exclusion, report, recording)
    if journal is not None:
        record = ControlRecord(replace(settings, seed=seed), scenario.application, scenario.infrastructure, planning)
        _write_lines([*known, record.entry(0.0), *(entry for _, entry in run.journal.read())], journal)
    _write_lines(run.lessons, save_learned)
    good = objective_ms is None or (summary.mean_ms is not None and summary.mean_ms <= objective_ms)
    if as_json:
        notes = [{"at": n.at_seconds, "kind": n.kind, "what": n.what, "why": n.why} for n in run.recording.notes]
        answer_json(ok=good, summary=summary_json(summary), asked=run.requests, granted=run.granted, events=notes)
    else:
        page().print(summary_table({control if control in PLANNED else settings.policy_name(): summary}))
        say(f"asked for {run.requests} changes, {run.granted} granted")
    raise typer.Exit(ExitCode.FINE if good else ExitCode.NO)


def _write(run: Run, exclusion: Exclusion, report: Path | None, recording: Path | None) -> None:
    if report is not None:
        write_report(run.recording, report, exclusion)
    if recording is not None:
        run.recording.save(recording)
    for path in (report, recording):
        if path is not None:
            warn(f"written: {path}")


def _write_lines(entries: Iterable[Entry], path: Path | None) -> None:
    if path is not None:
        path.write_text("".join(f"{to_line(entry)}\n" for entry in entries), encoding="utf-8")
        warn(f"written: {path}")
