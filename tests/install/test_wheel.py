"""The wheel holds all that its commands need, and the first project runs from it."""

import zipfile

import pytest

from tests.install.environment import ROOT
from tests.install.first_project import assert_first_project_runs, assert_nothing_of_the_clone_is_used


def test_the_wheel_holds_every_file_of_the_package(wheel):
    package = ROOT / "src" / "rheostat"
    there = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("rheostat/")}
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(package.parent)) for path in files} == there


def test_the_package_is_the_installed_one(light, tmp_path):
    assert_nothing_of_the_clone_is_used(light, tmp_path)


@pytest.mark.spark
def test_the_first_project_runs_from_the_wheel(light, tmp_path):
    assert_first_project_runs(light, tmp_path, within_seconds=180)
