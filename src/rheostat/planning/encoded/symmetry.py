"""Node symmetry: classes of nodes that can be exchanged without any effect on the objective.

Where delays are not weighed, nodes are often all alike, and a search would try the same deployment on each set of them.
Two nodes are of one class if exchanging them changes no term of F and no constraint but the bound of the response time.
"""

import numpy as np

from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices


def node_classes(instance: EncodedProblem) -> Indices:
    """Class of every node: the same number for nodes that can be exchanged."""
    at = instance.problem.infrastructure
    current = set() if instance.problem.current is None else set(instance.problem.current.nodes())
    own = [
        (
            node.capacity,
            node.speedup,
            node.availability,
            node.spawn_seconds,
            node.name if node.name in current or node.name == at.store.at else "",
            instance.allowed[:, u].tobytes(),
        )
        for u, node in enumerate(at.nodes)
    ]
    number = np.arange(len(own))
    for v in range(len(own)):
        for u in range(v):
            if number[u] == u and own[u] == own[v] and _alike(instance, u, v):
                number[v] = u
                break
    return number


def _alike(instance: EncodedProblem, u: int, v: int) -> bool:
    """Whether an exchange of two nodes changes no matrix that is weighed or bounded."""
    network = instance.problem.infrastructure.network
    swap = np.arange(len(network.price))
    swap[[u, v]] = v, u
    matrices = [instance.rate_terms, instance.pair_terms, network.price, network.availability, network.bandwidth_tps]
    if instance.coefficients.response > 0:
        matrices.append(network.delay_ms)
    if instance.problem.current is not None and instance.problem.infrastructure.store.at is not None:
        matrices += [network.delay_ms, network.transfer_mbps]
    return all(np.array_equal(m[u], m[v, swap]) and np.array_equal(m[:, u], m[swap, v]) for m in matrices)
