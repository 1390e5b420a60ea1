"""Infrastructure: nodes, the network between them, and the data store through which state moves.

An `Infrastructure` is G_res of the papers. It can be given by physical links (paths are then found by shortest-path
routing), by a delay matrix (measured, say), or by neither: then every pair has the default link.
"""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.application import Application
from rheostat.model.graph.flow_order import did_you_mean, repeated_names
from rheostat.model.network.links import Link, LinkQuality, Matrix, Network


@dataclass(frozen=True, slots=True)
class Node:
    """A computing node u [EDRP 3.1, ODP 3.2]."""

    name: str
    """Unique within the infrastructure."""
    resources: float | None = None
    """Res_u (C_u in ODP); if not given, worker_slots x executors_per_slot [ODP 6.2]."""
    worker_slots: int = 1
    """WS(u): worker processes it can run."""
    executors_per_slot: int = 1
    """EPS_max: replicas a worker process can hold."""
    speedup: float = 1.0
    """S_u: speed relative to the reference processor."""
    availability: float = 1.0
    """A_u: probability that it is up."""
    price_per_hour: float = 0.0
    """Rent in $ per hour, used or not."""
    region: str = ""
    """Region of the node; a region manager manages the nodes of one region."""
    spawn_seconds: float = 0.5
    """t_s,u: time to start a replica."""

    @property
    def capacity(self) -> float:
        """Units of resources for all its replicas together."""
        return float(self.worker_slots * self.executors_per_slot) if self.resources is None else self.resources

    def mistakes(self, where: tuple[str | int, ...] = ()) -> list[Mistake]:
        """Mistakes of this node by itself."""
        found = []
        if not self.name or self.name != self.name.strip():
            found.append(Mistake((*where, "name"), f"the name {self.name!r} is empty or padded", "write a plain name"))
        if self.resources is not None and not (isfinite(self.resources) and self.resources >= 0):
            what = f"{self.resources} is not a finite number >= 0"
            found.append(Mistake((*where, "resources"), what, "write a number >= 0"))
        for name in ("price_per_hour", "spawn_seconds", "worker_slots", "executors_per_slot"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                found.append(Mistake((*where, name), f"{value} is not a finite number >= 0", "write a number >= 0"))
        if not (isfinite(self.speedup) and self.speedup > 0):
            what = f"{self.speedup} is not a finite number > 0"
            found.append(Mistake((*where, "speedup"), what, "write a number > 0, 1 is the reference processor"))
        if not 0 < self.availability <= 1:
            what = f"{self.availability} is not a probability"
            found.append(Mistake((*where, "availability"), what, "write a number > 0 and <= 1"))
        return found


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """Access of the nodes to the DataStore through which code and state move [EDRP 3.3, Table II]."""

    at: str | None = None
    """The node it runs on; delays and rates are then those of the network. None: the same for every node."""
    delay_ms: float = 5.0
    """d_(u,DS) = d_(DS,u), one way."""
    transfer_mbps: float = 100.0
    """r_(u,DS) = r_(DS,u)."""
    local_mbps: float = 4000.0
    """r_(u,LS) = r_(LS,u): the local swapping area. Not given in the paper; an ordinary solid-state disk is assumed."""

    def mistakes(self, where: tuple[str | int, ...] = ()) -> list[Mistake]:
        """Invalid numbers of this access."""
        found = []
        if not (isfinite(self.delay_ms) and self.delay_ms >= 0):
            what = f"{self.delay_ms} is not a finite number >= 0"
            found.append(Mistake((*where, "delay_ms"), what, "write a number >= 0"))
        for name in ("transfer_mbps", "local_mbps"):
            if not getattr(self, name) > 0:
                found.append(Mistake((*where, name), f"{getattr(self, name)} is not > 0", "write a number > 0"))
        return found


@dataclass(frozen=True, slots=True)
class DelayMatrix:
    """Delays between all nodes, as rows of milliseconds: [u][v] is from u to v."""

    rows: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, delays_ms: ArrayLike) -> Self:
        """Matrix from any array-like value."""
        return cls(tuple(tuple(row) for row in np.asarray(delays_ms, dtype=float).tolist()))

    def mistakes(self, size: int) -> list[Mistake]:
        """Mistakes of the matrix: a wrong shape, or invalid entries."""
        place = ("delays_ms",)
        if len(self.rows) != size or any(len(row) != size for row in self.rows):
            what = f"the matrix has {len(self.rows)} rows of {sorted({len(row) for row in self.rows})} entries"
            return [Mistake(place, what, f"write one row and one column for each of the {size} nodes")]
        return [
            Mistake((*place, u, v), f"{value} is not a finite delay >= 0", "write milliseconds >= 0")
            for u, row in enumerate(self.rows)
            for v, value in enumerate(row)
            if u != v and not (isfinite(value) and value >= 0)
        ]


