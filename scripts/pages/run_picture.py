"""The picture of README, from the recording of a run."""

from dataclasses import replace
from pathlib import Path

from rheostat.controller.recorder import read_recording
from rheostat.model.documents import read_application
from rheostat.report.charts import WIDTH, Chart
from rheostat.report.html_report import charts

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "first-run.svg"
SHOWN = ("Rate of the sources", "Tuples that wait", "Replicas")
TITLE_PIXELS = 24


def picture(found: list[Chart], operator: str) -> str:
    """Charts of a run one below the other, with their titles; replicas of one operator alone."""
    parts, y = [], 0
    for name in SHOWN:
        (chart,) = [one for one in found if one.title == name]
        title = name
        if name == "Replicas":
            title = f"Replicas of {operator}"
            lines = [line for line in chart.lines if line.name == operator]
            chart = replace(chart, lines=lines, top=float(max(filter(None, lines[0].values)) + 1))
        parts.append(f'<text x="6" y="{y + 16}" fill="#22303c" font-size="14" font-weight="bold">{title}</text>')
        inner = chart.svg(alone=True).replace("<svg ", f'<svg y="{y + TITLE_PIXELS}" height="{chart.height}" ', 1)
        parts.append(inner)
        y += TITLE_PIXELS + chart.height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif">'
    paper = f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def draw(directory: Path, operator: str) -> None:
    """Draws the run in a directory."""
    recording = read_recording(directory, read_application(directory / "application.yaml"))
    if recording is None:
        raise SystemExit(f"nothing was recorded in {directory}; start it with rheostat run")
    PICTURE.write_text(picture(charts(recording), operator), encoding="utf-8")
