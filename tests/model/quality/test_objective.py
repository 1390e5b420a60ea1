"""Weights, bounds and normalisers that are none are refused; bounds that are broken are named."""

from math import nan

import pytest

from rheostat.errors import InvalidModel
from rheostat.model.quality.objective import Bounds, EdrpObjective, Metrics, OdpObjective, Range


def test_broken_bounds_are_named():
    bounds = Bounds(response_time_ms=100, cost_per_hour=10, downtime_seconds=5, availability=0.9)
    assert bounds.broken_by(Metrics(100, 0.9, 10, 5)) == ()
    assert bounds.broken_by(Metrics(101, 0.8, 11, 6)) == (
        "response_time_ms 101 exceeds 100",
        "cost_per_hour 11 exceeds 10",
        "downtime_seconds 6 exceeds 5",
        "availability 0.8 is below 0.9",
    )


def test_a_response_time_that_is_not_known_keeps_no_bound():
    assert Bounds(response_time_ms=100).broken_by(Metrics(nan)) != ()


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        pytest.param((0.5, 0.6, 0.0), "sum to 1.1", id="too much"),
        pytest.param((0.0, 0.0, 0.0), "sum to 0", id="nothing matters"),
        pytest.param((1.5, -0.5, 0.0), "is not a weight", id="negative"),
        pytest.param((nan, 0.5, 0.5), "is not a weight", id="not a number"),
    ],
)
def test_weights_that_are_none_are_refused(weights, reason):
    with pytest.raises(InvalidModel, match=reason):
        EdrpObjective(*weights, bounds=Bounds(1, 1, 1))
    with pytest.raises(InvalidModel, match=reason):
        OdpObjective(*weights)


def test_a_weighed_metric_needs_its_normaliser():
    with pytest.raises(InvalidModel, match=r"cost is weighed but has no bound"):
        EdrpObjective(0.5, 0.5, 0.0, Bounds(response_time_ms=100))
    with pytest.raises(ValueError, match="response_time is weighed"):
        OdpObjective(1.0).utility_of(Metrics(1))


@pytest.mark.parametrize("ends", [(2.0, 1.0), (nan, 1.0), (0.0, float("inf"))])
def test_a_range_has_two_ends_in_order(ends):
    with pytest.raises(ValueError, match="least <= greatest"):
        Range(*ends)
