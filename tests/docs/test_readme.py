"""README has Python on its first screen, few words and a sound application; `tests/install` runs it as printed."""

import re
import subprocess
import sys

from tests.docs.pages import ROOT, text_of
from tests.docs.readme import COMMANDS, FILE, PYTHON, README, SCREEN


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
