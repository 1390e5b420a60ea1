"""The order of rooms: import-linter knows every module, and refuses an import that goes upward."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "rheostat"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = {container: one for one in CONTRACTS if one["type"] == "layers" for container in one["containers"]}
(CIRCLES,) = [one for one in CONTRACTS if one["type"] == "acyclic_siblings"]


def packages() -> list[str]:
    """All packages of rheostat by their full names."""
    folders = [file.parent.relative_to(SOURCES.parent) for file in sorted(SOURCES.rglob("__init__.py"))]
    return [".".join(folder.parts) for folder in folders]


def children(package: str) -> set[str]:
    """Modules and packages directly in a package."""
    folder = SOURCES.parent.joinpath(*package.split("."))
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    return modules | {file.parent.name for file in folder.glob("*/__init__.py")}


def names(layer: str) -> list[str]:
    """The parts that stand beside one another in a layer."""
    return [name.strip() for name in re.split(r"[|:]", layer)]


def test_every_package_that_holds_rooms_has_its_order():
    houses = {package for package in packages() if any(other.rpartition(".")[0] == package for other in packages())}
    assert houses == set(LAYERS)


@pytest.mark.parametrize("package", LAYERS)
def test_an_order_names_all_there_is(package):
    contract = LAYERS[package]
    assert contract["exhaustive"] is True
    assert not {"ignore_imports", "exhaustive_ignores"} & set(contract)
    assert {name for layer in contract["layers"] for name in names(layer)} == children(package)


def test_no_circle_is_looked_for_in_every_package():
    assert not {"ignore_imports", "skip_descendants"} & set(CIRCLES)
    patterns = [re.compile(re.escape(one).replace(r"\*", r"[^.]+")) for one in CIRCLES["ancestors"]]
    assert [one for one in packages() if not any(pattern.fullmatch(one) for pattern in patterns)] == []


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, with the contracts, that a test may spoil."""
    shutil.copytree(SOURCES, tmp_path / "src" / "rheostat", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def linted(root: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the package under this root, whatever else is installed."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_the_package_as_it_is_passes(copied):
    assert linted(copied).returncode == 0


def import_into(root: Path, package: str, imported: str) -> None:
    """Adds an import to a module or a package of the copy."""
    path = (root / "src").joinpath(*package.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    file.write_text(file.read_text() + f"\nimport {imported}\n")


def test_an_import_that_goes_upward_is_refused(copied):
    import_into(copied, "rheostat.errors", "rheostat.control.loop")
    done = linted(copied)
    assert done.returncode == 1
    assert "rheostat.errors is not allowed to import rheostat.control" in done.stdout


def test_every_order_refuses_that_its_lowest_part_imports_its_highest(copied):
    for package, contract in LAYERS.items():
        lowest, highest = names(contract["layers"][-1])[0], names(contract["layers"][0])[0]
        import_into(copied, f"{package}.{lowest}", f"{package}.{highest}")
    done = linted(copied)
    assert done.returncode == 1
    broken = {line.removesuffix(" BROKEN") for line in done.stdout.splitlines() if line.endswith(" BROKEN")}
    assert {contract["name"] for contract in LAYERS.values()} <= broken


def test_a_module_without_a_place_is_refused(copied):
    (copied / "src" / "rheostat" / "runtime" / "homeless").mkdir()
    (copied / "src" / "rheostat" / "runtime" / "homeless" / "__init__.py").write_text('"""Nothing."""\n')
    done = linted(copied)
    assert done.returncode == 1
    assert "Rooms of runtime BROKEN" in done.stdout


def test_two_modules_that_import_each_other_are_refused(copied):
    room = copied / "src" / "rheostat" / "runtime" / "channels" / "records"
    for one, other in (("here", "there"), ("there", "here")):
        (room / f"{one}.py").write_text(f'"""A module."""\n\nimport rheostat.runtime.channels.records.{other}\n')
    done = linted(copied)
    assert done.returncode == 1
    assert f"{CIRCLES['name']} BROKEN" in done.stdout


def docstring(package: str) -> str:
    """The docstring of a package in one line."""
    file = SOURCES.parent.joinpath(*package.split("."), "__init__.py")
    return " ".join((ast.get_docstring(ast.parse(file.read_text())) or "").split())


def rooms() -> list[tuple[str, str]]:
    """Every room with the package it is a room of."""
    return [(one.rpartition(".")[0], one) for one in packages() if one.rpartition(".")[0] in LAYERS]


def allowed(house: str, room: str) -> set[str]:
    """The rooms beside it that a room may use, as its docstring says: none, all but some, or those in backquotes."""
    text = " ".join(re.findall(r"\buses? ([^.;]*)", docstring(room)))
    quoted = set(re.findall(r"`(\w+)`", text))
    if re.search(r"every (other )?(room|layer)", text):
        _, _, after = text.partition(" but ")
        return children(house) - set(re.findall(r"`(\w+)`", after))
    return quoted


@pytest.mark.parametrize(("house", "room"), rooms(), ids=lambda name: name.removeprefix("rheostat."))
def test_a_room_says_in_two_sentences_what_it_is_for_and_what_it_uses(house, room, imports):
    text = docstring(room)
    assert len(re.findall(r"\.(?= |$)", text)) >= 2, text
    used = {
        other
        for other in children(house) - {room.rpartition(".")[2]}
        if f"{house}.{other}" in packages()
        and imports.direct_import_exists(importer=room, imported=f"{house}.{other}", as_packages=True)
    }
    assert used <= allowed(house, room), text


@pytest.fixture(scope="module")
def imports():
    """All imports of the package."""
    return grimp.build_graph("rheostat", cache_dir=None)
