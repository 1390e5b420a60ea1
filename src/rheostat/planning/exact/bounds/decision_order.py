"""Decision order of the search: operators beside the longest path are decided last.

Tuples mostly reach an operator beside the path long before they arrive along the path: then all its nodes are equally
good, and a search that decides it on the way repeats everything after it for each of them. Decided last, it is tried
only where the path alone is good enough. Until then its delay does not count, which only lowers the bounds.
"""

import numpy as np

from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.choice_levels import OptionLevel, Prices
from rheostat.planning.exact.bounds.elimination import Structure
from rheostat.planning.exact.bounds.lagrangian import Bound, bound_with, prices_along

_MOST_FLOW = 0.25
"""Share of the flow through an operator beside the path above which it is decided as early as usual."""


def operators_beside(instance: EncodedProblem, path: tuple[int, ...]) -> tuple[int, ...]:
    """Operators whose streams all lead to or from operators on the path.

    None where links are limited: the load of an operator counts when it is decided, not when others are.
    """
    if np.isfinite(instance.problem.infrastructure.network.bandwidth_tps).any():
        return ()
    near: list[set[int]] = [set() for _ in instance.names]
    for i, j in instance.edges.tolist():
        near[i].add(j)
        near[j].add(i)
    return tuple(i for i in range(len(near)) if i not in path and near[i] <= set(path))


def bound_for_search(options: OptionLevel, structure: Structure, prices: Prices, path: tuple[int, ...]) -> Bound:
    """Messages in the order of the search: operators beside the path last, unless much of the flow goes through them.

    All flow is on the path if these are last. A share through an operator that does not count yet would be paid twice,
    by its delay and by the waiting time of others.
    """
    instance, last = options.instance, operators_beside(options.instance, path)
    if not last or 2 * len(path) <= len(instance.names) or prices.through[list(last)].max() > _MOST_FLOW:
        return bound_with(options, structure.affordable(instance.edges, options.sizes()), prices)
    late = Structure.of(len(instance.names), instance.edges, path, last).affordable(instance.edges, options.sizes())
    return bound_with(options, late, prices_along(instance, list(path), prices.capacity, prices.response))
