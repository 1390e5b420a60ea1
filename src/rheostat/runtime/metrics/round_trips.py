"""Coordinates of nodes in the latency space, from measured round trips."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from math import isfinite
from random import Random

from rheostat.model.network.coordinates import Coordinate, Vivaldi

CONTROLLER = "controller"
"""Name of the controller in the latency space; it is no node."""

_RULE = Vivaldi()


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A question and its answer."""

    source: str
    target: str
    milliseconds: float


def folded(
    coordinates: Mapping[str, Coordinate],
    round_trips: Iterable[RoundTrip],
    random: Random,
    rule: Vivaldi = _RULE,
) -> dict[str, Coordinate]:
    """The coordinates after some round trips, one after the other; both ends move, newcomers begin in the middle."""
    known = dict(coordinates)
    for trip in round_trips:
        if not (isfinite(trip.milliseconds) and trip.milliseconds > 0) or trip.source == trip.target:
            continue
        here, there = known.get(trip.source, Coordinate()), known.get(trip.target, Coordinate())
        known[trip.source] = rule.moved(here, there, trip.milliseconds, random)
        known[trip.target] = rule.moved(there, here, trip.milliseconds, random)
    return known


def delays_ms(coordinates: Mapping[str, Coordinate], nodes: Iterable[str]) -> dict[tuple[str, str], float]:
    """The estimated one-way delay between every two nodes that have a place."""
    placed = [node for node in nodes if node in coordinates]
    return {(u, v): coordinates[u].delay_ms(coordinates[v]) for u, v in permutations(placed, 2)}
