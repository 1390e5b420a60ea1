"""Distances on the globe, and the delay of light in fibre over them."""

from math import asin, cos, radians, sin, sqrt

KM_PER_MS = 200.0
"""Speed of light in fibre: two thirds of that in vacuum."""
EARTH_RADIUS_KM = 6371.0
"""Mean radius of the earth."""


def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance in km between two points (latitude, longitude) in degrees, by the haversine formula.

    >>> round(great_circle_km((40.71427, -74.00597), (41.85003, -87.65005)))
    1146
    """
    (lat1, lon1), (lat2, lon2) = ((radians(lat), radians(lon)) for lat, lon in (a, b))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(half)))
