"""Positions on a picture: layers for the graph of operators, distances for the network.

Pure geometry: names and numbers in, coordinates out, always the same ones for the same input.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rheostat.model.graph.application import Application

Point = tuple[float, float]
Vertex = Hashable
"""An operator's name, or (source, target, layer) where a long stream passes through a layer."""


@dataclass(frozen=True, slots=True)
class Layers:
    """A drawing of an acyclic graph: (layer, row) of every operator, and the points every stream goes through."""

    places: Mapping[str, Point]
    routes: Mapping[tuple[str, str], tuple[Point, ...]]
    """From the place of the source to the place of the target."""

    @property
    def depth(self) -> int:
        """Number of layers."""
        return 1 + int(max(layer for layer, _ in self.places.values()))

    @property
    def rows(self) -> tuple[float, float]:
        """Least and greatest row that anything is drawn in."""
        rows = [row for route in self.routes.values() for _, row in route]
        rows += [row for _, row in self.places.values()]
        return min(rows), max(rows)


def layers(application: Application) -> Layers:
    """Sugiyama's method: longest-path layers, few crossings, then rows as straight as the order allows."""
    depth = layer_of(application)
    chains = {stream.ends: _chain(stream.ends, depth) for stream in application.streams}
    columns: list[list[Vertex]] = [[] for _ in range(1 + max(depth.values()))]
    for name in application.flow:
        columns[depth[name]].append(name)
    for chain in chains.values():
        for vertex in chain[1:-1]:
            columns[_layer(vertex, depth)].append(vertex)
    neighbours = _neighbours(list(chains.values()))
    columns = _with_fewest_crossings(columns, neighbours)
    row = _straightened(columns, neighbours)
    at = {vertex: (float(layer), row[vertex]) for layer, column in enumerate(columns) for vertex in column}
    places = {name: at[name] for name in application.flow}
    return Layers(places, {ends: tuple(at[vertex] for vertex in chain) for ends, chain in chains.items()})


def layer_of(application: Application) -> dict[str, int]:
    """Length of the longest way there; a source moves up to just before its first target, which shortens streams.

    >>> from rheostat.model.graph.application import Kind, Operator, Stream
    >>> ops = tuple(Operator(n, Kind.SOURCE if n in "ac" else Kind.STATELESS) for n in "abcd")
    >>> layer_of(Application("late source", ops, (Stream("a", "b"), Stream("b", "d"), Stream("c", "d"))))
    {'a': 0, 'c': 1, 'b': 1, 'd': 2}
    """
    depth: dict[str, int] = {}
    for name in application.flow:
        depth[name] = 1 + max((depth[stream.source] for stream in application.inputs[name]), default=-1)
    for name in application.flow:
        if not application.inputs[name] and application.outputs[name]:
            depth[name] = min(depth[stream.target] for stream in application.outputs[name]) - 1
    return depth


def _chain(ends: tuple[str, str], depth: Mapping[str, int]) -> list[Vertex]:
    """A stream as steps of one layer each."""
    source, target = ends
    return [source, *((source, target, layer) for layer in range(depth[source] + 1, depth[target])), target]


def _layer(vertex: Vertex, depth: Mapping[str, int]) -> int:
    return int(vertex[2]) if isinstance(vertex, tuple) else depth[str(vertex)]


Neighbours = Mapping[Vertex, tuple[list[Vertex], list[Vertex]]]


def _neighbours(chains: Sequence[Sequence[Vertex]]) -> Neighbours:
    """The vertices before and behind every vertex."""
    found: dict[Vertex, tuple[list[Vertex], list[Vertex]]] = {}
    for chain in chains:
        for before, after in pairwise(chain):
            found.setdefault(before, ([], []))[1].append(after)
            found.setdefault(after, ([], []))[0].append(before)
    return found


def _with_fewest_crossings(columns: list[list[Vertex]], neighbours: Neighbours, sweeps: int = 12) -> list[list[Vertex]]:
    """Sorts every column by the mean position of its neighbours, forward and backward, and keeps the best seen."""
    best, least = columns, _crossings(columns, neighbours)
    for sweep in range(sweeps):
        if least == 0:
            break
        side = sweep % 2
        columns = [list(column) for column in columns]
        order = range(1, len(columns)) if side == 0 else range(len(columns) - 2, -1, -1)
        for layer in order:
            fixed = {vertex: i for i, vertex in enumerate(columns[layer - 1 if side == 0 else layer + 1])}
            now = {vertex: float(i) for i, vertex in enumerate(columns[layer])}
            wanted = {v: _mean([fixed[w] for w in _of(neighbours, v, side)], now[v]) for v in columns[layer]}
            columns[layer].sort(key=wanted.__getitem__)
        crossings = _crossings(columns, neighbours)
        if crossings < least:
            best, least = columns, crossings
    return best


def _of(neighbours: Neighbours, vertex: Vertex, side: int) -> list[Vertex]:
    return neighbours[vertex][side] if vertex in neighbours else []


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(columns: Sequence[Sequence[Vertex]], neighbours: Neighbours) -> int:
    total = 0
    for here, there in pairwise(columns):
        at = {vertex: i for i, vertex in enumerate(there)}
        ends = [(i, at[w]) for i, vertex in enumerate(here) for w in _of(neighbours, vertex, 1)]
        total += sum((a - c) * (b - d) < 0 for n, (a, b) in enumerate(ends) for c, d in ends[:n])
    return total


def _straightened(
    columns: Sequence[Sequence[Vertex]], neighbours: Neighbours, rounds: int = 200
) -> dict[Vertex, float]:
    """Rows, at least 1 apart in a layer, that make Σ (row_i - row_j)² over all steps small: one layer at a time."""
    row = {vertex: i - (len(column) - 1) / 2 for column in columns for i, vertex in enumerate(column)}
    for _ in range(rounds):
        for column in columns:
            around = [[row[w] for side in (0, 1) for w in _of(neighbours, vertex, side)] for vertex in column]
            wanted = [_mean(rows, row[vertex]) for vertex, rows in zip(column, around, strict=True)]
            row.update(zip(column, spread(wanted, [max(1, len(rows)) for rows in around]), strict=True))
    return row


def spread(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nearest positions (weighted least squares) that keep their order and a distance of 1.

    >>> spread([0.0, 0.0, 5.0], [1, 1, 1])
    [-0.5, 0.5, 5.0]
    >>> spread([0.0, 0.0], [3, 1])
    [-0.25, 0.75]
    """
    blocks: list[tuple[float, float, int]] = []
    for i, (value, weight) in enumerate(zip(wanted, weights, strict=True)):
        block = (value - i, float(weight), 1)
        # Pool adjacent violators: neighbours that want to overlap share their mean.
        while blocks and blocks[-1][0] > block[0]:
            level, mass, count = blocks.pop()
            total = mass + block[1]
            block = ((level * mass + block[0] * block[1]) / total, total, count + block[2])
        blocks.append(block)
    levels = [level for level, _, count in blocks for _ in range(count)]
    return [round(level + i, 9) for i, level in enumerate(levels)]
