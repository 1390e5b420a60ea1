"""Lower bound on the delay to an operator whose replicas do not fit on one node.

A replica exchanges tuples with all replicas of a neighbouring operator and waits for the farthest. These are nowhere
nearer than on the nearest nodes with room for so many, and of two different nodes at least one is another node.
"""

import numpy as np

from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Indices, Values


def least_delays_to_all(
    instance: EncodedProblem, neighbour: tuple[int, int], taken: float, *, turned: bool, most: int | None = None
) -> Values:
    """Least delay from every node to the farthest of m replicas of an operator on different nodes.

    `taken` is the room used on the node; with `turned` the delays are from the replicas to the node; `most` is the
    largest number of replicas on one node, if known. Without any room the farthest node counts: such a multiset does
    not exist, and the caller need not know.
    """
    operator, m = neighbour
    most = m if most is None else most
    # Operators of one size that may be on the same nodes are equally far away.
    key = (instance.allowed[operator].tobytes(), float(instance.resources[operator]), m, most, taken, turned)
    if key not in instance.known_spreads:
        instance.known_spreads[key] = _least_delays(instance, (*neighbour, most), taken, turned=turned)
    return instance.known_spreads[key]


def _least_delays(instance: EncodedProblem, neighbour: tuple[int, int, int], taken: float, *, turned: bool) -> Values:
    operator, m, most = neighbour
    network = instance.problem.infrastructure.network.delay_ms
    delay = network.T if turned else network
    allowed = instance.allowed[operator]
    away = np.where(allowed[None, :], delay, np.inf)
    own = np.arange(len(delay))
    order = np.argsort(away, axis=1, kind="stable")
    places = np.take_along_axis(np.repeat(_places(instance, operator, 0.0)[None, :], len(own), axis=0), order, axis=1)
    here = order == own[:, None]
    places = np.where(here, _places(instance, operator, taken)[order], places)
    places = np.minimum(places, most)
    # At most m - 1 replicas are on one node, so that a second node is always counted.
    held = np.where(here, np.minimum(places, m - 1), places).cumsum(axis=1)
    last = int(allowed.sum()) - 1
    farthest = np.where(held[:, last] >= m, (held < m).sum(axis=1), last)
    return np.asarray(np.take_along_axis(away, order, axis=1)[own, np.minimum(farthest, last)])


def _places(instance: EncodedProblem, operator: int, taken: float) -> Indices:
    """Number of replicas that fit on every node beside the room that is taken."""
    need, room = instance.resources[operator], instance.problem.infrastructure.capacities - taken
    many = np.full(len(room), instance.most_replicas, dtype=np.int64)
    if need > 0:
        many = np.minimum(many, np.floor((np.maximum(room, 0.0) + TOLERANCE) / need).astype(np.int64))
    return np.where(instance.allowed[operator], many, 0)
