"""The network as a map: near is fast. With a deployment, operators on their nodes and the flows between."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from numpy.typing import NDArray

from rheostat.cli.pictures.graph_layout import Point
from rheostat.cli.pictures.map_layout import neighbours, positions, without_overlaps
from rheostat.cli.views.colours import ACCENT, FAINT, INK, KIND_COLOURS, PALE, number
from rheostat.model.network.links import Matrix
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import link_loads_tps

REGION_COLOURS = ("#e3ecf4", "#e4f1ea", "#fbeedb", "#efe9f5", "#fbe6e6", "#e9eef0", "#f3f2dc", "#e2f2f4")
MOST_NAMED = 60
"""Nodes; beyond that a name per node would hide the map."""
CHIP = 0.23
"""Height of one operator under its node, in inches."""
BENDS = (0.14, -0.14, 0.28, -0.28)
"""How far a flow may leave the straight line."""


@dataclass(frozen=True)
class NetworkPicture:
    """Draws an infrastructure, with the operators on it if it has a deployment."""

    infrastructure: Infrastructure
    placed: Placed | None = None

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        left, bottom = (self.points - self.boxes[:, [0, 2]]).min(axis=0)
        right, top = (self.points + self.boxes[:, [1, 3]]).max(axis=0)
        return float(right - left), float(top - bottom)

    @cached_property
    def named(self) -> bool:
        """Whether nodes have names on the map."""
        return len(self.infrastructure.nodes) <= MOST_NAMED

    @cached_property
    def chips(self) -> list[list[tuple[str, str]]]:
        """Text and colour of every operator on every node."""
        if self.placed is None or not self.named:
            return [[] for _ in self.infrastructure.nodes]
        operators, deployment = self.placed.application.operators, self.placed.deployment
        return [
            [
                (f"{op.name} ×{count}" if count > 1 else op.name, KIND_COLOURS[op.kind])
                for op in operators
                if (count := deployment[op.name][node.name])
            ]
            for node in self.infrastructure.nodes
        ]

    @cached_property
    def boxes(self) -> Matrix:
        """Room every node needs to its left, right, below and above, in inches."""
        rows = []
        for node, chips in zip(self.infrastructure.nodes, self.chips, strict=True):
            if self.named:
                widest = max([0.45, 0.08 * len(node.name), *(_chip_width(text) for text, _ in chips)])
                # Around what is busy there must be room for what flows there and for its label.
                side, rim = widest / 2 + (0.4 if chips else 0.08), 0.18 if chips else 0.0
                rows.append((side, side, 0.27 + CHIP * len(chips) + rim, 0.42 + rim))
            else:
                rows.append((0.06, 0.06, 0.06, 0.06))
        return np.array(rows)

    @cached_property
    def points(self) -> Matrix:
        """Inches of every node, from the corner of the picture."""
        side = min(13.0, max(3.6, 1.5 * sqrt(len(self.infrastructure.nodes))))
        free = positions(self.infrastructure.network.delay_ms) * [1.35 * side, side]
        clear = without_overlaps(free, self.boxes)
        return np.asarray(clear - (clear - self.boxes[:, [0, 2]]).min(axis=0))

    def draw(self, axes: Axes) -> None:
        """Links, then flows, then nodes, then operators on them."""
        self._draw_links(axes)
        if self.placed is not None:
            sources, targets, loads = link_loads_tps(self.placed)
            most = float(loads.max(initial=0.0)) or 1.0
            taken: list[Point] = []
            for u, v, load in zip(sources.tolist(), targets.tolist(), loads.tolist(), strict=True):
                self._draw_flow(axes, (u, v), 1.0 + 2.6 * sqrt(load / most))
                taken.append(self._draw_flow_label(axes, (u, v), load, taken))
        for position in range(len(self.infrastructure.nodes)):
            self._draw_node(axes, position)

    @cached_property
    def _regions(self) -> dict[str, str]:
        names = sorted({node.region for node in self.infrastructure.nodes})
        return {name: REGION_COLOURS[i % len(REGION_COLOURS)] for i, name in enumerate(names)}

    def _draw_links(self, axes: Axes) -> None:
        """Physical links where they are known, else the pairs that are neighbours by delay."""
        at = self.infrastructure
        if at.links:
            pairs = [(at.index[link.source], at.index[link.target]) for link in at.links]
        else:
            pairs = neighbours(at.network.delay_ms) if len(at.nodes) <= 2 * MOST_NAMED else []
        for u, v in sorted({(min(pair), max(pair)) for pair in pairs}):
            (ax, ay), (bx, by) = self.points[u], self.points[v]
            axes.plot([ax, bx], [ay, by], color=FAINT, lw=1.6, zorder=1, solid_capstyle="round")
            middle = ((ax + bx) / 2, (ay + by) / 2)
            if len(pairs) <= 40 and self.placed is None and self._is_free(middle, []):
                _write(axes, middle, f"{number(float(at.network.delay_ms[u, v]))} ms", PALE)

    def _arc(self, ends: tuple[int, int], bend: float, steps: Sequence[float]) -> list[Point]:
        """Points of a flow: a quadratic curve, its handle `bend` times the distance to the right of the middle."""
        (ax, ay), (bx, by) = (self.points[end].tolist() for end in ends)
        hx, hy = (ax + bx) / 2 + bend * (by - ay), (ay + by) / 2 - bend * (bx - ax)
        weights = [((1 - t) ** 2, 2 * t * (1 - t), t**2) for t in steps]
        return [(a * ax + h * hx + b * bx, a * ay + h * hy + b * by) for a, h, b in weights]

    def _bend(self, ends: tuple[int, int]) -> float:
        """The slightest bend that keeps a flow clear of the nodes it does not belong to."""
        others = [i for i in range(len(self.points)) if i not in ends]

        def crowded(bend: float) -> int:
            arc = self._arc(ends, bend, np.linspace(0.1, 0.9, 17).tolist())
            return sum(bool(self._inside(point, 0.0)[others].any()) for point in arc)

        return min(BENDS, key=crowded)

    def _draw_flow(self, axes: Axes, ends: tuple[int, int], width: float) -> None:
        start, end = (tuple(self.points[end].tolist()) for end in ends)
        axes.add_patch(
            FancyArrowPatch(
                start,
                end,
                connectionstyle=f"arc3,rad={self._bend(ends)}",
                arrowstyle="-|>,head_length=6,head_width=3",
                shrinkA=13,
                shrinkB=14,
                lw=width,
                color=ACCENT,
                alpha=0.75,
                zorder=2,
            )
        )

    def _draw_flow_label(self, axes: Axes, ends: tuple[int, int], load: float, taken: list[Point]) -> Point:
        """At the first place on the arc that is free, the middle if none is."""
        places = self._arc(ends, self._bend(ends), (0.5, 0.4, 0.6, 0.3, 0.7))
        place = next((place for place in places if self._is_free(place, taken)), places[0])
        delay = number(float(self.infrastructure.network.delay_ms[ends]))
        _write(axes, place, f"{number(load)}/s · {delay} ms", ACCENT)
        return place

    def _is_free(self, place: Point, taken: list[Point]) -> bool:
        x, y = place
        return not self._inside(place, 0.1).any() and all(abs(x - a) > 0.85 or abs(y - b) > 0.18 for a, b in taken)

    def _inside(self, place: Point, margin: float) -> NDArray[np.bool_]:
        """The nodes in whose boxes a place lies."""
        away = self.points - list(place)
        left, right, down, up = self.boxes.T
        across = (away[:, 0] < left + margin) & (-away[:, 0] < right + margin)
        return np.asarray(across & (away[:, 1] < down + margin / 2) & (-away[:, 1] < up + margin / 2))

    def _draw_node(self, axes: Axes, position: int) -> None:
        node, (x, y) = self.infrastructure.nodes[position], self.points[position]
        busy = bool(self.chips[position])
        radius, edge = (0.17 if self.named else 0.05), (INK if busy else "#9fb0bd")
        fill = self._regions[node.region]
        axes.add_patch(Circle((x, y), radius, fc=fill, ec=edge, lw=1.6 if busy else 1.0, zorder=4))
        if not self.named:
            return
        centred: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 7}
        axes.text(x, y, number(node.capacity), fontsize=7, color=INK, **centred)
        weight, colour = ("bold", INK) if busy else ("normal", PALE)
        axes.text(x, y + 0.28, node.name, fontsize=8.5, weight=weight, color=colour, **centred)
        for row, (text, fill) in enumerate(self.chips[position]):
            _draw_chip(axes, (float(x), float(y) - 0.34 - CHIP * row), text, fill)


def _chip_width(text: str) -> float:
    return 0.16 + 0.075 * len(text)


def _draw_chip(axes: Axes, centre: Point, text: str, colour: str) -> None:
    width = _chip_width(text)
    corner = (centre[0] - width / 2, centre[1] - 0.09)
    shape = "round,pad=0,rounding_size=0.06"
    axes.add_patch(FancyBboxPatch(corner, width, 0.18, boxstyle=shape, fc=colour, ec="white", lw=0.8, zorder=6))
    axes.text(*centre, text, fontsize=7.5, color="white", weight="bold", ha="center", va="center", zorder=7)


def _write(axes: Axes, place: Point, text: str, colour: str) -> None:
    """A small label on its own piece of paper."""
    paper = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.85}
    axes.text(*place, text, fontsize=7, color=colour, ha="center", va="center", bbox=paper, zorder=3)
