"""Words of the sources: docstrings that begin with a phrase, sentences with a subject, file names that are things."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "rheostat"
UNCHECKED = ("cli", *(f"runtime/{room}" for room in ("agent", "checkpoints", "nodes", "plan", "reconfigure")))
"""Rooms that still have docstrings beginning with a clause."""
FILES = sorted(SOURCES.rglob("*.py"))
CHECKED = [file for file in FILES if not any(file.is_relative_to(SOURCES / room) for room in UNCHECKED)]
CLAUSE = re.compile(r"(what|who|how|where|which|when|why|whoever|whatever)\b|.*\?(\s|$)", re.IGNORECASE)
PERSONS = re.compile(r"\b(whoever|somebody|nobody|anybody|everybody)\b", re.IGNORECASE)
THINGS = {"annealing", "doubling", "q_learning", "recording", "udf_timing"}
"""File names in -ing of algorithms and of things."""


@pytest.mark.parametrize("file", CHECKED, ids=lambda file: str(file.relative_to(SOURCES)))
def test_a_module_docstring_begins_with_a_phrase_and_names_its_subjects(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring is not None
    assert CLAUSE.match(docstring.splitlines()[0]) is None
    assert PERSONS.findall(text) == []


@pytest.mark.parametrize("line", ["Who acts when", "Nodes come: are they up?", "Which rows are due, by time."])
def test_a_clause_is_no_phrase(line: str) -> None:
    assert CLAUSE.match(line)


def test_a_file_is_named_by_a_thing() -> None:
    assert {file.stem for file in FILES if file.stem.endswith("ing")} == THINGS
