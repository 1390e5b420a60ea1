"""Outputs of commands in the tour, made again by the commands: `python -m scripts.pages.consoles`."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from rheostat.cli.main import app

TOUR = Path(__file__).parents[2] / "docs" / "tour.md"
CONSOLE = re.compile(r"```console\n\$ rheostat (.+)\n((?:.*\n)*?)```")
CLICKS = re.compile(r"```yaml\n(?:.*\n)*?```")


def consoles(text: str) -> list[tuple[str, str]]:
    """The commands of a page with the outputs that it shows."""
    return CONSOLE.findall(text)


def answer(command: str) -> str:
    """What a command prints, without blanks at the ends of lines."""
    said = CliRunner().invoke(app, shlex.split(command)).stdout
    return "".join(line.rstrip() + "\n" for line in said.rstrip().splitlines())


def renewed(text: str, answer: Callable[[str], str]) -> str:
    """A page with all outputs as the commands print them now."""
    return CONSOLE.sub(lambda found: f"```console\n$ rheostat {found[1]}\n{answer(found[1])}```", text)


def main() -> None:
    """Writes the tour anew, with the application of its file."""
    clicks = (TOUR.parents[1] / "examples" / "documents" / "clicks.yaml").read_text(encoding="utf-8").strip()
    text = CLICKS.sub(lambda _: f"```yaml\n{clicks}\n```", TOUR.read_text(encoding="utf-8"), count=1)
    TOUR.write_text(renewed(text, answer), encoding="utf-8")


if __name__ == "__main__":
    main()
