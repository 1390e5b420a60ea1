"""Semantic checks of an infrastructure document, even if parts of it could not be read."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from rheostat.errors import Mistake
from rheostat.model.documents.shapes.infrastructure_shape import InfrastructureShape
from rheostat.model.documents.text.word_guess import closest_word
from rheostat.model.documents.text.written import Path
from rheostat.model.graph.flow_order import did_you_mean, repeated_names
from rheostat.model.network.links import LinkQuality

Reported = dict[Path, Mistake]


def infrastructure_mistakes(shape: InfrastructureShape, reported: Reported) -> list[Mistake]:
    """Every mistake of the infrastructure, except those reported already."""
    names = [node.name for node in shape.nodes]
    found = [] if names else [Mistake(("nodes",), "there is no node", "declare at least one")]
    found += [m for i, node in enumerate(shape.nodes) for m in node.value().mistakes(("nodes", i))]
    found += repeated_names(names, "nodes", "node")
    found += shape.default_link.value(LinkQuality()).mistakes(("default_link",))
    found += shape.store.value().mistakes(("store",)) + _unknown(shape.store.at, names, ("store", "at"))
    for i, link in enumerate(shape.links):
        # Values left to the default link are checked there.
        found += link.value(LinkQuality()).mistakes(("links", i))
        found += _unknown(link.source, names, ("links", i, "from")) + _unknown(link.target, names, ("links", i, "to"))
    if shape.delays_ms is not None:
        found += _matrix_mistakes(shape.delays_ms, names)
        if shape.links:
            found.append(Mistake(("links",), "links and a delay matrix are both given", "remove one of them"))
    elif shape.links:
        found += _cut_off(shape, reported)
    return found


def _unknown(name: str | None, names: Sequence[str], where: Path) -> list[Mistake]:
    if name is None or name in names:
        return []
    return [Mistake(where, f"there is no node {name!r}", did_you_mean(name, names))]


def _matrix_mistakes(rows: list[list[float]], names: Sequence[str]) -> list[Mistake]:
    """Mistakes of a delay matrix: number of rows, length of a row, or an entry, each at its place."""
    size, found = len(names), []
    if len(rows) != size:
        what = f"the matrix has {len(rows)} rows for {size} nodes"
        found.append(Mistake(("delays_ms",), what, "write one row for each node, in the order of the nodes"))
    for u, row in enumerate(rows):
        if len(row) != size:
            what = f"row {u + 1} has {len(row)} entries for {size} nodes"
            found.append(Mistake(("delays_ms", u), what, "write one entry for each node, in the order of the nodes"))
        for v, delay in enumerate(row):
            if u != v and not (isfinite(delay) and delay >= 0):
                ends = f" ({names[u]} to {names[v]})" if max(u, v) < size else ""
                what = f"row {u + 1}, column {v + 1}{ends}: {delay} is not a finite delay >= 0"
                found.append(Mistake(("delays_ms", u, v), what, "write milliseconds >= 0"))
    return found


def _cut_off(shape: InfrastructureShape, reported: Reported) -> list[Mistake]:
    """One mistake for each part of the network that links do not connect with the first node in both directions."""
    names = list(dict.fromkeys(node.name for node in shape.nodes))
    ends = [tuple(closest_word(end, names) for end in (link.source, link.target)) for link in shape.links]
    if any(None in pair for pair in ends) or any(_unnamed(i, reported) for i in range(len(shape.nodes))):
        return []  # a link whose end cannot be read may be the missing connection
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[str(u)], index[str(v)]) for u, v in ends]
    edges += [(v, u) for (u, v), link in zip(edges, shape.links, strict=True) if link.both_ways]
    rows, columns = zip(*edges, strict=True)
    graph = csr_matrix((np.ones(len(edges)), (rows, columns)), shape=(len(names), len(names)))
    _, parts = connected_components(graph, connection="strong")
    return [
        Mistake(("nodes", _first(shape, name)), f"no links lead from {names[0]!r} to {name!r} and back", "add a link")
        for i, name in enumerate(names)
        if parts[i] != parts[0] and i == list(parts).index(parts[i])
    ]


def _first(shape: InfrastructureShape, name: str) -> int:
    return next(i for i, node in enumerate(shape.nodes) if node.name == name)


def _unnamed(position: int, reported: Reported) -> bool:
    return ("nodes", position) in reported or ("nodes", position, "name") in reported
