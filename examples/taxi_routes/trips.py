"""Random trip reports, as the challenge's files have them. Pure Python.

Few routes are popular, most are not (Zipf). Of a hundred lines three are invalid in one way or another, and two trips
begin or end outside the area.
"""

from datetime import datetime, timedelta

from examples.taxi_routes.definition import CELL_HEIGHT, CELL_WIDTH, NORTH, WEST
from rheostat import sources

POPULAR_PLACES = 400
_LAW = sources.Zipf(POPULAR_PLACES, 0.9)
_EPOCH = datetime(1970, 1, 1)  # a plain one: it is written without a time zone
_CELLS = [
    (130 + sources.Draw(2015, place).below(50), 140 + sources.Draw(1898, place).below(50))
    for place in range(POPULAR_PLACES)
]
_PAYMENTS = ("CRD", "CRD", "CSH")


def trip(draw: sources.Draw) -> tuple[str]:
    """One line. Its drop-off is the row's event time."""
    places = [*_place(draw), *_place(draw)]
    fate = draw.below(100)
    if fate < 2:
        places[2 * draw.below(2)] -= 5.0  # west of the area
    duration = 60 * draw.between(1, 40)
    dropoff = _EPOCH + timedelta(microseconds=draw.event_time_us)
    pickup = dropoff - timedelta(seconds=duration)
    money = [draw.between(300, 6000) / 100, draw.pick((0.0, 0.5, 1.0)), 0.5, draw.below(500) / 100, 0.0]
    values = [
        f"{draw.bits() << 64:032x}",
        f"{draw.bits() << 64:032x}",
        pickup.isoformat(" ", "seconds"),
        dropoff.isoformat(" ", "seconds"),
        str(duration),
        f"{duration / 300:.2f}",
        *(f"{degrees:.6f}" for degrees in places),
        draw.pick(_PAYMENTS),
        *(f"{amount:.2f}" for amount in money),
        f"{sum(money):.2f}",
    ]
    return (_spoilt(values, draw) if fate >= 97 else ",".join(values),)


def _place(draw: sources.Draw) -> tuple[float, float]:
    """(longitude, latitude) somewhere in the cell of a popular place."""
    x, y = _CELLS[_LAW.draw(draw)]
    return WEST + (x - 1 + draw.uniform() - 0.5) * CELL_WIDTH, NORTH - (y - 1 + draw.uniform() - 0.5) * CELL_HEIGHT


def _spoilt(values: list[str], draw: sources.Draw) -> str:
    """A line that must not count."""
    match draw.below(6):
        case 0:
            return ",".join(values[: draw.between(1, 9)])
        case 1:
            values[6] = values[7] = "0.000000"
        case 2:
            values[8] = ""
        case 3:
            values[9] = "north"
        case 4:
            values[4] = "-60"
        case _:
            values[2], values[3] = values[3], values[2]
    return ",".join(values)
