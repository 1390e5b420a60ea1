"""The rooms of the package, from the docstrings of its folders and the contracts of import-linter."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

from scripts.pages.markdown import cell, page, table

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rheostat"


def layers() -> dict[str, list[list[str]]]:
    """The layers of each room that has some, highest first; parts of one layer do not know each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            (container,) = contract["containers"]
            found[container] = [[part.strip() for part in layer.split("|")] for layer in contract["layers"]]
    return found


def fences() -> str:
    """The names of the contracts that keep a library or a module inside some rooms, as a list."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return "\n".join(f"- {contract['name']}." for contract in contracts if contract["type"] == "forbidden")


def docstring(name: str) -> str:
    """The docstring of a module or a package, by its dotted name."""
    path = ROOT / "src" / Path(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def purpose(name: str) -> str:
    """The first sentence of a room's docstring."""
    first = " ".join(docstring(name).split("\n\n")[0].split())
    return first.partition(". ")[0].removesuffix(".")


def rooms() -> Iterator[str]:
    """The dotted names of all folders with code, highest layer first, each followed by its own rooms."""
    yield from _below("rheostat")


def _below(container: str) -> Iterator[str]:
    folder = ROOT / "src" / Path(*container.split("."))
    order = [part for layer in layers().get(container, ()) for part in layer]
    names = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    for name in sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name)):
        yield f"{container}.{name}"
        yield from _below(f"{container}.{name}")


def layer_table() -> str:
    """The layers of the package with what each part is, highest first."""
    rows = [
        (str(place), f"`{part}`", cell(purpose(f"rheostat.{part}")))
        for place, layer in enumerate(layers()["rheostat"], 1)
        for part in layer
    ]
    return table(("layer", "part", "purpose"), rows)


def rooms_page() -> str:
    """Every room with its purpose, its files and the order in which its own rooms may import."""
    about = (
        "A room is a folder. A room imports only what lies below it, and parts in one row do not know each other; "
        "`scripts/check` refuses anything else. The rows below are those of the contracts in `pyproject.toml`."
    )
    blocks = [about]
    for room in ["rheostat", *rooms()]:
        path = room.replace(".", "/")
        blocks += [f"## {path}" if room.count(".") < 2 else f"### {path}", docstring(room).split("```")[0].strip()]
        if order := layers().get(room):
            blocks.append("Order, highest first: " + ", ".join(" and ".join(f"`{p}`" for p in row) for row in order))
        files = sorted(p.stem for p in (ROOT / "src" / path).glob("*.py") if p.name != "__init__.py")
        rows = [(f"`{name}.py`", cell(purpose(f"{room}.{name}"))) for name in files]
        if rows:
            blocks.append(table(("file", "purpose"), rows))
    return page("Rooms", *blocks)
