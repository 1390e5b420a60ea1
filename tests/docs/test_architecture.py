"""The architecture page says what the code does: its layers, its flow, its ports and their suites."""

import ast
import importlib
import re

import pytest
from scripts.pages.architecture import PAGE, renewed
from scripts.pages.ports import PORTS
from scripts.pages.rooms import PACKAGE, layers, rooms, rooms_page

from tests.docs.pages import ROOT, text_of

ARCHITECTURE = PAGE.read_text(encoding="utf-8")
STEPS = re.findall(r"^\| .+ \| `(\w+)` \| `(src/[\w/]+\.py)` \|$", ARCHITECTURE, re.MULTILINE)


def found(name):
    """What a name `module:name` stands for."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def test_its_tables_are_those_of_the_code():
    assert renewed(ARCHITECTURE) == ARCHITECTURE, "run: python -m scripts.pages.architecture"


def test_the_flow_is_the_one_of_the_table():
    (line,) = re.findall(r"^Sample -> .+$", ARCHITECTURE, re.MULTILINE)
    assert line.split(" -> ") == [name for name, _ in STEPS]


@pytest.mark.parametrize(("name", "file"), STEPS)
def test_a_step_of_the_flow_is_defined_where_the_page_says(name, file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    values = {
        t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)
    }
    assert name in classes | values


def test_every_folder_is_a_room_with_a_purpose():
    folders = {path.parent.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*/__init__.py")}
    assert {room.replace(".", "/") for room in rooms()} == folders - {"rheostat"}
    page = rooms_page()
    assert [folder for folder in folders if f" {folder}\n" not in page] == []


def test_every_room_of_the_package_is_in_the_order():
    order = {part for layer in layers()["rheostat"] for part in layer}
    assert {room.split(".")[1] for room in rooms()} <= order


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
def test_a_port_its_implementations_and_its_suite_exist(port):
    assert found(port.protocol)
    assert all(found(name) for name in port.implementations)
    file, _, suite = port.suite.partition("::")
    assert f"class {suite}" in text_of(file)


def words_of(file, depth=1):
    """All names in a test module and in the helpers that it imports."""
    text = text_of(file)
    words = set(re.findall(r"\w+", text))
    for module in (
        re.findall(r"^from ((?:tests|experiments|rheostat)[\w.]*) import", text, re.MULTILINE) if depth else ()
    ):
        path = module.replace(".", "/") + ".py"
        path = f"src/{path}" if module.startswith("rheostat") else path
        words |= words_of(path, depth - 1) if (ROOT / path).exists() else set()
    return words


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
def test_every_implementation_runs_the_suite(port):
    suite = port.suite.partition("::")[2]
    running = {
        file for file in port.runs if not suite or re.search(rf"^class \w+\(.*\b{suite}\b", text_of(file), re.MULTILINE)
    }
    assert running == set(port.runs)
    words = set().union(*map(words_of, port.runs))
    names = [name.partition(":")[2] for name in port.implementations]
    assert [name for name in names if not words & {name, f"Test{name}"}] == []


def test_every_suite_belongs_to_a_port():
    suites = {
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for path in (ROOT / "tests/contracts").glob("*.py")
        for name in re.findall(r"^class (\w+Contract)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = {port.suite for port in PORTS}
    bases = {
        "tests/contracts/policy.py::PolicyContract",
        "tests/contracts/channel_producers.py::ChannelProducersContract",
    }
    assert suites - named - bases == set()
