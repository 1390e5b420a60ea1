"""The `rheostat` command: the list of commands, and the one place where errors are reported."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from rheostat import __version__
from rheostat.cli.output import Complaint, ExitCode, answer_json, complaints_of, warn
from rheostat.errors import InvalidDocument, InvalidModel, RheostatError
from rheostat.logs import LogLevel, LogSettings, start_logging

SETUP_COMMANDS = {
    "init": "Write a small project that runs: application, answer, test, nodes and run.",
    "doctor": "Check whether this machine is ready.",
    "licences": "List the licences of the packages that rheostat uses.",
}
"""Commands about this machine and a new project, by name, with the first line of their help."""
MODEL_COMMANDS = {
    "validate": "Check documents, each by itself and all together.",
    "show": "Show an application, a network, and a deployment.",
    "evaluate": "Evaluate a deployment, and the cost of changing to it.",
    "plan": "Plan the number of replicas of every operator, and their nodes.",
    "compare": "Run several planners on one problem, side by side.",
    "simulate": "Run an application under a control system in virtual time.",
    "compare-policies": "Run many policies on one workload, and compare them with one that knows the future.",
}
"""Commands that ask the model. They need no Spark."""
RUN_COMMANDS = {
    "run": "Run an application, and supervise it until it is stopped.",
    "calibrate": "Run an application under several loads, and save the profile of its operators.",
    "status": "Show the state of a running application.",
    "results": "Show or save the rows that a sink has received.",
    "scale": "Give operators of a running application more or fewer replicas.",
    "move": "Move an operator of a running application to another node.",
    "deploy": "Change a running application to another deployment.",
    "pause-control": "Pause the managers of a running application.",
    "resume-control": "Resume the managers of a running application.",
    "history": "List the changes of a run, and their outcome.",
    "explain": "Explain the decisions of a run.",
    "replay": "Decide the journal of a run again, and show the first difference.",
    "report": "Write a run as one HTML page.",
    "stop": "Stop a running application; the next run in its directory resumes it.",
}
"""Commands that start, steer or read a run."""
ROOMS = {"setup": SETUP_COMMANDS, "models": MODEL_COMMANDS, "running": RUN_COMMANDS}
COMMANDS = {name: text for room in ROOMS.values() for name, text in room.items()}

FLAGS = ("--debug", "--log-json")
"""Options of every command that take no value."""


def module_of(command: str) -> str:
    """The module of a command; it has a Typer called `app`."""
    room = next(room for room, commands in ROOMS.items() if command in commands)
    return f"rheostat.cli.commands.{room}.{command.replace('-', '_')}"


def common_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with the options of every command in front.

    >>> common_first(["show", "taxi", "--log-level", "info", "--debug"])
    ['--log-level', 'info', '--debug', 'show', 'taxi']
    """
    common, rest = [], []
    left = list(arguments)
    while left:
        one = left.pop(0)
        if one in FLAGS or one.startswith("--log-level="):
            common.append(one)
        elif one == "--log-level" and left:
            common += [one, left.pop(0)]
        else:
            rest.append(one)
    return common + rest


class LateCommand(TyperCommand):
    """A command whose module is imported when it is used.

    numpy, scipy and matplotlib take most of a second to import; `--help`, `--version`, `doctor` and the completion of
    the shell need none of them.
    """

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parses the arguments with the real command, which is then the one that is invoked."""
        module = importlib.import_module(module_of(self.name or ""))
        return typer.main.get_command(module.app).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, and the one place where errors become lines and exit codes."""

    def __init__(self, **settings: Any) -> None:
        """Registers names and help of the commands, in their order of use."""
        super().__init__(**settings)
        self.commands = {name: LateCommand(name=name, help=text) for name, text in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accepts the options of every command anywhere on the line, such as --debug at its end."""
        return super().parse_args(ctx, common_first(args))

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; reports errors in lines, or in JSON if asked for."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except TyperException as error:
            if not as_json:
                raise
            answer_json(ok=False, mistakes=[Complaint(error.format_message())])
            raise typer.Exit(ExitCode.WRONG_USE) from error
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except (RheostatError, OSError) as error:
            _complain(ctx, error, complaints_of(error), as_json)
            unsound = isinstance(error, InvalidDocument | InvalidModel)
            raise typer.Exit(ExitCode.NO if unsound else ExitCode.WRONG_USE) from error
        except Exception as error:
            what = f"this is a bug in rheostat: {type(error).__name__}: {error}"
            _complain(ctx, error, [Complaint(what, "--debug shows where; please report it")], as_json)
            raise typer.Exit(ExitCode.BUG) from error


def _complain(ctx: Any, error: Exception, complaints: Any, as_json: bool) -> None:
    if ctx.params.get("debug"):
        traceback.print_exception(error, file=sys.stderr)
    if as_json:
        answer_json(ok=False, mistakes=complaints)
    else:
        warn(*complaints)


app = typer.Typer(
    name="rheostat",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="An elastic control plane for stream processing on Apache Spark.\n\n"
    "Exit codes: 0 the answer is yes, 1 it is no, 2 the question is wrong.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rheostat {__version__}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[  # noqa: ARG001 - printed by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[  # noqa: ARG001 - read by `_complain`
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option(help="Log messages of this level and above on standard error; else warning.")
    ] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log a JSON object per line.")] = False,
) -> None:
    """Starts the log, with settings that agents inherit."""
    settings = LogSettings.from_environment(os.environ)
    settings = LogSettings(log_level or settings.level, log_json or settings.as_json)
    start_logging(settings, sys.stderr)
    if log_level is not None or log_json:
        os.environ.update(settings.environment())


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that knows ASCII alone shows question marks instead of lines; that is no reason to fail.
            stream.reconfigure(errors="replace")
    app()
