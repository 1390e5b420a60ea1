"""Infrastructure with a node added, or restricted to some of its nodes."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rheostat.model.network.links import Link
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess


def with_node(known: Infrastructure, node: Node) -> Infrastructure:
    """The infrastructure with one more node.

    The new node is as far from the others as the first node of its region; these two are joined by the default link.
    """
    nodes = (*known.nodes, node)
    twin = next((i for i, other in enumerate(known.nodes) if other.region == node.region), 0)
    if known.links:
        link = Link(known.nodes[twin].name, node.name, known.default_link)
        return replace(known, nodes=nodes, links=(*known.links, link))
    if known.delays_ms is None:
        return replace(known, nodes=nodes)
    between = known.default_link.delay_ms
    rows = [(*row, between if i == twin else row[twin]) for i, row in enumerate(known.delays_ms.rows)]
    last = [between if i == twin else delay for i, delay in enumerate(known.delays_ms.rows[twin])]
    return replace(known, nodes=nodes, delays_ms=DelayMatrix.of([*rows, (*last, 0.0)]))


def with_only(known: Infrastructure, names: Collection[str]) -> Infrastructure:
    """The infrastructure with only the nodes in `names`; paths between them stay, even through removed nodes."""
    kept = [position for position, node in enumerate(known.nodes) if node.name in names]
    if len(kept) == len(known.nodes):
        return known
    if not kept:
        raise ValueError("every node is down: there is nothing left to decide about")
    store = known.store if known.store.at is None or known.store.at in names else StoreAccess()
    delays = known.network.delay_ms[np.ix_(kept, kept)]
    nodes = tuple(known.nodes[position] for position in kept)
    return Infrastructure(known.name, nodes, (), DelayMatrix.of(delays), known.default_link, store)


def kinds_of(infrastructure: Infrastructure) -> tuple[Node, ...]:
    """One sample node for each kind of node, that is, for nodes that differ in more than name and region."""
    kinds: dict[Node, Node] = {}
    for node in infrastructure.nodes:
        plain = replace(node, name="kind", region="")
        kinds.setdefault(plain, replace(node, name=f"like-{node.name}", region=""))
    return tuple(kinds.values())
