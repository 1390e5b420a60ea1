"""Colours and numbers, the same in the terminal and in pictures."""

from math import isfinite

from rheostat.model.graph.application import Kind

INK = "#22303c"
"""Text and outlines."""
PALE = "#6b7a88"
"""What may be overlooked."""
FAINT = "#d5dce2"
"""What should be."""
ACCENT = "#d1495b"
"""What must not be."""
KIND_COLOURS = {
    Kind.SOURCE: "#2a9d8f",
    Kind.STATELESS: "#3d7ab8",
    Kind.STATEFUL: "#e08e1b",
    Kind.SINK: "#7c6a9c",
}


def number(value: float) -> str:
    """Three significant digits, thousands kept apart, infinity in words.

    >>> number(0.0), number(4.6729), number(121.04), number(28350.0), number(float("inf"))
    ('0', '4.67', '121', '28,350', 'infinite')
    """
    if not isfinite(value):
        return "infinite" if value > 0 else "unknown"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = f"{value:.3g}"
    return f"{value:.6f}".rstrip("0").rstrip(".") if "e" in digits else digits


def replicas_range(least: int, most: int) -> str:
    """The range of replicas of an operator: `1` or `1-4`."""
    return f"{least}" if least == most else f"{least}-{most}"
