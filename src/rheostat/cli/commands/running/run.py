"""`rheostat run`: runs an application, shows how it is doing, and watches over it until it is stopped."""

import importlib
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.inputs.run_inputs import default_directory, find_wanted, first_deployment, read_profile
from rheostat.cli.inputs.spark_inputs import spark_settings
from rheostat.cli.output import Complaint, ExitCode, WrongUse

app = typer.Typer(add_completion=False)
PLANNED = ("s-edrp", "s-odp")
"""Controls in which a planner decides while it runs."""


class Nodes(StrEnum):
    """How the nodes are run on this machine."""

    EMBEDDED = "embedded"
    PROCESS = "process"


@app.command()
def run(
    application: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="A document, or package.module:application in Python.")
    ],
    infrastructure: Annotated[str, typer.Argument(metavar="INFRASTRUCTURE", help="A document with the nodes.")],
    *,
    deployment: Annotated[str | None, typer.Option(help="Who runs where at first; else one replica of each.")] = None,
    planner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who decides the first deployment, such as exact.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="What matters to the planner; else the response time alone.")
    ] = None,
    directory: Annotated[Path | None, typer.Option(help="Where its files lie; else .rheostat/NAME.")] = None,
    nodes: Annotated[Nodes, typer.Option(help="All nodes in one process, or a process for each.")] = Nodes.EMBEDDED,
    master: Annotated[
        list[str] | None,
        typer.Option(metavar="[NODE=]MASTER", help="Where Spark runs: local, local[n] or spark://...; else local."),
    ] = None,
    spark: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of the nodes' Spark, instead of ours.")
    ] = None,
    trigger_ms: Annotated[int, typer.Option(min=0, help="Least time between two batches, in milliseconds.")] = 200,
    key_groups: Annotated[
        int | None, typer.Option(min=1, help="Parts that state moves in, fixed for its life; else 12.")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--for", min=0, help="Stop after so many seconds.")] = None,
    until_drained: Annotated[
        bool, typer.Option("--until-drained", help="Stop when nothing has come in for 5 s and all has been read.")
    ] = False,
    control: Annotated[
        str, typer.Option(help="Who decides while it runs: edf, e2df, s-edrp, s-odp, elastic-storm, none.")
    ] = "none",
    policy: Annotated[str | None, typer.Option(help="How operators are scaled, such as threshold.")] = None,
    options: Annotated[list[str] | None, typer.Option("--set", help="A setting of the policy, name=value.")] = None,
    granting: Annotated[str, typer.Option("--global", help="What is granted: all, or token-bucket.")] = "all",
    granting_options: Annotated[
        list[str] | None, typer.Option("--global-set", help="A setting of the global policy, name=value.")
    ] = None,
    objective_ms: Annotated[float | None, typer.Option(help="R_max: the response time to keep.")] = None,
    bound: Annotated[list[str] | None, typer.Option(help="R_max,op of an operator, operator=ms.")] = None,
    period: Annotated[float | None, typer.Option(help="Seconds between two decisions.")] = None,
    settle: Annotated[
        float | None, typer.Option(help="Seconds to leave it alone after a change; else a period.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="What rheostat calibrate has learned; else what was learned in the directory.")
    ] = None,
    learned: Annotated[
        Path | None, typer.Option(help="What rheostat simulate --save-learned has written: what policies begin with.")
    ] = None,
    tuning: Annotated[
        list[str] | None,
        typer.Option("--control-set", metavar="NAME=VALUE", help="A setting of the managers, such as free_capacity=2."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide and tell, but change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object at the end instead of text.")] = False,
) -> None:
    """Run an application, and watch over it until it is stopped.

    An application that was stopped goes on where it was, if the directory is the same. `rheostat scale`, `move` and
    `deploy` change it while it runs, `rheostat stop` or Ctrl-C stop it. With --control managers do so by themselves:
    `rheostat history`, `explain` and `report` tell what they did, `rheostat pause-control` holds them back.
    """
    plans = control in PLANNED
    if planner is not None and deployment is not None and not plans:
        raise WrongUse(Complaint("--planner and --deployment both say who runs where at first", "give one of them"))
    if objective is not None and planner is None and not plans:
        raise WrongUse(Complaint("--objective says what a planner shall look for", "add --planner exact"))
    wanted = find_wanted(application, infrastructure, deployment, objective)
    settings = spark_settings(master or (), spark or (), wanted.infrastructure, shared=nodes is Nodes.EMBEDDED)
    place = directory or default_directory(wanted.application)
    # Placed before Spark is started, so that it is told at once if there is no room.
    at_first = wanted.deployment or first_deployment(wanted, planner)
    steered = None
    if control != "none":
        # Planners and policies take a moment to load, for those who ask for control alone.
        inputs = importlib.import_module("rheostat.cli.inputs.control_inputs")
        wishes = inputs.Wishes(
            control, policy, options or (), granting, granting_options or (), objective_ms, bound or (), period, settle
        )
        steered = inputs.steered(
            replace(
                wishes,
                planner=planner,
                objective=wanted.objective,
                dry_run=dry_run,
                learned=learned,
                tuning=tuning or (),
            ),
            wanted.application,
        )
    else:
        given = {
            "--policy": policy, "--set": options, "--global": granting != "all", "--global-set": granting_options,
            "--objective-ms": objective_ms, "--bound": bound, "--period": period, "--settle": settle,
            "--control-set": tuning, "--learned": learned, "--dry-run": dry_run,
        }  # fmt: skip
        if idle := ", ".join(option for option, value in given.items() if value is not None and value is not False):
            remedy = "add --control, such as --control edf"
            raise WrongUse(Complaint(f"{idle}: nobody decides anything without --control", remedy))
    try:
        running = importlib.import_module("rheostat.cli.session.run_loop")
    except ModuleNotFoundError as missing:
        remedy = "pip install 'rheostat[spark]', and see rheostat doctor"
        raise WrongUse(Complaint(f"running needs {missing.name}, which is not installed", remedy)) from missing
    order = running.Order(
        wanted,
        at_first,
        place.absolute(),
        running.NodeForm(nodes.value),
        spark=settings,
        trigger_ms=trigger_ms,
        key_groups=key_groups,
        seconds=seconds,
        until_drained=until_drained,
        as_json=as_json,
        steered=steered,
        profile=None if profile is None else read_profile(profile),
    )
    raise typer.Exit(ExitCode.FINE if running.carry_out(order) else ExitCode.NO)
