"""`rheostat licences`: the licences of what is installed beside rheostat."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Annotated

import typer

from rheostat.cli.output import answer_json, page, say
from rheostat.cli.views.tables import plain_table

UNKNOWN = "unknown"
LONGEST_NAME = 60
"""A licence field that is longer, or has several lines, holds the licence's text and not its name."""
CLASSIFIER = "License :: "

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True)
class Licence:
    """One installed package and the name of its licence."""

    package: str
    version: str
    licence: str
    """An SPDX expression where the package gives one, else its own words; `unknown` if it says nothing."""
    url: str | None


@app.command()
def licences(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """List the licences of the packages that rheostat uses.

    Everything that is installed and that rheostat requires, directly or through another package, extras included.
    Spark's own Java libraries are listed in the LICENSE file of the pyspark package.
    """
    found = [licence_of(package) for package in installed_requirements("rheostat")]
    if as_json:
        answer_json(ok=True, licences=[asdict(one) for one in found])
        return
    table = plain_table("package", "version", "licence")
    for one in found:
        table.add_row(one.package, one.version, one.licence)
    page().print(table)
    say(f"{len(found)} packages")


def installed_requirements(root: str) -> list[metadata.Distribution]:
    """Every installed package that `root` requires, directly or not, by name; all extras of `root` count."""
    found: dict[str, metadata.Distribution] = {}
    names = _required(root, with_extras=True)
    while names:
        name = names.pop()
        if name in found or name == normalised(root):
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        names += _required(name, with_extras=False)
    return [found[name] for name in sorted(found)]


def _required(package: str, *, with_extras: bool) -> list[str]:
    """Names of the requirements of an installed package; those of its extras only if asked for."""
    lines = metadata.requires(package) or []
    return [requirement_name(line) for line in lines if with_extras or not re.search(r"\bextra\s*==", line)]


def requirement_name(line: str) -> str:
    """The normalised name of a requirement.

    >>> requirement_name("Ruamel.YAML[jinja2] >=0.18; python_version > '3'")
    'ruamel-yaml'
    """
    return normalised(re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0])


def normalised(name: str) -> str:
    """A package name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(package: metadata.Distribution) -> Licence:
    """The licence that the metadata of a package names."""
    about = package.metadata
    urls = [text.partition(", ")[2] for text in about.get_all("Project-URL") or ()]
    named = _text(about, "License-Expression") or _short(_text(about, "License"))
    name = named or _classified(about.get_all("Classifier") or ()) or UNKNOWN
    return Licence(package.name, package.version, name, _text(about, "Home-page") or next(iter(urls), None))


def _text(about: metadata.PackageMetadata, field: str) -> str:
    return str(about[field]) if field in about else ""


def _short(text: str) -> str | None:
    words = text.strip()
    return words if words and "\n" not in words and len(words) <= LONGEST_NAME else None


def _classified(classifiers: Sequence[str]) -> str | None:
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith(CLASSIFIER)]
    return ", ".join(named) or None
