"""First half of `branch_and_bound`: bounds on the level of single nodes, and the bounds of multisets they give."""

import itertools
from dataclasses import dataclass
from math import inf

import numpy as np

from rheostat.model.graph.deployment import Deployment
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Values
from rheostat.planning.exact.bounds.bound_filter import graph_values, path_values
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, Prices
from rheostat.planning.exact.bounds.elimination import HUGE, Structure
from rheostat.planning.exact.bounds.lagrangian import Ascent, best_bound, prices_along
from rheostat.planning.exact.bounds.path_bound import PathAscent, PathBound, affordable_slots, longest_chain, path_bound
from rheostat.planning.exact.branch.incumbent import enough

_STEPS = 300_000
"""Limit on the steps of one pass along the path while prices are searched."""


@dataclass(frozen=True)
class Relaxed:
    """Bounds at the level of single nodes."""

    level: NodeLevel
    """The level with all its choices."""
    structure: Structure
    path: tuple[int, ...]
    prices: Prices
    values: list[Values]
    """Per operator and choice: lower bound of F with a multiset for which the choice stands."""
    lower: float
    free: PathBound | None = None
    """The path bound with free capacity, if known."""


def at_node_level(instance: EncodedProblem, first: Deployment | None, upper: float, clock: Deadline) -> Relaxed:
    """Bounds with prices along the longest chain, then for the whole graph if it is small enough."""
    level, path = NodeLevel(instance), longest_chain(instance)
    structure = Structure.of(len(instance.names), instance.edges, path)
    target = enough(instance, upper)
    prices = prices_along(instance, list(path), np.zeros(len(instance.node_names)))
    if min(level.sizes()) == 0:
        return Relaxed(level, structure, path, prices, [], HUGE)
    slots = min(3, affordable_slots(level, path, _STEPS))
    bound = path_bound(level, path, prices, PathAscent(slots, _rounds(level, path), target), clock)
    values = [np.full(size, -inf) for size in level.sizes()]
    lower = bound.value
    _raise(values, path_values(level, bound, target))
    if lower < target and not level.heavy:
        lower = max(lower, _refined(level, bound, values, target, clock))
    if lower < target and max(level.sizes()) <= _WIDEST and not clock.is_over():
        start = _blended_start(instance, first, bound.prices)
        whole = best_bound(level, structure, start, Ascent(20, 6, target), clock)
        lower = max(lower, whole.value)
        if instance.coefficients.response > 0 or whole.prices.response == 0:
            # Otherwise equal nodes are exchanged (`symmetric_nodes`): a price on lateness would tell them apart.
            _raise(values, dict(enumerate(graph_values(level, whole))))
    # Heavy stand-ins have no other prices.
    return Relaxed(level, structure, path, bound.prices, values, lower, bound if level.heavy else None)


_WIDEST = 150
"""Most choices of an operator for which messages between all pairs are computed at this level."""


def _rounds(level: NodeLevel, path: tuple[int, ...]) -> int:
    """Number of rounds: few if a pass is long; none if stand-ins are heavy, whose prices do not count all replicas."""
    if level.heavy:
        return 0
    sizes = [len(level.nodes[i]) for i in path]
    steps = sum(a * b for a, b in itertools.pairwise(sizes)) + 1
    return int(np.clip(5_000_000 // steps, 6, 10))


def _raise(values: list[Values], by: dict[int, Values]) -> None:
    for i, table in by.items():
        np.maximum(values[i], table, out=values[i])


def _refined(level: NodeLevel, bound: PathBound, values: list[Values], target: float, clock: Deadline) -> float:
    """Improves the bound using only the choices that can be part of a better deployment.

    Every removed choice costs at least `target`. So a value found without it holds only up to `target`; that suffices
    to drop a multiset all of whose nodes cost that much, and it raises the mean of the others.
    """
    small = NodeLevel(level.instance)
    masks = [np.asarray(table < target) for table in values]
    for i, mask in enumerate(masks):
        small.keep(i, mask)
    if min(small.sizes()) == 0:
        return target
    if clock.is_over() or target >= HUGE / 2:
        return -inf
    slots = min(4, affordable_slots(small, bound.path, _STEPS))
    again = path_bound(small, bound.path, bound.prices, PathAscent(slots, 3, target), clock)
    for i, table in path_values(small, again, target).items():
        values[i][masks[i]] = np.maximum(values[i][masks[i]], np.minimum(table, target))
    return min(again.value, target)


def _blended_start(instance: EncodedProblem, first: Deployment | None, prices: Prices) -> Prices:
    """Prices with the flow on the critical path of the known deployment; unchanged if there is none."""
    if first is None:
        return prices
    path = [instance.position[name] for name in instance.problem.evaluated(first).critical_path]
    return prices_along(instance, path, prices.capacity, prices.response)
