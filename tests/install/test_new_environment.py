"""A new user installs the wheel with its `spark` extra, and the first project runs: nothing else is there."""

import pytest

from tests.install.first_project import assert_first_project_runs, assert_nothing_of_the_clone_is_used


@pytest.mark.spark
@pytest.mark.acceptance
@pytest.mark.timeout(1500)
def test_the_first_project_runs_in_a_new_environment(fresh, tmp_path):
    assert_nothing_of_the_clone_is_used(fresh, tmp_path)
    assert_first_project_runs(fresh, tmp_path, within_seconds=90)
    licences = fresh.run("rheostat", "licences", cwd=tmp_path)
    assert "pyspark" in licences.stdout
    assert "gymnasium" not in licences.stdout
