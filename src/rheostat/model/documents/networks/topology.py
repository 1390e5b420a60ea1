"""Infrastructure from a GraphML network topology; link delays follow from the coordinates of the nodes.

Made for the Internet Topology Zoo: nodes with Latitude, Longitude and label. Light in fibre takes 1 ms for 200 km, two
thirds of its speed in vacuum, along the great circle.
"""

from collections import Counter
from math import isfinite
from pathlib import Path

from rheostat.errors import InvalidDocument, InvalidModel, Located, Mistake
from rheostat.model.documents.networks.graphml import Edge, Graph, Vertex, parse_graphml
from rheostat.model.documents.text.text_files import text_of
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.globe import KM_PER_MS, great_circle_km
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import Infrastructure, Node


def read_topology(path: Path, *, largest_part: bool = False) -> Infrastructure:
    """The infrastructure in a GraphML file; its nodes have default settings, its name is that of the file.

    Nodes without coordinates and disconnected parts are rejected. With `largest_part`, nodes without coordinates are
    left out, and only the largest connected part of the rest is used.
    """
    graph = parse_graphml(text_of(path), str(path))
    if largest_part:
        graph = _largest_part(graph)
    if found := _mistakes(graph, str(path)):
        raise InvalidDocument(found)
    names = _names(graph)
    places = {vertex.id: _place(vertex) for vertex in graph.vertices}
    links: dict[tuple[str, str, bool], Link] = {}
    for edge in graph.edges:
        a, b = places[edge.source], places[edge.target]
        # Parallel edges have the same length: one of them is enough.
        if edge.source != edge.target and a is not None and b is not None:
            ends = (edge.source, edge.target) if edge.directed else tuple(sorted((edge.source, edge.target)))
            delay_ms = round(great_circle_km(a, b) / KM_PER_MS, 6)
            link = Link(names[edge.source], names[edge.target], LinkQuality(delay_ms), not edge.directed)
            links.setdefault((ends[0], ends[1], edge.directed), link)
    try:
        return Infrastructure(path.stem, tuple(Node(names[v.id]) for v in graph.vertices), tuple(links.values()))
    except InvalidModel as error:
        raise InvalidDocument([_located(mistake, graph, str(path)) for mistake in error.mistakes]) from error


def _located(mistake: Mistake, graph: Graph, file: str) -> Located:
    """A mistake that only the model finds, such as a part with directed edges into it but none out, with its line."""
    vertex = graph.vertices[int(mistake.where[1])] if mistake.where[0] == "nodes" else graph.vertices[0]
    return Located(file, vertex.line, mistake.what, mistake.remedy)


def _place(vertex: Vertex) -> tuple[float, float] | None:
    """Latitude and longitude; None if they are missing or not on the globe."""
    try:
        latitude, longitude = float(vertex.data["Latitude"]), float(vertex.data["Longitude"])
    except (KeyError, ValueError):
        return None
    on_globe = isfinite(latitude) and isfinite(longitude) and abs(latitude) <= 90 and abs(longitude) <= 360
    return (latitude, longitude) if on_globe else None


def _names(graph: Graph) -> dict[str, str]:
    """Labels as names; the id if the label is missing, both if the label is not unique."""
    labels = {vertex.id: vertex.data.get("label", "").strip() or vertex.id.strip() for vertex in graph.vertices}
    often = Counter(labels.values())
    names = {id_: label if often[label] == 1 else f"{label} ({id_})" for id_, label in labels.items()}
    taken = Counter(names.values())
    return {id_: name if taken[name] == 1 else id_ for id_, name in names.items()}


def _mistakes(graph: Graph, file: str) -> list[Located]:
    if not graph.vertices:
        return [Located(file, 1, "there is no node", "give a graph with nodes")]
    found, seen = [], set[str]()
    for vertex in graph.vertices:
        label = vertex.data.get("label") or vertex.id
        if not vertex.id.strip():
            found.append(Located(file, vertex.line, "this node has no id", 'write <node id="...">'))
        elif vertex.id in seen:
            found.append(Located(file, vertex.line, f"the id {vertex.id!r} is used twice", "rename one node"))
        if _place(vertex) is None:
            what = f"node {label!r} has no Latitude and Longitude, so its delays are not known"
            found.append(Located(file, vertex.line, what, "add them, or remove the node with its edges"))
        seen.add(vertex.id)
    dangling = [end for edge in graph.edges for end in _unknown_ends(edge, seen, file)]
    return found + dangling + ([] if dangling else _cut_off(graph, file))


def _unknown_ends(edge: Edge, known: set[str], file: str) -> list[Located]:
    return [
        Located(file, edge.line, f"there is no node of id {end!r}", did_you_mean(end, known))
        for end in (edge.source, edge.target)
        if end not in known
    ]


def _cut_off(graph: Graph, file: str) -> list[Located]:
    """Mistake for the first node of each part that is not connected with the first node of the graph."""
    first = graph.vertices[0]
    return [
        Located(file, part[0].line, f"no edges lead from {_label(first)!r} to {_label(part[0])!r}", "add an edge")
        for part in _parts(graph)
        if part[0] is not first
    ]


def _label(vertex: Vertex) -> str:
    return vertex.data.get("label") or vertex.id


def _parts(graph: Graph) -> list[list[Vertex]]:
    """The connected parts, ignoring directions, in the order of their first nodes."""
    part = {vertex.id: vertex.id for vertex in graph.vertices}

    def root(id_: str) -> str:
        while part[id_] != id_:
            id_ = part[id_]
        return id_

    for edge in graph.edges:
        part[root(edge.source)] = root(edge.target)
    found: dict[str, list[Vertex]] = {}
    for vertex in graph.vertices:
        found.setdefault(root(vertex.id), []).append(vertex)
    return list(found.values())


def _largest_part(graph: Graph) -> Graph:
    """The largest connected part of the nodes that have coordinates."""
    placed = {vertex.id for vertex in graph.vertices if _place(vertex) is not None}
    rest = _within(graph, placed)
    return _within(rest, {vertex.id for vertex in max(_parts(rest), key=len, default=[])})


def _within(graph: Graph, ids: set[str]) -> Graph:
    edges = [edge for edge in graph.edges if edge.source in ids and edge.target in ids]
    return Graph([vertex for vertex in graph.vertices if vertex.id in ids], edges)
