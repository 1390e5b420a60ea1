"""Fakes implement a port, and no class of this package is patched in a test."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ANSWERS_ALL = "class Fake:\n    def __getattr__(self, name):\n        return print\n"
PATCHES = (
    "from rheostat.runtime.reconfigure.runtime import Runtime\n"
    "def test(monkeypatch):\n    monkeypatch.setattr(Runtime, 'deploy', print)\n"
)
HARMLESS = "import sys\ndef test(monkeypatch):\n    monkeypatch.setattr(sys, 'path', [])\n"


def loose_fakes(tree: ast.Module) -> list[int]:
    """Lines of classes that accept any attribute."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [
        function.lineno
        for one in classes
        for function in one.body
        if isinstance(function, ast.FunctionDef) and function.name in {"__getattr__", "__getattribute__"}
    ]


def patched_classes(tree: ast.Module) -> list[int]:
    """Lines that replace an attribute of a class imported from this package."""
    ours = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rheostat")
        for name in node.names
        if name.name[0].isupper()
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"setattr", "object"}
        and node.args
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in ours
    ]


@pytest.mark.parametrize("wrong", [loose_fakes, patched_classes])
def test_no_test_uses(wrong):
    found = {str(path.relative_to(TESTS)): wrong(ast.parse(path.read_text())) for path in TESTS.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_what_is_looked_for_is_found():
    assert loose_fakes(ast.parse(ANSWERS_ALL)) == [2]
    assert patched_classes(ast.parse(PATCHES)) == [3]
    assert not loose_fakes(ast.parse(HARMLESS)) + patched_classes(ast.parse(HARMLESS))
