"""The nodes of a run without an infrastructure document: equal parts of this machine."""

import os
from math import ceil

from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure, Node

SPARE = 2.0
"""Slots per slot that the application needs at least, so that it can be scaled out on a small machine, too."""


def local_infrastructure(application: Application, count: int, cores: int | None = None) -> Infrastructure:
    """So many nodes, n1, n2 and so on, with equal slots and no delay between them.

    Together they have a slot for each core, and at least twice as many as the application needs with the fewest
    replicas of every operator. Every node has at least one slot, and room for the largest replica.
    """
    least = sum(operator.min_replicas * operator.resources for operator in application.operators)
    largest = max(operator.resources for operator in application.operators)
    slots = max(available_cores() if cores is None else cores, SPARE * least)
    each = max(1, ceil(slots / count - 1e-9), ceil(largest - 1e-9))
    return Infrastructure("local", tuple(Node(f"n{number + 1}", float(each)) for number in range(count)))


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