@dataclass(frozen=True)
class Infrastructure:
    """G_res: nodes and the network between them."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...] = ()
    """Physical links; paths between all nodes are found by shortest-path routing."""
    delays_ms: DelayMatrix | None = None
    """Delays between all nodes, if given directly; then there are no links."""
    default_link: LinkQuality = LinkQuality()
    """Quality of a link where the link itself does not say otherwise."""
    store: StoreAccess = StoreAccess()
    """Access of the nodes to the DataStore."""

    def __post_init__(self) -> None:
        """Rejects an infrastructure that contradicts itself, and lists every mistake."""
        found = self._mistakes()
        if not found and self.links:
            found = self._cut_off()
        if found:
            raise InvalidModel(f"infrastructure {self.name!r}", found)

    def _mistakes(self) -> list[Mistake]:
        names = [node.name for node in self.nodes]
        found = [] if names else [Mistake(("nodes",), "there is no node", "declare at least one")]
        found += [m for i, node in enumerate(self.nodes) for m in node.mistakes(("nodes", i))]
        found += repeated_names(names, "nodes", "node")
        found += self.default_link.mistakes(("default_link",)) + self.store.mistakes(("store",))
        if self.store.at is not None and self.store.at not in names:
            what = f"there is no node {self.store.at!r}"
            found.append(Mistake(("store", "at"), what, did_you_mean(self.store.at, names)))
        for i, link in enumerate(self.links):
            found += link.quality.mistakes(("links", i))
            for end, name in (("from", link.source), ("to", link.target)):
                if name not in names:
                    what = f"there is no node {name!r}"
                    found.append(Mistake(("links", i, end), what, did_you_mean(name, names)))
        if self.delays_ms is not None:
            found += self.delays_ms.mistakes(len(names))
            if self.links:
                found.append(Mistake(("links",), "links and a delay matrix are both given", "remove one of them"))
        return found

    def _cut_off(self) -> list[Mistake]:
        unreachable = ~np.isfinite(self.network.delay_ms)
        return [
            Mistake(
                ("nodes", int(v)),
                f"no links lead from {self.nodes[0].name!r} to {self.nodes[v].name!r} and back",
                "add a link",
            )
            for v in np.nonzero(unreachable[0] | unreachable[:, 0])[0]
        ]

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of every node, which is its row and column in the matrices."""
        return {node.name: position for position, node in enumerate(self.nodes)}

    @cached_property
    def network(self) -> Network:
        """The complete matrices."""
        size = len(self.nodes)
        if self.delays_ms is not None:
            return Network.uniform(np.array(self.delays_ms.rows), self.default_link)
        if not self.links:
            return Network.uniform(np.full((size, size), self.default_link.delay_ms), self.default_link)
        directed = []
        for link in self.links:
            u, v = self.index[link.source], self.index[link.target]
            directed.append((u, v, link.quality))
            if link.both_ways:
                directed.append((v, u, link.quality))
        return Network.routed(size, directed)

    @cached_property
    def capacities(self) -> Matrix:
        """Res_u of every node."""
        return np.array([node.capacity for node in self.nodes])

    @cached_property
    def speedups(self) -> Matrix:
        """S_u of every node."""
        return np.array([node.speedup for node in self.nodes])

    @cached_property
    def log_availabilities(self) -> Matrix:
        """a_u = log A_u of every node, as ODP (8) sums them."""
        return np.log([node.availability for node in self.nodes])

    def store_round_trip_ms(self, node: str) -> float:
        """d_(u,DS) + d_(DS,u)."""
        if self.store.at is None:
            return 2 * self.store.delay_ms
        u, store = self.index[node], self.index[self.store.at]
        return float(self.network.delay_ms[u, store] + self.network.delay_ms[store, u])

    def upload_mbps(self, node: str) -> float:
        """r_(u,DS)."""
        if self.store.at is None:
            return self.store.transfer_mbps
        return float(self.network.transfer_mbps[self.index[node], self.index[self.store.at]])

    def download_mbps(self, node: str) -> float:
        """r_(DS,u)."""
        if self.store.at is None:
            return self.store.transfer_mbps
        return float(self.network.transfer_mbps[self.index[self.store.at], self.index[node]])

    def mistakes_of(self, application: Application) -> list[Mistake]:
        """Pins and candidates of an application that are not nodes of this infrastructure."""
        found = []
        for i, operator in enumerate(application.operators):
            if operator.pin is not None and operator.pin not in self.index:
                remedy = did_you_mean(operator.pin, self.index)
                found.append(Mistake(("operators", i, "pin"), f"there is no node {operator.pin!r}", remedy))
            for j, name in enumerate(operator.candidates):
                if name not in self.index:
                    remedy = did_you_mean(name, self.index)
                    found.append(Mistake(("operators", i, "candidates", j), f"there is no node {name!r}", remedy))
        return found
