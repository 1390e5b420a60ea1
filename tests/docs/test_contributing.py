"""CONTRIBUTING names files and functions that exist, and files that can be found by their names."""

import ast
import re

import pytest

from tests.docs.pages import ROOT, text_of

CONTRIBUTING = text_of("CONTRIBUTING.md")
TASKS = re.findall(r"^\| (.+\?) \| `(src/[\w/]+\.py)` \| `(\w+)` \|$", CONTRIBUTING, re.MULTILINE)
RECIPES = ("a policy", "a planner", "a state kind", "a command", "a channel")


def test_there_are_ten_tasks_in_ten_files():
    assert len({task for task, _, _ in TASKS}) == 10
    assert len({file for _, file, _ in TASKS}) == 10


@pytest.mark.parametrize(("task", "file", "name"), TASKS, ids=[task for task, _, _ in TASKS])
def test_the_file_of_a_task_has_the_function(task, file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert name in names


@pytest.mark.parametrize("recipe", RECIPES)
def test_there_is_a_recipe_with_file_names(recipe):
    told = CONTRIBUTING.partition(f"### Add {recipe}\n")[2].partition("\n### ")[0]
    assert len(re.findall(r"`(?:src|tests)/[\w/.]+`", told)) >= 2


def test_every_room_of_the_table_exists():
    rooms = re.findall(r"^\| .+ \| `(src/rheostat/\w+)` \|$", CONTRIBUTING, re.MULTILINE)
    assert len(rooms) >= 8
    assert [room for room in rooms if not (ROOT / room / "__init__.py").exists()] == []
