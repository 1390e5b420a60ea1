"""Coordinates converge to the delays of a network that was never measured as a whole."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.network.coordinates import Coordinate, Vivaldi


def test_a_network_in_the_plane_is_learnt_within_a_few_percent():
    random = Random(7)
    places = [(random.uniform(0, 100), random.uniform(0, 100)) for _ in range(12)]
    true = [[((a - c) ** 2 + (b - d) ** 2) ** 0.5 + 1 for c, d in places] for a, b in places]
    rule, coordinates = Vivaldi(), [Coordinate() for _ in places]
    for _ in range(300):
        for i in range(12):
            j = random.choice([k for k in range(12) if k != i])
            coordinates[i] = rule.moved(coordinates[i], coordinates[j], true[i][j], random)
    errors = [abs(coordinates[i].round_trip_ms(coordinates[j]) / true[i][j] - 1) for i in range(12) for j in range(i)]
    assert sorted(errors)[len(errors) // 2] < 0.05
    assert max(coordinate.error for coordinate in coordinates) < 0.3


@given(st.floats(0.1, 1000), st.floats(0, 100), st.floats(0, 100))
def test_a_move_never_makes_the_estimate_worse_than_it_was(measured, x, y):
    rule, remote = Vivaldi(), Coordinate((x, y))
    own = Coordinate((1.0, 2.0))
    moved = rule.moved(own, remote, measured, Random(1))
    before = abs(own.round_trip_ms(remote) - measured)
    assert abs(moved.round_trip_ms(remote) - measured) <= before + rule.least_height + 1e-9


def test_two_nodes_in_the_same_place_get_apart():
    moved = Vivaldi().moved(Coordinate(), Coordinate(), 50.0, Random(1))
    assert moved.position != (0.0, 0.0)
    assert moved.delay_ms(Coordinate()) == moved.round_trip_ms(Coordinate()) / 2


@pytest.mark.parametrize("round_trip", [0.0, -1.0, float("nan"), float("inf")])
def test_a_round_trip_takes_time(round_trip):
    with pytest.raises(ValueError, match="round trip"):
        Vivaldi().moved(Coordinate(), Coordinate(), round_trip, Random(1))


@pytest.mark.parametrize("wrong", [lambda: Coordinate(()), lambda: Coordinate(height=-1), lambda: Vivaldi(step=0)])
def test_what_is_no_place_is_refused(wrong):
    with pytest.raises(ValueError, match="need"):
        wrong()
