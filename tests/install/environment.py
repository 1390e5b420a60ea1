"""A virtual environment with the wheel in it, as a user has it: no clone on any path."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLEAN = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
"""Set by the tests' own Python and Spark, and by no new user."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    path: Path

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.path / "bin" / "python")

    def run(self, *command: str, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs a command that is looked for in the environment first; its output is text."""
        settings = {name: value for name, value in os.environ.items() if name not in CLEAN}
        search = os.pathsep.join([str(self.path / "bin"), settings["PATH"]])
        program = next((str(path) for path in [self.path / "bin" / command[0]] if path.exists()), command[0])
        return subprocess.run(
            [program, *command[1:]],
            cwd=cwd,
            env={**settings, "PATH": search},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def built_wheel(folder: Path) -> Path:
    """The wheel of this clone."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(pip, check=True, timeout=300)
    (found,) = folder.glob("rheostat-*.whl")
    return found


def new_environment(folder: Path, wheel: Path) -> Environment:
    """The wheel with its `spark` extra and pytest, from a package index: what a user installs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    made = Environment(folder)
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[spark]", "pytest"]
    subprocess.run([made.python, *pip], check=True, timeout=900, cwd=folder)
    return made


def light_environment(folder: Path, wheel: Path) -> Environment:
    """The wheel alone; its requirements are those of the environment that the tests run in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    made = Environment(folder)
    pip = [sys.executable, "-m", "pip", "--python", made.python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    places = {sysconfig.get_path("purelib"), *(part for part in sys.path if part.endswith("site-packages"))}
    (packages / "outer.pth").write_text("".join(f"{place}\n" for place in sorted(places)))
    return made
