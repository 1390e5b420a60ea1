"""Output and picture of README's first screen, from a run of its program: `python -m scripts.pages.first_screen`."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.pages.run_picture import draw

ROOT = Path(__file__).parents[2]
README, CONTROL = ROOT / "README.md", ROOT / "docs" / "control.md"
OUTPUT = re.compile(r"```text\n.*?```", re.DOTALL)


def excerpt(output: str) -> str:
    """The lines from the first request to the first scale-out that is done, with the line before them."""
    lines = [line.rstrip() for line in output.splitlines()]
    asked = next(number for number, line in enumerate(lines) if " instead of " in line)
    done = next(number for number, line in enumerate(lines) if "done: scale-out" in line)
    return "\n".join(lines[max(0, asked - 1) : done + 1])


def with_output(page: str, output: str) -> str:
    """The page with another output in its first block of text."""
    return OUTPUT.sub(lambda _: f"```text\n{output}\n```", page, count=1)


def main() -> None:
    """Runs the program in a folder of its own, and writes what it printed and measured into the pages."""
    page = README.read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (file,) = re.findall(r"Save this as `(\w+\.py)`", page)
    (command,) = re.findall(r"^rheostat run \w+\.py .*$", page, re.MULTILINE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / file).write_text(program, encoding="utf-8")
        README.write_text(with_output(page, excerpt(_said(folder, *command.split()))), encoding="utf-8")
        draw(folder / ".rheostat" / Path(file).stem, "checked")
        number = re.search(r"^ *(\d+) .*scale-out", _said(folder, "rheostat", "history"), re.MULTILINE)
        if number is None:
            raise SystemExit("the history has no scale-out; run it again on a machine that is less busy")
        control = CONTROL.read_text(encoding="utf-8")
        told = "\n".join(line.rstrip() for line in _said(folder, "rheostat", "explain", number[1]).splitlines())
        control = re.sub(r"rheostat explain \d+", f"rheostat explain {number[1]}", control)
        control = re.sub(r"why decision \d+ was", f"why decision {number[1]} was", control)
        CONTROL.write_text(with_output(control, told), encoding="utf-8")


def _said(folder: Path, *command: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
