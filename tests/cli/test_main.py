"""Rules for every command: help, version, exit codes, and the form of error messages."""

import importlib
import logging
import os
import subprocess
import sys

import pytest
import typer.main

from rheostat import __version__
from rheostat.cli.commands.models import validate
from rheostat.cli.main import COMMANDS, module_of
from rheostat.cli.output import complaints_of
from rheostat.logs import LogLevel, LogSettings


def test_the_version(rheostat):
    assert rheostat("--version").out == f"rheostat {__version__}\n"


def test_help_tells_every_command(rheostat):
    told = rheostat("--help").out
    assert all(name in told for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_as_it_is_announced(rheostat, name):
    command = getattr(importlib.import_module(module_of(name)), name.replace("-", "_"))
    assert command.__doc__.splitlines()[0] == COMMANDS[name]
    assert rheostat(name, "--help").code == 0


def test_start_up_imports_nothing_heavy():
    heavy = {"numpy", "scipy", "matplotlib", "yaml", "pyspark"}
    code = (
        f"import sys, rheostat.cli.main, rheostat.cli.commands.setup.doctor; print(sorted({heavy} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_a_misspelled_command_is_wrong_use_and_is_told_what_was_meant(rheostat):
    answer = rheostat("validat", "clicks.yaml")
    assert answer.code == 2
    assert "validate" in answer.err
    assert answer.out == ""


def test_wrong_use_is_told_in_json_where_json_was_asked_for(rheostat):
    answer = rheostat("show", "--nonsense", "--json")
    assert answer.code == 2
    assert answer.json["ok"] is False
    assert "--nonsense" in answer.json["mistakes"][0]["what"]


@pytest.mark.parametrize("place", [0, 3])
def test_debug_shows_the_traceback_wherever_it_stands(rheostat, place):
    arguments = ["show", "broken.yaml", "sites.yaml"]
    quiet = rheostat(*arguments)
    loud = rheostat(*arguments[:place], "--debug", *arguments[place:])
    assert "Traceback" not in quiet.err
    assert "Traceback (most recent call last)" in loud.err
    assert loud.err.endswith(quiet.err)
    assert quiet.code == loud.code == 2


def test_a_mistake_of_ours_is_not_blamed_on_the_user(rheostat, monkeypatch):
    def fail(_):
        raise KeyError("oops")

    monkeypatch.setattr(validate, "find_all", fail)
    answer = rheostat("validate", "clicks.yaml")
    assert answer.code == 70
    assert "bug in rheostat" in answer.err
    assert "Traceback" not in answer.err
    assert rheostat("validate", "clicks.yaml", "--json").json["ok"] is False


def test_an_error_of_the_system_names_the_file():
    (complaint,) = complaints_of(PermissionError(13, "Permission denied", "there"))
    assert str(complaint) == "there: Permission denied"


def test_a_terminal_that_knows_ascii_alone_gets_an_answer_too():
    environment = {"PATH": os.defpath, "PYTHONIOENCODING": "ascii"}
    code = "import sys; sys.argv[1:] = ['show', 'word-count']; from rheostat.cli.main import main; main()"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "application" in told.stdout
    assert "Error" not in told.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_in_json_if_asked(name):
    command = typer.main.get_command(importlib.import_module(module_of(name)).app)
    (flag,) = [one for one in command.params if "--json" in one.opts]
    assert flag.is_flag


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_use_of_any_command_is_told_in_json(rheostat, name):
    answer = rheostat(name, "--no-such-option", "--json")
    assert (answer.code, answer.json["ok"]) == (2, False)
    assert "--no-such-option" in answer.json["mistakes"][0]["what"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--log-level", "debug", "--log-json", "validate", "clicks.yaml"], id="in front"),
        pytest.param(["validate", "clicks.yaml", "--log-json", "--log-level=debug"], id="at the end"),
    ],
)
def test_the_log_is_set_anywhere_on_the_line_and_agents_inherit_it(rheostat, monkeypatch, arguments):
    monkeypatch.setenv("RHEOSTAT_LOG_LEVEL", "error")
    monkeypatch.setenv("RHEOSTAT_LOG_JSON", "0")
    assert rheostat(*arguments).code == 0
    assert LogSettings.from_environment(os.environ) == LogSettings(LogLevel.DEBUG, as_json=True)
    assert logging.getLogger("rheostat").level == logging.DEBUG


def test_an_unknown_level_is_wrong_use(rheostat):
    answer = rheostat("validate", "clicks.yaml", "--log-level", "loud")
    assert answer.code == 2
    assert "debug" in answer.err
