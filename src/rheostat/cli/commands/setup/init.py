"""`rheostat init`: a new project with an application that runs and a test that passes."""

import importlib.util
import keyword
import re
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from rheostat.cli.output import Complaint, WrongUse, answer_json, say

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
FILES: Mapping[str, str] = {
    "README.md": "README.md",
    ".gitignore": "gitignore",
    "nodes.yaml": "nodes.yaml",
    "run.yaml": "run.yaml",
    "test_$module.py": "test.py",
    "$module/__init__.py": "init.py",
    "$module/app.py": "app.py",
    "$module/answer.py": "answer.py",
}
"""The files of a project, and the templates they are made from."""

app = typer.Typer(add_completion=False)


@app.command()
def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the project and of the folder to make.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Write a small project that runs: application, answer, test, nodes and run.

    Nothing is overwritten: the folder must not exist.
    """
    module = module_name(name)
    folder = Path(name)
    if folder.exists() or folder.is_symlink():
        raise WrongUse(Complaint(f"{name} already exists", "give another name, or remove it"))
    files = project_files(name, module)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    commands = [f"cd {name}", "pytest", "rheostat run run.yaml"]
    if as_json:
        answer_json(ok=True, project=name, files=[str(folder / path) for path in files], commands=commands)
    else:
        say(*(f"written: {folder / path}" for path in files), "next: " + " && ".join(commands))


def module_name(name: str) -> str:
    """The name of the project's package; WrongUse if it cannot be one."""
    module = name.replace("-", "_")
    if not NAME.fullmatch(name) or keyword.iskeyword(module):
        remedy = "use small letters, digits and -, beginning with a letter, such as shop"
        raise WrongUse(Complaint(f"{name!r} cannot be the name of a project", remedy))
    if module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None:
        raise WrongUse(Complaint(f"there is a Python module {module!r} already", "give another name"))
    return module


def project_files(name: str, module: str) -> dict[str, str]:
    """The text of every file, by its path in the project."""
    templates = resources.files("rheostat.cli.commands.setup") / "project"
    words = {"name": name, "module": module}
    return {
        Template(path).substitute(words): Template(
            (templates / f"{source}.template").read_text(encoding="utf-8")
        ).substitute(words)
        for path, source in FILES.items()
    }
