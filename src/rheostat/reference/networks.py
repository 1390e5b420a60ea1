"""Random networks by seed, with the parameters of EDRP 7.2 and of ODP 7.3, and the testbed of ODP 7.1."""

from collections.abc import Sequence

import numpy as np

from rheostat.model.network.links import LinkQuality, Matrix
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess

PRICE_PER_TPS_HOUR = 2e-4
"""C_(u,v) in $ per hour for a flow of one tuple per second. Assumed: EDRP's Table II says 0.02 $/tps without a time. It
cannot be per hour: with two slots per node at least two streams at the source's rate (145 tuples/s on average) cross
nodes, 5.8 $/h on top of 8 for one replica each, where the means of Table III are 9.2 to 10.3."""


def edrp_infrastructure(name: str, nodes: Sequence[str], delays_ms: Matrix) -> Infrastructure:
    """Nodes as in EDRP 7.2: Res_u = 2, S_u = 1, t_s = 0.5 s; 100 Mbps; DataStore at constant 5 ms [EDRP 7.2, Table II].

    Links are the logical ones: the delay of the path, and one price whatever its length.
    """
    return Infrastructure(
        name,
        tuple(Node(node, resources=2.0, speedup=1.0, spawn_seconds=0.5) for node in nodes),
        delays_ms=DelayMatrix.of(delays_ms),
        default_link=LinkQuality(transfer_mbps=100.0, price=PRICE_PER_TPS_HOUR),
        store=StoreAccess(delay_ms=5.0, transfer_mbps=100.0),
    )


def random_geographic(nodes: int = 15, seed: int = 0, mean_ms: float = 32.0) -> Infrastructure:
    """Nodes uniform in the unit square, delays by distance, scaled to the mean of EDRP 7.2. Ours, for Table IV.

    The networks of 8 to 24 nodes behind Table IV are not described. Delays are symmetric and keep the triangle
    inequality.
    """
    names, rng = _names(nodes), np.random.default_rng(seed)
    places = rng.random((nodes, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=-1)
    return edrp_infrastructure(f"geographic-{nodes}-seed{seed}", names, scaled_to_mean(distances, mean_ms))


def random_gaussian(
    nodes: int = 20, seed: int = 0, mean_ms: float = 22.0, sd_ms: float = 5.0, *, symmetric: bool = True
) -> Infrastructure:
    """d_(u,v) = max{N(22, 5), 1} ms, A = 100 %, C_u = 4, S_u = 1 [ODP 7.3, Table 2].

    The paper does not say whether both directions take the same time: by default they do. The triangle inequality need
    not hold.
    """
    names, rng = _names(nodes), np.random.default_rng(seed)
    delays = np.maximum(rng.normal(mean_ms, sd_ms, (nodes, nodes)), 1.0)
    if symmetric:
        delays = np.triu(delays, 1) + np.triu(delays, 1).T
    np.fill_diagonal(delays, 0.0)
    members = tuple(Node(name, resources=4.0, speedup=1.0, availability=1.0) for name in names)
    return Infrastructure(f"gaussian-{nodes}-seed{seed}", members, delays_ms=DelayMatrix.of(delays))


def odp_testbed(seed: int = 0) -> Infrastructure:
    """Eight workers with two slots of EPS_max = 4 executors; netem delays with means in [12, 32] ms [ODP 7.1].

    Half of the nodes are up 99 % of the time, worker5 to worker8 (which is not said), the others and the links always.
    The means are drawn uniformly, one for each ordered pair, since netem delays what leaves a node (assumed). The
    jitter of 1 to 3 ms is no part of a delay matrix.
    """
    rng = np.random.default_rng(seed)
    delays = rng.uniform(12.0, 32.0, (8, 8))
    np.fill_diagonal(delays, 0.0)
    workers = tuple(
        Node(f"worker{number}", worker_slots=2, executors_per_slot=4, availability=1.0 if number <= 4 else 0.99)
        for number in range(1, 9)
    )
    return Infrastructure(f"testbed-seed{seed}", workers, delays_ms=DelayMatrix.of(delays))


def scaled_to_mean(delays: Matrix, mean_ms: float) -> Matrix:
    """The matrix scaled such that the mean over all ordered pairs of distinct nodes is `mean_ms`."""
    size = len(delays)
    if size < 2:
        raise ValueError(f"need at least 2 nodes to have a delay between them, got {size}")
    between = ~np.eye(size, dtype=bool)
    return np.asarray(delays * (mean_ms / delays[between].mean()))


def _names(count: int) -> list[str]:
    """Names n01, n02, ..., padded so that their order is that of the rows."""
    if count < 1:
        raise ValueError(f"need at least 1 node, got {count}")
    return [f"n{number:0{len(str(count))}}" for number in range(1, count + 1)]
