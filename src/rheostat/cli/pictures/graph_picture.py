"""The graph of operators as boxes and curves: one layer after the other, upright or lying on its side."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path as Curve

from rheostat.cli.pictures.graph_layout import Layers, Point, layers
from rheostat.cli.views.colours import INK, KIND_COLOURS, PALE, number, replicas_range
from rheostat.model.graph.application import Application, Grouping, Operator, Stream
from rheostat.model.graph.deployment import Deployment

HEIGHT, ACROSS_GAP = 0.5, 0.35
"""Of a box, and between two boxes of one layer, in inches."""


@dataclass(frozen=True)
class GraphPicture:
    """Draws an application, with the replicas it has if it is deployed."""

    application: Application
    deployment: Deployment | None = None
    upright: bool = False
    """From top to bottom; otherwise from left to right."""
    critical: Sequence[str] = ()
    """Operators of the path that decides the response time: it is drawn bold."""

    @cached_property
    def layout(self) -> Layers:
        """Layers and rows."""
        return layers(self.application)

    @cached_property
    def box_width(self) -> float:
        """Wide enough for the longest text."""
        longest = max(max(len(op.name), 0.9 * len(self._about(op))) for op in self.application.operators)
        return max(1.25, 0.3 + 0.083 * longest)

    @property
    def _along(self) -> float:
        """From layer to layer."""
        return HEIGHT + 0.5 if self.upright else self.box_width + 1.0

    @property
    def _across(self) -> float:
        """From row to row."""
        return self.box_width + ACROSS_GAP if self.upright else HEIGHT + ACROSS_GAP

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        low, high = self.layout.rows
        along, across = (self.layout.depth - 1) * self._along, (high - low) * self._across
        if self.upright:
            return across + self.box_width + 0.6, along + HEIGHT
        return along + self.box_width, across + HEIGHT + 0.2

    def draw(self, axes: Axes) -> None:
        """Streams first, so that boxes lie over their ends."""
        bold = set(pairwise(self.critical))
        for stream in self.application.streams:
            self._draw_stream(axes, stream, stream.ends in bold)
        for operator in self.application.operators:
            self._draw_operator(axes, operator)

    def _at(self, place: Point) -> Point:
        """Inches of a (layer, row)."""
        low, high = self.layout.rows
        layer, row = place
        if self.upright:
            top = (self.layout.depth - 1) * self._along + HEIGHT / 2
            return (row - low) * self._across + self.box_width / 2, top - layer * self._along
        return layer * self._along + self.box_width / 2, (high - row) * self._across + HEIGHT / 2

    def _draw_operator(self, axes: Axes, operator: Operator) -> None:
        x, y = self._at(self.layout.places[operator.name])
        left, bottom, colour = x - self.box_width / 2, y - HEIGHT / 2, KIND_COLOURS[operator.kind]
        shape: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.07", "linewidth": 1.1}
        box = FancyBboxPatch((left, bottom), self.box_width, HEIGHT, fc="white", ec=colour, zorder=3, **shape)
        axes.add_patch(box)
        stripe = Rectangle((left, bottom), 0.09, HEIGHT, fc=colour, ec="none", zorder=4)
        axes.add_patch(stripe)
        stripe.set_clip_path(box)
        tint = Rectangle((left, bottom), self.box_width, HEIGHT, fc=colour, ec="none", alpha=0.1, zorder=3.5)
        axes.add_patch(tint)
        tint.set_clip_path(box)
        axes.text(
            x + 0.045, y + 0.09, operator.name, fontsize=9, weight="bold", color=INK, ha="center", va="center", zorder=5
        )
        axes.text(
            x + 0.045, y - 0.12, self._about(operator), fontsize=7.5, color=PALE, ha="center", va="center", zorder=5
        )

    def _about(self, operator: Operator) -> str:
        """The line under the name: replicas (has of may have), key, pin."""
        may = replicas_range(operator.min_replicas, operator.max_replicas)
        if self.deployment is not None and operator.name in self.deployment:
            has = len(self.deployment[operator.name])
            parts = [f"{has} of {may} replicas" if str(has) != may else f"{has} replica" + "s" * (has > 1)]
        else:
            parts = [f"{may} replica" + "s" * (operator.max_replicas > 1)]
        if operator.key:
            parts.append("key " + ", ".join(operator.key))
        elif operator.pin is not None:
            parts.append(f"on {operator.pin}")
        return " · ".join(parts)

    def _draw_stream(self, axes: Axes, stream: Stream, bold: bool) -> None:
        points = [self._at(place) for place in self.layout.routes[stream.ends]]
        reach = HEIGHT / 2 if self.upright else self.box_width / 2
        points[0], points[-1] = self._towards(points[0], reach), self._towards(points[-1], -reach)
        arrow = FancyArrowPatch(
            path=self._curve(points),
            arrowstyle="-|>,head_length=5,head_width=2.6",
            lw=2.2 if bold else 1.2,
            color=INK if bold else "#8fa0ae",
            zorder=2 if bold else 1,
            shrinkA=0,
            shrinkB=0,
        )
        axes.add_patch(arrow)
        self._draw_label(axes, stream, (points[-2], points[-1]), INK if bold else PALE)

    def _draw_label(self, axes: Axes, stream: Stream, ends: tuple[Point, Point], colour: str) -> None:
        """Rate, and grouping unless it is a shuffle: beside a stream that runs down, around one that runs across."""
        (ax, ay), (bx, by) = ends
        x, y, slanted = (ax + bx) / 2, (ay + by) / 2, abs(by - ay) > 0.05
        parts = [f"{number(self.application.rates.streams[stream.ends])}/s"]
        parts += [stream.grouping.value] if stream.grouping is not Grouping.SHUFFLE else []
        paper = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.85}
        style: dict[str, Any] = {"fontsize": 7.5, "color": colour, "va": "center", "linespacing": 1.6, "zorder": 6}
        if self.upright:
            axes.text(x + 0.08, y + 0.03, "  ".join(parts), bbox=paper, ha="left", **style)
        else:
            lift = 0.0 if len(parts) > 1 or slanted else 0.1
            axes.text(x - 0.04, y + lift, "\n".join(parts), bbox=paper if slanted else None, ha="center", **style)

    def _towards(self, point: Point, distance: float) -> Point:
        """A step along the flow."""
        return (point[0], point[1] - distance) if self.upright else (point[0] + distance, point[1])

    def _curve(self, points: Sequence[Point]) -> Curve:
        """Through all points, leaving and arriving along the flow."""
        vertices, codes = [points[0]], [Curve.MOVETO]
        for a, b in pairwise(points):
            bend = abs(b[1] - a[1] if self.upright else b[0] - a[0]) / 2
            vertices += [self._towards(a, bend), self._towards(b, -bend), b]
            codes += [Curve.CURVE4] * 3
        return Curve(vertices, codes)
