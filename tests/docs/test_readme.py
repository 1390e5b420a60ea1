"""README's first screen is short, has Python on it, and works as printed for a user with the wheel and no clone."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, text_of

README = text_of("README.md")
SCREEN = README.partition("\n## ")[0]
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", SCREEN, re.DOTALL) for line in block.splitlines()]
(PYTHON,) = re.findall(r"```python\n(.*?)```", SCREEN, re.DOTALL)
FILE = re.search(r"Save this as `(\w+\.py)`", SCREEN)[1]


def test_there_are_few_words_before_the_first_command():
    assert len(README.partition("```sh\n")[0].split()) <= 120


def test_the_first_screen_installs_shows_python_and_runs_one_command():
    assert [command.split()[0] for command in COMMANDS] == ["pip", "rheostat"]
    assert "Java 17" in SCREEN
    assert SCREEN.index("```python") < 2000
    assert FILE in COMMANDS[1]


def test_a_scale_out_and_a_picture_are_on_it():
    (output,) = re.findall(r"```text\n(.*?)```", SCREEN, re.DOTALL)
    assert "done: scale-out" in output
    (picture,) = re.findall(r"!\[.+\]\((.+)\)", SCREEN)
    assert (ROOT / picture).exists()


def test_words_and_no_abbreviations_say_what_it_is():
    prose = re.sub(r"```.*?```", "", SCREEN, flags=re.DOTALL)
    assert set(re.findall(r"\b[A-Z]{3,}\b", prose)) == set()


def test_the_wheel_is_the_one_that_the_project_builds():
    version = re.search(r'__version__ = "(.+)"', text_of("src/rheostat/__init__.py"))[1]
    assert COMMANDS[0] == f'pip install "./rheostat-{version}-py3-none-any.whl[spark]"'


def test_its_application_is_sound_and_loads_no_spark(tmp_path):
    (tmp_path / FILE).write_text(PYTHON, encoding="utf-8")
    asked = f"import sys, {FILE[:-3]} as m; print(len(m.app.build().operators), 'pyspark' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["4", "False"]


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    """A folder with the wheel alone, and a new environment without it."""
    folder, place = tmp_path_factory.mktemp("newcomer"), tmp_path_factory.mktemp("environment")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, cwd=folder, check=True, timeout=300)
    venv.create(place, with_pip=True)
    return folder, place / "bin"


@pytest.mark.spark
@pytest.mark.acceptance
@pytest.mark.timeout(900)
def test_a_new_user_does_the_first_screen_as_printed(newcomer):
    folder, bin_ = newcomer
    assert [path.suffix for path in folder.iterdir()] == [".whl"]
    (folder / FILE).write_text(PYTHON, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = kept | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    said = ""
    for command in COMMANDS:
        shell = ["/bin/bash", "-c", command]
        done = subprocess.run(
            shell, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        said = done.stdout
        # Kept beside the run, so that the page can show this very output.
        (folder / "output.txt").write_text(said, encoding="utf-8")
    assert re.search(r"^\d\d:\d\d:\d\d done: scale-out checked: \{n1:1\} -> \{n1:\d\}", said, re.MULTILINE)
    assert Path(folder, ".rheostat", FILE[:-3]).is_dir()
