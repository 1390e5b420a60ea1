"""The papers' applications and networks as values, by the names used on the command line.

It uses `model` alone. What the papers leave open is said where it is filled in, and listed in `docs/assumptions.md`.
"""

from collections.abc import Callable, Mapping

from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.reference.ansnet import ansnet
from rheostat.reference.generators import fat, layered, sequential
from rheostat.reference.networks import odp_testbed, random_gaussian, random_geographic
from rheostat.reference.patterns import frequent_patterns
from rheostat.reference.tag_and_count import tag_and_count
from rheostat.reference.taxi import taxi
from rheostat.reference.word_count import word_count

APPLICATIONS: Mapping[str, Callable[..., Application]] = {
    "fat": fat,
    "frequent-patterns": frequent_patterns,
    "layered": layered,
    "sequential": sequential,
    "tag-and-count": tag_and_count,
    "taxi": taxi,
    "word-count": word_count,
}
"""Factories that need no argument; nothing is pinned by default, so that each fits every network."""

NETWORKS: Mapping[str, Callable[..., Infrastructure]] = {
    "ansnet": ansnet,
    "gaussian": random_gaussian,
    "geographic": random_geographic,
    "odp-testbed": odp_testbed,
}
"""Factories that need no argument."""
