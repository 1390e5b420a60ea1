"""Reports of experiments: Markdown and SVG in `docs/results`, the same bytes for the same numbers.

One line per paragraph, however long: who reads the page lets it wrap.
"""

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STYLE: Any = {
    "svg.hashsalt": "rheostat",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
COLOURS = ("#3d7ab8", "#e08e1b", "#2a9d8f", "#d1495b", "#7c6a9c", "#6b7a88")


def prose(*parts: str) -> str:
    """A paragraph, or an item of a list, from the pieces that fit on a line of code."""
    return " ".join(parts)


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of a table; numbers as they are, None as a dash."""
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
    return lines + ["| " + " | ".join("-" if cell is None else str(cell) for cell in row) + " |" for row in rows]


def verdict(claim: str, holds: bool, found: str) -> str:
    """A claim as an item of a list: whether it holds, and the numbers."""
    return f"- {claim}: {'yes' if holds else '**no**'} ({found})."


def write_report(name: str, lines: Sequence[str]) -> None:
    """Writes `docs/results/<name>.md`, with the commit that was measured below its title."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.md"
    text = "\n".join([lines[0], "", measured_at(), *lines[1:]])
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    tell(f"written: {path.relative_to(RESULTS.parents[1])}")


def measured_at() -> str:
    """The commit that is checked out, if it is a clone that was measured, and today."""
    asked = ("git", "rev-parse", "--short", "HEAD")
    told = subprocess.run(asked, cwd=RESULTS.parents[1], capture_output=True, text=True, check=False)
    at = "outside of a clone" if told.returncode else f"at commit `{told.stdout.strip()}`"
    return f"Measured {at}, {datetime.now(UTC):%Y-%m-%d}."


def drawable(series: Sequence[float | None]) -> list[float]:
    """A series as lines are drawn of it: with a gap where nothing is known."""
    return [float("nan") if value is None else value for value in series]


def new_figure(width: float, height: float) -> Figure:
    """A figure in the common style."""
    with mpl.rc_context(STYLE):
        return Figure(figsize=(width, height), layout="constrained")


def save_figure(name: str, figure: Figure) -> None:
    """Writes `docs/results/<name>.svg`; without the date, which would make every file another one."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure.savefig(RESULTS / f"{name}.svg", format="svg", metadata={"Date": None, "Creator": "rheostat"})


def tell(line: str) -> None:
    """How far it is, for who waits."""
    print(line, file=sys.stderr, flush=True)


class Stopwatch:
    """Wall-clock and processor seconds since it was started: on a shared machine they differ."""

    def __init__(self) -> None:
        self._wall, self._cpu = perf_counter(), process_time()

    def seconds(self) -> tuple[float, float]:
        """Wall clock, processor."""
        return perf_counter() - self._wall, process_time() - self._cpu
