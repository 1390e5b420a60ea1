"""The reference of the command line, from the parsers that read it."""

import importlib
from enum import Enum
from typing import Any

import typer
from scripts.pages.markdown import cell, code, page, table

from rheostat.cli.main import COMMANDS, app, module_of


def parser_of(command: str) -> Any:
    """The parser of a command, with its parameters."""
    return typer.main.get_command(importlib.import_module(module_of(command)).app)


def common_options() -> list[Any]:
    """The options of `rheostat` itself, which every command takes."""
    return [option for option in typer.main.get_command(app).params if not option.hidden]


def cli_reference() -> str:
    """All commands with all their arguments and options."""
    about = "Exit codes: 0 the answer is yes, 1 it is no, 2 wrong use, 70 a defect in Rheostat."
    common = table(("option of every command", "default", "meaning"), map(_option, common_options()))
    listed = table(("command", "purpose"), ((f"[`{name}`](#{name})", cell(text)) for name, text in COMMANDS.items()))
    return page("Command line", about, common, listed, *(block for name in COMMANDS for block in _command(name)))


def _command(name: str) -> list[str]:
    parser = parser_of(name)
    arguments = [parameter for parameter in parser.params if not _is_option(parameter)]
    options = [parameter for parameter in parser.params if _is_option(parameter) and not parameter.hidden]
    usage = " ".join(["rheostat", name, *("[OPTIONS]" for _ in options[:1]), *map(_written, arguments)])
    blocks = [f"## {name}", f"```text\n{usage}\n```", (parser.help or "").strip()]
    if arguments:
        blocks.append(table(("argument", "meaning"), ((code(_written(a)), cell(a.help or "")) for a in arguments)))
    if options:
        blocks.append(table(("option", "default", "meaning"), map(_option, options)))
    return blocks


def _is_option(parameter: Any) -> bool:
    return any(name.startswith("-") for name in parameter.opts)


def _written(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name = name if argument.nargs != -1 or name.endswith("...") else f"{name}..."
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> tuple[str, str, str]:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    if not option.is_flag:
        names += f" {code(option.metavar or _type_of(option))}"
    return names, _default(option), cell(option.help or "")


def _type_of(option: Any) -> str:
    annotation = option.type_descriptor.annotation
    annotation = next(iter(getattr(annotation, "__args__", ())), annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(member.value) for member in annotation)
    return {"str": "TEXT", "int": "INTEGER", "float": "NUMBER"}.get(annotation.__name__, annotation.__name__.upper())


def _default(option: Any) -> str:
    default = option.default
    if default is None or default is False or callable(default) or default in ((), []):
        return ""
    return code(default.value if isinstance(default, Enum) else default)
