"""Network between the nodes: complete matrices of delay, rate, price, availability and bandwidth.

The papers' links are logical: one for every pair of nodes, made of the physical path that shortest-path routing takes
(EDRP 3.1, 7.2). Along a path delays and prices add up, availabilities multiply, and the narrowest link decides rate
and bandwidth. Loops are perfect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from rheostat.errors import Mistake

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinkQuality:
    """Quality of a link; also used as the default for all links."""

    delay_ms: float = 0.0
    """d_(u,v): one-way network delay."""
    transfer_mbps: float = 100.0
    """r_(u,v): data rate for moving code and state, in megabits per second."""
    price: float = 0.0
    """C_(u,v): $ per hour for a flow of one tuple per second."""
    availability: float = 1.0
    """A_(u,v): probability that the link is up."""
    bandwidth_tps: float = inf
    """B_(u,v): tuples per second it can carry."""

    def mistakes(self, where: tuple[str | int, ...] = ()) -> list[Mistake]:
        """Invalid numbers of this quality."""
        found = []
        for name in ("delay_ms", "price"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                found.append(Mistake((*where, name), f"{value} is not a finite number >= 0", "write a number >= 0"))
        for name in ("transfer_mbps", "bandwidth_tps"):
            if not getattr(self, name) > 0:
                what = f"{getattr(self, name)} is not a number > 0"
                found.append(Mistake((*where, name), what, "write a number > 0"))
        if not 0 < self.availability <= 1:
            what = f"{self.availability} is not a probability"
            found.append(Mistake((*where, "availability"), what, "write a number > 0 and <= 1"))
        return found


@dataclass(frozen=True, slots=True)
class Link:
    """A physical link between two nodes, by default in both directions."""

    source: str
    target: str
    quality: LinkQuality = LinkQuality()
    both_ways: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Complete matrices over the nodes, in their order: entry [u, v] is the path from u to v."""

    delay_ms: Matrix
    transfer_mbps: Matrix
    price: Matrix
    availability: Matrix
    bandwidth_tps: Matrix

    def __post_init__(self) -> None:
        """Sets loops to perfect quality and makes every matrix read-only."""
        for field in fields(self):
            matrix = getattr(self, field.name)
            np.fill_diagonal(matrix, _LOOP[field.name])
            matrix.setflags(write=False)

    @classmethod
    def uniform(cls, delays_ms: Matrix, default: LinkQuality) -> "Network":
        """The network with the given delays and the default for everything else."""
        shape = delays_ms.shape
        return cls(
            np.array(delays_ms, dtype=float),
            np.full(shape, default.transfer_mbps, dtype=float),
            np.full(shape, default.price, dtype=float),
            np.full(shape, default.availability, dtype=float),
            np.full(shape, default.bandwidth_tps, dtype=float),
        )

    @classmethod
    def routed(cls, size: int, links: Sequence[tuple[int, int, LinkQuality]]) -> "Network":
        """The logical links of shortest-path routing over directed physical ones; unreachable pairs have delay inf."""
        direct = {field.name: np.full((size, size), _NO_LINK[field.name]) for field in fields(cls)}
        for u, v, quality in links:
            if quality.delay_ms <= direct["delay_ms"][u, v]:
                for field in fields(cls):
                    direct[field.name][u, v] = getattr(quality, field.name)
        return cls(**_along_paths(direct, _predecessors(direct["delay_ms"])))


_LOOP = {"delay_ms": 0.0, "transfer_mbps": inf, "price": 0.0, "availability": 1.0, "bandwidth_tps": inf}
_NO_LINK = {"delay_ms": inf, "transfer_mbps": 0.0, "price": 0.0, "availability": 0.0, "bandwidth_tps": 0.0}
_COMBINE = {
    "delay_ms": np.add,
    "transfer_mbps": np.minimum,
    "price": np.add,
    "availability": np.multiply,
    "bandwidth_tps": np.minimum,
}


def _predecessors(direct_ms: Matrix) -> NDArray[np.int32]:
    """Entry [s, v] is the node before v on the shortest path from s."""
    rows, columns = np.nonzero(np.isfinite(direct_ms))
    # A link of delay 0 is a link all the same; the sparse graph would read a plain 0 as no link.
    weights = np.maximum(direct_ms[rows, columns], 1e-12)
    graph = csr_matrix((weights, (rows, columns)), shape=direct_ms.shape)
    _, predecessors = dijkstra(graph, return_predecessors=True)
    return np.asarray(predecessors)


def _along_paths(direct: dict[str, Matrix], predecessors: NDArray[np.int32]) -> dict[str, Matrix]:
    """Walks all paths back from their ends at once, one hop per round."""
    size = len(predecessors)
    origins = np.arange(size)[:, None]
    here = np.broadcast_to(np.arange(size), (size, size)).copy()
    result = {name: np.full((size, size), _LOOP[name]) for name in direct}
    while True:
        before = predecessors[origins, here]
        moving = before >= 0
        if not moving.any():
            break
        for name, matrix in direct.items():
            hop = matrix[before[moving], here[moving]]
            result[name][moving] = _COMBINE[name](result[name][moving], hop)
        here[moving] = before[moving]
    cut_off = here != origins
    for name, matrix in result.items():
        matrix[cut_off] = _NO_LINK[name]
    return result
