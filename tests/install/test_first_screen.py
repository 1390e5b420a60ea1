"""A new user with the wheel and no clone does the first screen of README as printed."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.readme import COMMANDS, FILE, PYTHON
from tests.install.environment import Environment

SCALED_OUT = re.compile(r"^\d\d:\d\d:\d\d done: scale-out checked: \{n1:1\} -> \{n1:2\}", re.MULTILINE)


def outputs(environment, folder, commands):
    """What the commands print in a folder that has the file of the page; each must succeed."""
    (folder / FILE).write_text(PYTHON, encoding="utf-8")
    found = []
    for number, command in enumerate(commands):
        done = environment.run("bash", "-c", command, cwd=folder, timeout=900)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        # Kept in the folder, so that the page can show this very output.
        (folder / f"output-{number}.txt").write_text(done.stdout, encoding="utf-8")
        found.append(done.stdout)
    return found


@pytest.mark.spark
def test_the_application_is_scaled_out_with_the_wheel_alone(light, tmp_path):
    install, run = COMMANDS
    assert install.startswith("pip install")
    (said,) = outputs(light, tmp_path, [run])
    assert SCALED_OUT.search(said), said


@pytest.mark.spark
@pytest.mark.acceptance
@pytest.mark.timeout(1500)
def test_every_command_works_as_printed_in_a_new_environment(wheel, tmp_path):
    folder, place = tmp_path / "folder", tmp_path / "environment"
    folder.mkdir()
    shutil.copy(wheel, folder)
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, timeout=120)
    said = outputs(Environment(place), folder, COMMANDS)
    assert SCALED_OUT.search(said[-1]), said[-1]
