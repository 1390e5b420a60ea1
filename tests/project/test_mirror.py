"""Tests lie where the code lies that they test."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES, TESTS = ROOT / "src" / "rheostat", ROOT / "tests"
BESIDE = {
    "contracts": "the suites that every implementation of a port runs",
    "docs": "README and the pages under docs/",
    "examples": "the applications under examples/",
    "experiments": "the commands under experiments/ and benchmarks/",
    "install": "the wheel, installed as a user does",
    "project": "what holds of the project as a whole: names, order of rooms, commits",
}
"""Folders of tests that mirror no room, with what they test."""
FOLDERS = sorted({str(path.parent.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")} - {"."})


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_of_tests_mirrors_a_room(folder):
    assert folder in BESIDE or (SOURCES / folder / "__init__.py").exists(), f"no room is at src/rheostat/{folder}"


def test_a_test_outside_all_folders_is_named_after_its_module():
    modules = {path.stem for path in SOURCES.glob("*.py")}
    assert {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")} <= modules
