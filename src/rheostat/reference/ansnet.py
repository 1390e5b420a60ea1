"""Network like the one of EDRP 7.2: fifteen sites of ANSNET, the T3 backbone of the early NSFNET, 32 ms on average.

The paper does not tell which fifteen sites, their links and their delays. Sites and links are as commonly drawn; two
suburban sites (Reston, San Jose) are merged with the city nearby, and Hawaii is left out.
"""

import numpy as np

from rheostat.model.network.globe import KM_PER_MS, great_circle_km
from rheostat.model.network.links import LinkQuality, Network
from rheostat.model.network.resources import Infrastructure
from rheostat.reference.networks import edrp_infrastructure, scaled_to_mean

SITES = {
    "albuquerque": (35.08, -106.65),
    "atlanta": (33.75, -84.39),
    "chicago": (41.88, -87.63),
    "cleveland": (41.50, -81.69),
    "dallas": (32.78, -96.80),
    "denver": (39.74, -104.99),
    "greensboro": (36.07, -79.79),
    "hartford": (41.76, -72.69),
    "houston": (29.76, -95.37),
    "los-angeles": (34.05, -118.24),
    "new-york": (40.71, -74.01),
    "san-francisco": (37.77, -122.42),
    "seattle": (47.61, -122.33),
    "st-louis": (38.63, -90.20),
    "washington": (38.91, -77.04),
}
"""Latitude and longitude in degrees."""

LINKS = (
    ("albuquerque", "houston"),
    ("albuquerque", "los-angeles"),
    ("atlanta", "greensboro"),
    ("atlanta", "houston"),
    ("chicago", "cleveland"),
    ("chicago", "denver"),
    ("chicago", "st-louis"),
    ("cleveland", "hartford"),
    ("cleveland", "new-york"),
    ("dallas", "houston"),
    ("dallas", "san-francisco"),
    ("dallas", "st-louis"),
    ("dallas", "washington"),
    ("denver", "san-francisco"),
    ("denver", "seattle"),
    ("greensboro", "washington"),
    ("hartford", "new-york"),
    ("los-angeles", "san-francisco"),
    ("new-york", "washington"),
    ("san-francisco", "seattle"),
    ("st-louis", "washington"),
)
"""Physical links, in both directions."""


def ansnet(mean_ms: float = 32.0) -> Infrastructure:
    """Fifteen nodes, shortest paths over physical links, logical links between all pairs [EDRP 7.2].

    Link delays are great-circle distances at 200 km/ms, all scaled so that the mean is 32 ms. Assumed: the paper's mean
    is over all pairs of distinct nodes, one way. By distance alone it would be 11.6 ms.
    """
    names = list(SITES)
    directed = []
    for a, b in LINKS:
        quality = LinkQuality(delay_ms=great_circle_km(SITES[a], SITES[b]) / KM_PER_MS)
        directed += [(names.index(a), names.index(b), quality), (names.index(b), names.index(a), quality)]
    delays = Network.routed(len(names), directed).delay_ms
    # The sum along a path may round differently from each end; a link has the same length in both directions.
    symmetric = np.minimum(delays, delays.T)
    return edrp_infrastructure("ansnet", names, scaled_to_mean(symmetric, mean_ms))
