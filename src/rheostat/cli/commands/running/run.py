"""`rheostat run`: runs an application, shows its state, and supervises it until it is stopped."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.inputs.given_settings import given_settings
from rheostat.cli.inputs.pairs import settings_from, texts_from
from rheostat.cli.inputs.run_checks import NO_CONTROL, checked_run, wishes_of
from rheostat.cli.inputs.run_inputs import default_directory, first_deployment, read_profile
from rheostat.cli.output import Complaint, ExitCode, WrongUse
from rheostat.model.run_settings import NodeForm, RunSettings

app = typer.Typer(add_completion=False)
TRIGGER_MS = 200
Pairs = Sequence[str] | None


@app.command()
def run(
    application: Annotated[
        str,
        typer.Argument(
            metavar="APPLICATION", help="A document of kind run or application, a Python file, or package.module."
        ),
    ],
    infrastructure: Annotated[
        str | None, typer.Argument(metavar="INFRASTRUCTURE", help="A document with the nodes; else local nodes.")
    ] = None,
    *,
    local_nodes: Annotated[
        int | None, typer.Option(help="Nodes of this machine, instead of an infrastructure; else one.")
    ] = None,
    deployment: Annotated[
        str | None, typer.Option(help="Where each operator runs at first; else one replica of each.")
    ] = None,
    planner: Annotated[
        str | None, typer.Option(metavar="NAME", help="The planner of the first deployment, such as exact.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="What the planner optimises; else the response time alone.")
    ] = None,
    directory: Annotated[Path | None, typer.Option(help="Where its files lie; else .rheostat/NAME.")] = None,
    nodes: Annotated[
        NodeForm | None, typer.Option(help="All nodes in one process, or a process for each; else embedded.")
    ] = None,
    master: Annotated[
        list[str] | None,
        typer.Option(metavar="[NODE=]MASTER", help="Where Spark runs: local, local[n] or spark://...; else local."),
    ] = None,
    spark: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of the nodes' Spark.")
    ] = None,
    trigger_ms: Annotated[
        int | None, typer.Option(min=0, help="Least time between two batches, in milliseconds; else 200.")
    ] = None,
    key_groups: Annotated[
        int | None, typer.Option(min=1, help="Parts that state moves in, fixed for the life of the run; else 12.")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--for", min=0, help="Stop after so many seconds.")] = None,
    until_drained: Annotated[
        bool | None,
        typer.Option(
            "--until-drained/--no-until-drained", help="Stop when nothing has come in for 5 s and all has been read."
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(help="What decides while it runs: edf, e2df, s-edrp, s-odp, elastic-storm, none; else none."),
    ] = None,
    policy: Annotated[str | None, typer.Option(help="How operators are scaled, such as threshold.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the policy.")
    ] = None,
    granting: Annotated[
        str | None, typer.Option("--global", help="Which requests are granted: all, or token-bucket; else all.")
    ] = None,
    granting_options: Annotated[
        list[str] | None, typer.Option("--global-set", metavar="NAME=VALUE", help="A setting of the global policy.")
    ] = None,
    objective_ms: Annotated[float | None, typer.Option(help="R_max: the response time to keep.")] = None,
    bound: Annotated[
        list[str] | None, typer.Option(metavar="OPERATOR=MS", help="R_max,op: the latency bound of an operator.")
    ] = None,
    period: Annotated[float | None, typer.Option(help="Seconds between two decisions.")] = None,
    settle: Annotated[
        float | None, typer.Option(help="Seconds without decisions after a change; else a period.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="A file of rheostat calibrate; else what was learned in the directory.")
    ] = None,
    learned: Annotated[
        Path | None, typer.Option(help="A file of rheostat simulate --save-learned: what policies begin with.")
    ] = None,
    tuning: Annotated[
        list[str] | None,
        typer.Option("--control-set", metavar="NAME=VALUE", help="A setting of the managers, such as free_capacity=2."),
    ] = None,
    dry_run: Annotated[
        bool | None, typer.Option("--dry-run/--no-dry-run", help="Decide and tell, but change nothing.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object at the end instead of text.")] = False,
) -> None:
    """Run an application, and supervise it until it is stopped.

    Every option can stand in a document of kind run, under its name with _ for -; options win over the document. An
    application that was stopped goes on where it was, if the directory is the same. `rheostat scale`, `move` and
    `deploy` change it while it runs, `rheostat stop` or Ctrl-C stop it. With --control managers change it by
    themselves: `rheostat history`, `explain` and `report` tell what they did, `rheostat pause-control` pauses them.
    """
    given = given_settings(
        application,
        RunSettings(
            infrastructure=infrastructure,
            local_nodes=local_nodes,
            deployment=deployment,
            planner=planner,
            objective=objective,
            directory=None if directory is None else str(directory),
            nodes=nodes,
            master=tuple(master or ()),
            spark=texts_from("spark", spark or ()),
            trigger_ms=trigger_ms,
            key_groups=key_groups,
            seconds=seconds,
            until_drained=until_drained,
            control=control,
            policy=policy,
            policy_settings=settings_from("set", options or ()),
            global_policy=granting,
            global_settings=settings_from("global-set", granting_options or ()),
            objective_ms=objective_ms,
            bounds_ms=settings_from("bound", bound or ()),
            period=period,
            settle=settle,
            profile=None if profile is None else str(profile),
            learned=None if learned is None else str(learned),
            control_settings=settings_from("control-set", tuning or ()),
            dry_run=dry_run,
        ),
    )
    settings, found = given.settings, checked_run(given)
    wanted = found.wanted
    place = Path(settings.directory) if settings.directory else default_directory(wanted.application)
    # Placed before Spark is started, so that a lack of room is told at once.
    at_first = wanted.deployment or first_deployment(wanted, settings.planner)
    steered = None
    if settings.control not in (None, NO_CONTROL):
        inputs = importlib.import_module("rheostat.cli.inputs.control_inputs")
        steered = inputs.steered(wishes_of(settings, wanted.objective), wanted.application)
    try:
        running = importlib.import_module("rheostat.cli.session.run_loop")
    except ModuleNotFoundError as missing:
        remedy = "pip install 'rheostat[spark]', and see rheostat doctor"
        raise WrongUse(Complaint(f"running needs {missing.name}, which is not installed", remedy)) from missing
    order = running.Order(
        wanted,
        at_first,
        place.absolute(),
        settings.nodes or NodeForm.EMBEDDED,
        spark=found.spark,
        trigger_ms=TRIGGER_MS if settings.trigger_ms is None else settings.trigger_ms,
        key_groups=settings.key_groups,
        seconds=settings.seconds,
        until_drained=settings.until_drained or False,
        given=settings.given(),
        as_json=as_json,
        steered=steered,
        profile=None if settings.profile is None else read_profile(Path(settings.profile)),
    )
    raise typer.Exit(ExitCode.FINE if running.carry_out(order) else ExitCode.NO)
