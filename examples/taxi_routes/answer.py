"""The right answer, without Spark."""

from collections import Counter, deque
from collections.abc import Iterable
from datetime import datetime
from math import floor

from examples.taxi_routes.definition import (
    CELL_HEIGHT,
    CELL_WIDTH,
    CELLS,
    FIELDS,
    LEFT,
    RANKS,
    TOP,
    WINDOW_MINUTES,
)

Ranking = tuple[tuple[str, int], ...]
"""(route, trips), the most frequent first."""


def answer(reports: Iterable[tuple[int, str]]) -> dict[int, Ranking]:
    """The ranking of every minute that is over. Reports are (event time in microseconds, line), in order."""
    rankings: dict[int, Ranking] = {}
    window: deque[Counter[str]] = deque([Counter()], maxlen=WINDOW_MINUTES)
    current: int | None = None
    for event_time_us, line in reports:
        minute = -(-event_time_us // 60_000_000)
        current = minute if current is None else current
        while current < minute:
            rankings[current] = _ranking(window)
            window.append(Counter())
            current += 1
        route = route_of(line)
        if route is not None:
            window[-1][route] += 1
    return rankings


def route_of(line: str) -> str | None:
    """The route of a trip, None if the line is invalid or the trip leaves the area."""
    values = line.split(",")
    if len(values) != len(FIELDS):
        return None
    try:
        pickup, dropoff = (datetime.strptime(value, "%Y-%m-%d %H:%M:%S") for value in values[2:4])
        duration, places = int(values[4]), [float(value) for value in values[6:10]]
    except ValueError:
        return None
    if pickup > dropoff or duration < 0 or 0.0 in places:
        return None
    cells = [_cell(*places[:2]), _cell(*places[2:])]
    if not all(1 <= number <= CELLS for cell in cells for number in cell):
        return None
    return "-".join(f"{x:03}.{y:03}" for x, y in cells)


def _cell(longitude: float, latitude: float) -> tuple[int, int]:
    return floor((longitude - LEFT) / CELL_WIDTH) + 1, floor((TOP - latitude) / CELL_HEIGHT) + 1


def _ranking(window: Iterable[Counter[str]]) -> Ranking:
    counts: Counter[str] = Counter()
    for minute in window:
        counts.update(minute)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:RANKS])
