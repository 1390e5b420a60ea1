"""The whole picture and its file: graph of operators, network, and deployment.

One unit of every axis is an inch, so that text and boxes keep their sizes however large the graph is. The same input
gives the same bytes.
"""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from rheostat.cli.pictures.graph_picture import GraphPicture
from rheostat.cli.pictures.network_picture import NetworkPicture
from rheostat.cli.views.colours import INK, KIND_COLOURS, PALE, number
from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.evaluation import Evaluation, evaluate
from rheostat.model.quality.placed import Placed

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "svg.fonttype": "path",
    "svg.hashsalt": "rheostat",
    "text.parse_math": False,
}
"""Letters as outlines, so that the picture looks the same wherever it is opened; a $ in a name is no formula."""
MARGIN, HEADER, GAP, EDGE = 0.35, 0.95, 0.5, 0.1
"""Inches around and between the parts."""


@dataclass(frozen=True, slots=True)
class PictureSubject:
    """The subject of a picture: an application, a network, or both, and a deployment."""

    application: Application | None = None
    infrastructure: Infrastructure | None = None
    deployment: Deployment | None = None

    @property
    def evaluation(self) -> Evaluation | None:
        """The evaluation of the deployment, if there is one."""
        placed = self.placed
        return None if placed is None else evaluate(placed)

    @property
    def placed(self) -> Placed | None:
        """All three together."""
        if self.application is None or self.infrastructure is None or self.deployment is None:
            return None
        return Placed(self.application, self.infrastructure, self.deployment)


def save_svg(subject: PictureSubject, path: Path) -> None:
    """Draws and writes an SVG; without the date, which would make every file another one."""
    with mpl.rc_context(STYLE):
        draw(subject).savefig(path, format="svg", metadata={"Date": None, "Creator": "rheostat"})


def draw(subject: PictureSubject) -> Figure:
    """Graph and network side by side under a title; a graph alone lies on its side."""
    evaluation = subject.evaluation
    network = None
    if subject.infrastructure is not None:
        network = NetworkPicture(subject.infrastructure, subject.placed)
    graph = None
    if subject.application is not None:
        path = evaluation.critical_path if evaluation else ()
        graph = GraphPicture(subject.application, subject.deployment, upright=network is not None, critical=path)
    sizes = [part.size for part in (graph, network) if part is not None]
    width = max(sum(w for w, _ in sizes) + GAP * (len(sizes) - 1) + 2 * MARGIN, 7.5)
    height = max(h for _, h in sizes) + HEADER + 2 * MARGIN
    figure = Figure(figsize=(width, height), facecolor="white")
    left = (width - sum(w for w, _ in sizes) - GAP * (len(sizes) - 1)) / 2
    for part in (graph, network):
        if part is not None:
            area = (left, MARGIN, part.size[0], height - HEADER - 2 * MARGIN)
            part.draw(_inches(figure, area, part.size[1]))
            left += part.size[0] + GAP
    _header(
        _inches(figure, (MARGIN, height - HEADER - MARGIN / 2, width - 2 * MARGIN, HEADER), HEADER), subject, evaluation
    )
    return figure


def _inches(figure: Figure, area: tuple[float, float, float, float], content: float) -> Axes:
    """An axis over an area of the page whose unit is the inch, with content of this height in its middle."""
    (x, y, w, h), (width, height) = area, figure.get_size_inches()
    # A little more on every side, since lines on the very edge would be cut in half.
    place = ((x - EDGE) / width, (y - EDGE) / height, (w + 2 * EDGE) / width, (h + 2 * EDGE) / height)
    axes: Axes = figure.add_axes(place)
    spare = (h - content) / 2
    axes.set(xlim=(-EDGE, w + EDGE), ylim=(-spare - EDGE, h - spare + EDGE))
    axes.axis("off")
    return axes


def _header(axes: Axes, subject: PictureSubject, evaluation: Evaluation | None) -> None:
    names = [part.name for part in (subject.application, subject.infrastructure) if part is not None]
    axes.text(0, 0.78, " on ".join(names), fontsize=17, fontweight="bold", color=INK, va="center")
    axes.text(0, 0.46, _summary(subject, evaluation), fontsize=10, color=PALE, va="center")
    if subject.application is not None:
        x = 0.0
        for kind in Kind:
            box = FancyBboxPatch((x, 0.08), 0.16, 0.12, boxstyle="round,pad=0.01", fc=KIND_COLOURS[kind], ec="none")
            axes.add_patch(box)
            axes.text(x + 0.26, 0.135, kind.value, fontsize=8.5, color=INK, va="center")
            x += 0.45 + 0.085 * len(kind.value)
        if subject.infrastructure is not None:
            axes.text(x, 0.135, "in a circle: the capacity of a node", fontsize=8.5, color=PALE, va="center")


def _summary(subject: PictureSubject, evaluation: Evaluation | None) -> str:
    if evaluation is not None:
        time = f"{number(evaluation.response_time_ms)} ms" if isfinite(evaluation.response_time_ms) else "unbounded"
        parts = [f"response time {time}", f"{evaluation.cost_per_hour:.2f} $/h"]
        parts += [f"availability {100 * evaluation.availability:.3g} %"] if evaluation.availability < 1 else []
        parts += [f"{number(evaluation.traffic_tps)} tuples/s between nodes"]
        return "   ·   ".join(parts)
    parts = []
    if subject.application is not None:
        sources = [op for op in subject.application.operators if op.kind is Kind.SOURCE]
        rate = sum(subject.application.rates.operators[op.name] for op in sources)
        parts += [f"{len(subject.application.operators)} operators", f"{number(rate)} tuples/s from its sources"]
    if subject.infrastructure is not None:
        capacity = number(float(subject.infrastructure.capacities.sum()))
        parts += [f"{len(subject.infrastructure.nodes)} nodes", f"capacity {capacity}"]
    return "   ·   ".join(parts)
