"""Rate curves: the cumulative number of rows of a source over time, written as a line of text.

| text | rows per second |
|---|---|
| `120` or `constant 120` | always the same |
| `ramp 5 550 for 300` | from 5 to 550 in 300 s, linearly |
| `sine 10 90 600` | between 10 and 90 with a period of 600 s, beginning at 10 |
| `day 20 300 86400` | a day of 86400 s: 20 at midnight, 300 in two rush hours, less at noon |
| `spikes 100 900 60 5` | 100, and in the last 5 s of every 60 s 900 |
| `120 for 900; 350 for 900` | one piece after the other; then nothing, unless the last one has no end |
| `ramp 5 550 for 300; ramp 550 5 for 300; repeat` | again and again |

The number of rows is the integral of the curve, rounded down.
"""

from dataclasses import dataclass
from math import cos, floor, inf, isfinite, pi, sin, sqrt
from typing import ClassVar, Protocol

_ROUNDING = 1e-9
"""Tolerance within which an integral counts as having reached a whole number."""


class CurveShape(Protocol):
    """Shape of one piece of a curve; time is measured from the start of the piece."""

    def rate(self, seconds: float) -> float:
        """Rows per second at a time."""

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""


@dataclass(frozen=True, slots=True)
class ConstantRate:
    """Constant rate."""

    tps: float

    def rate(self, seconds: float) -> float:  # noqa: ARG002 - a constant
        """Rows per second at a time."""
        return self.tps

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""
        return self.tps * seconds


@dataclass(frozen=True, slots=True)
class Ramp:
    """Linear change from one rate to another."""

    first: float
    last: float
    length: float

    def rate(self, seconds: float) -> float:
        """Rows per second at a time."""
        return self.first + (self.last - self.first) * seconds / self.length

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""
        return seconds * (self.first + self.rate(seconds)) / 2


@dataclass(frozen=True, slots=True)
class Sine:
    """Sine wave, beginning at its minimum."""

    low: float
    high: float
    period: float

    def rate(self, seconds: float) -> float:
        """Rows per second at a time."""
        return self.low + (self.high - self.low) * (1 - cos(2 * pi * seconds / self.period)) / 2

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""
        turn = 2 * pi / self.period
        return self.low * seconds + (self.high - self.low) * (seconds - sin(turn * seconds) / turn) / 2


@dataclass(frozen=True, slots=True)
class Day:
    """Daily pattern: low at midnight, high at about 7:20 and 16:40, three quarters of the way up at noon."""

    _MEAN: ClassVar[float] = 0.65625
    _FIRST: ClassVar[float] = 0.375
    _SECOND: ClassVar[float] = 0.28125

    low: float
    high: float
    length: float = 86_400.0

    def rate(self, seconds: float) -> float:
        """Rows per second at a time."""
        turn = 2 * pi * seconds / self.length
        return self.low + (self.high - self.low) * (self._MEAN - self._FIRST * cos(turn) - self._SECOND * cos(2 * turn))

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""
        turn = 2 * pi / self.length
        waves = self._FIRST * sin(turn * seconds) + self._SECOND * sin(2 * turn * seconds) / 2
        return self.low * seconds + (self.high - self.low) * (self._MEAN * seconds - waves / turn)


@dataclass(frozen=True, slots=True)
class Spikes:
    """Constant rate with a burst at the end of every period."""

    calm: float
    burst: float
    every: float
    length: float

    def __post_init__(self) -> None:
        """Rejects bursts that are longer than the period."""
        if not 0 < self.length <= self.every:
            raise ValueError(f"a spike lasts longer than 0 and at most as long as its period, got {self}")

    def rate(self, seconds: float) -> float:
        """Rows per second at a time."""
        return self.burst if seconds % self.every >= self.every - self.length else self.calm

    def rows(self, seconds: float) -> float:
        """Integral of the rate up to a time."""
        whole, rest = divmod(seconds, self.every)
        bursting = whole * self.length + max(0.0, rest - (self.every - self.length))
        return self.calm * seconds + (self.burst - self.calm) * bursting


@dataclass(frozen=True, slots=True)
class Piece:
    """A shape with its duration."""

    shape: CurveShape
    seconds: float = inf

    @property
    def rows(self) -> float:
        """Number of rows of the whole piece."""
        return self.shape.rows(self.seconds) if isfinite(self.seconds) else inf


