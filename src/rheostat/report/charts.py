"""Line charts over time as SVG, without a library: the page works offline.

The same numbers give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import floor, isfinite, log10

INK, PALE, FAINT, ACCENT = "#22303c", "#6b7a88", "#e4e9ed", "#d1495b"
"""Colours of text, of labels, of grid lines, and of limits."""
COLOURS = ("#3d7ab8", "#e08e1b", "#2a9d8f", "#7c6a9c", "#d1495b", "#8a9a3b", "#5fa8d3", "#b5651d", "#444f5a", "#c77dba")
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960, 62, 30, 26, 30
"""Pixels of the picture and around the plot. The unit stands above the plot, labels of time below it."""
FONT_PIXELS = 11
MOST_POINTS = 900
"""About one per pixel: more cannot be seen."""

Numbers = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One series of a chart."""

    name: str
    values: Numbers
    colour: str = COLOURS[0]
    steps: bool = False
    """Whether a value holds until the next one, as numbers of replicas do."""
    width: float = 1.6


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at the moment of an event."""

    at_seconds: float
    text: str
    colour: str = PALE


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over one period of time."""

    title: str
    unit: str
    seconds: Sequence[float]
    lines: Sequence[ChartLine]
    marks: Sequence[Mark] = ()
    limit: float | None = None
    """A level that should not be exceeded."""
    top: float | None = None
    """End of the axis; higher values are cut off. None: the highest value."""
    height: int = 190
    notes: Sequence[str] = field(default_factory=tuple)

    def svg(self, *, alone: bool = False) -> str:
        """The picture; with `alone` it has the namespace that a file of its own needs."""
        high = self._high()
        space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
        box = f'viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(self.title, quote=True)}"'
        parts = [
            f'<svg{space} {box} font-family="sans-serif" font-size="{FONT_PIXELS}">',
            f"<title>{escape(self.title)}</title>",
            *self._grid(high),
            *self._marks(),
            *(self._line(line, high) for line in self.lines),
        ]
        if self.limit is not None and self.limit <= high:
            y = self._y(self.limit, high)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{ACCENT}" '
                'stroke-dasharray="6 4"/>'
            )
        return "\n".join([*parts, "</svg>"])

    def legend(self) -> str:
        """Names and colours of the lines, as HTML."""
        items = [
            f'<span><i style="background:{line.colour}"></i>{escape(line.name)}</span>'
            for line in self.lines
            if len(self.lines) > 1
        ]
        if self.limit is not None:
            items.append(
                f'<span><i style="background:{ACCENT}"></i>objective {self.limit:g} {escape(self.unit)}</span>'
            )
        return "".join([*items, *(f"<span>{escape(note)}</span>" for note in self.notes)])

    @property
    def _end(self) -> float:
        return max(self.seconds[-1] if self.seconds else 1.0, 1e-9)

    def _high(self) -> float:
        known = [value for line in self.lines for value in line.values if value is not None and isfinite(value)]
        highest = max([*known, self.limit or 0.0, 1e-9]) if self.top is None else self.top
        return max(highest * 1.05, 1e-9)

    def _x(self, seconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self._end

    def _y(self, value: float, high: float) -> float:
        return TOP + (self.height - TOP - BOTTOM) * (1 - min(value, high) / high)

    def _grid(self, high: float) -> list[str]:
        parts = []
        for value in ticks(high, 5):
            y = self._y(value, high)
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{PALE}">{value:g}</text>')
        for moment in ticks(self._end, 9, whole=(60, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)):
            x = self._x(moment)
            parts.append(
                f'<text x="{x:.1f}" y="{self.height - 8}" text-anchor="middle" fill="{PALE}">{clock(moment)}</text>'
            )
        # Above the plot, in a line of its own: beside the ticks it would lie on the highest one.
        parts.append(f'<text x="6" y="{FONT_PIXELS + 1}" fill="{PALE}">{escape(self.unit)}</text>')
        return parts

    def _marks(self) -> list[str]:
        bottom, drawn = self.height - BOTTOM, []
        for mark in self.marks:
            x, told = self._x(mark.at_seconds), f"<title>{clock(mark.at_seconds)} {escape(mark.text)}</title>"
            place = f'x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"'
            drawn.append(f'<line {place} stroke="{mark.colour}" stroke-opacity="0.35">{told}</line>')
        return drawn

    def _line(self, line: ChartLine, high: float) -> str:
        """One path; a gap where nothing was known. A single point between two gaps is a dot."""
        path, pen_down, last = [], False, 0.0
        for seconds, value in thinned(self.seconds, line.values, line.steps):
            if value is None:
                pen_down = False
                continue
            x, y = self._x(seconds), self._y(value, high)
            if pen_down and line.steps:
                path.append(f"L{x:.1f} {last:.1f}")
            path.append(f"L{x:.1f} {y:.1f}" if pen_down else f"M{x:.1f} {y:.1f}h0")
            pen_down, last = True, y
        return (
            f'<path d="{"".join(path)}" fill="none" stroke="{line.colour}" stroke-width="{line.width:g}" '
            f'stroke-linejoin="round" stroke-linecap="round"><title>{escape(line.name)}</title></path>'
        )


def thinned(seconds: Sequence[float], values: Numbers, steps: bool = False) -> list[tuple[float, float | None]]:
    """At most `MOST_POINTS` points: means of neighbours, or for steps the points where the value changes."""
    points = list(zip(seconds, values, strict=True))
    if steps:
        changing = [later for earlier, later in pairwise(points) if earlier[1] != later[1]]
        return [*points[:1], *changing, *points[-1:]]
    size = -(-len(points) // MOST_POINTS)
    if size <= 1:
        return points
    buckets = [points[i : i + size] for i in range(0, len(points), size)]
    return [(bucket[-1][0], _mean([value for _, value in bucket if value is not None])) for bucket in buckets]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def ticks(end: float, about: int, whole: Sequence[float] = ()) -> list[float]:
    """Round numbers from 0 to the end, about as many as asked for; of the given sizes if one fits.

    >>> ticks(500, 5)
    [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]
    >>> ticks(43200, 9, whole=(3600, 7200))
    [0.0, 7200.0, 14400.0, 21600.0, 28800.0, 36000.0, 43200.0]
    """
    raw = end / about
    size = next((step for step in whole if step >= raw), None)
    if size is None or raw * 20 < size:
        power = 10.0 ** floor(log10(raw))
        size = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    return [float(size * i) for i in range(int(end / size + 1e-9) + 1)]


def clock(seconds: float) -> str:
    """Time as minutes and seconds, with hours from one hour on.

    >>> clock(75), clock(5400)
    ('1:15', '1:30:00')
    """
    whole = round(seconds)
    minutes = f"{whole // 60 % 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}" if whole >= 3600 else minutes