@dataclass(frozen=True, slots=True)
class Curve:
    """Rate curve: pieces one after the other, repeated or not."""

    pieces: tuple[Piece, ...]
    repeats: bool = False

    def __post_init__(self) -> None:
        """Rejects an endless piece before the last one."""
        if not self.pieces:
            raise ValueError("a curve has at least one piece")
        if any(not isfinite(piece.seconds) for piece in self.pieces[: None if self.repeats else -1]):
            raise ValueError("only the last piece may last for ever: write `for SECONDS`")
        if self.repeats and self._round_rows <= 0:
            raise ValueError("a curve that repeats brings at least something in every round")

    def rows_after(self, seconds: float) -> int:
        """Whole rows after so many seconds."""
        return floor(self.integral(max(0.0, seconds)) + _ROUNDING)

    def seconds_until(self, index: int) -> float:
        """Time of the row with this index (the first is 0); infinite if there is no such row."""
        wanted, before = float(index + 1), 0.0
        if self.repeats:
            rounds = max(0, floor((wanted - _ROUNDING) / self._round_rows))
            wanted, before = wanted - rounds * self._round_rows, rounds * self._round_seconds
        for piece in self.pieces:
            if piece.rows + _ROUNDING >= wanted:
                return before + _when(piece, wanted)
            wanted, before = wanted - piece.rows, before + piece.seconds
        return inf

    @property
    def total(self) -> float:
        """Total number of rows; infinite if the curve repeats."""
        return inf if self.repeats else sum(piece.rows for piece in self.pieces)

    @property
    def _round_rows(self) -> float:
        return sum(piece.rows for piece in self.pieces)

    @property
    def _round_seconds(self) -> float:
        return sum(piece.seconds for piece in self.pieces)

    def integral(self, seconds: float) -> float:
        """Rows after so many seconds, including fractions."""
        rows = 0.0
        if self.repeats:
            rounds, seconds = divmod(seconds, self._round_seconds)
            rows = rounds * self._round_rows
        for piece in self.pieces:
            if seconds < piece.seconds:
                return rows + piece.shape.rows(seconds)
            rows, seconds = rows + piece.rows, seconds - piece.seconds
        return rows


def parse_curve(text: str) -> Curve:
    """The curve that a text describes."""
    parts = [part.split() for part in text.split(";")]
    repeats = parts[-1] == ["repeat"]
    return Curve(tuple(_piece(words, text) for words in (parts[:-1] if repeats else parts)), repeats)


def _piece(words: list[str], text: str) -> Piece:
    if len(words) > 2 and words[-2] == "for":
        words, seconds = words[:-2], _number(words[-1], text)
    else:
        seconds = inf
    if words and words[0] not in _SHAPES:
        words = ["constant", *words]
    if not words or len(words) - 1 not in _SHAPES[words[0]]:
        raise ValueError(f"{' '.join(words) or 'an empty piece'!r} is not a piece of a curve, in {text!r}")
    return Piece(_shape(words[0], [_number(word, text) for word in words[1:]], seconds), seconds)


_SHAPES = {"constant": (1,), "ramp": (2,), "sine": (3,), "day": (2, 3), "spikes": (4,)}
"""Allowed numbers of arguments of each shape."""


def _shape(name: str, numbers: list[float], seconds: float) -> CurveShape:
    match name:
        case "ramp":
            if not (isfinite(seconds) and seconds > 0):
                raise ValueError("a ramp ends some time: write `ramp FIRST LAST for SECONDS`")
            first, last = numbers
            return Ramp(first, last, seconds)
        case "sine":
            return Sine(*numbers)
        case "day":
            return Day(*numbers)
        case "spikes":
            return Spikes(*numbers)
    return ConstantRate(*numbers)


def _number(word: str, text: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not (isfinite(number) and number >= 0):
        raise ValueError(f"{word!r} is not a number >= 0, in {text!r}")
    return number


def _when(piece: Piece, rows: float) -> float:
    """The time within a piece at which its integral reaches so many rows."""
    match piece.shape:
        case ConstantRate(tps):
            return rows / tps
        case Ramp(first, last, length):
            slope = (last - first) / length
            # The stable form of the root of slope/2 t² + first t = rows.
            return 2 * rows / (first + sqrt(max(0.0, first * first + 2 * slope * rows)))
    low, high = 0.0, 1.0
    while piece.shape.rows(high) < rows and high < piece.seconds:
        low, high = high, min(2 * high, piece.seconds)
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if piece.shape.rows(middle) >= rows else (middle, high)
    return high
