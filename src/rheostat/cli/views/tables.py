"""Applications, networks and deployments as tables for a terminal."""

from collections.abc import Collection

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rheostat.cli.views.colours import KIND_COLOURS, number, replicas_range
from rheostat.cli.views.graph_text import Lane, lanes, passing
from rheostat.model.graph.application import Application, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.fragments import Fragment
from rheostat.model.network.links import Matrix
from rheostat.model.network.resources import Infrastructure, Node

MOST_IN_MATRIX = 20
HEAT = ("#1a9850", "#66bd63", "#a6d96a", "#fee08b", "#fdae61", "#f46d43", "#d73027")
"""From near to far."""


def plain_table(*headers: str, right: Collection[str] = (), wraps: Collection[str] = ()) -> Table:
    """No frame; the headers named in `right` are of numbers, those in `wraps` of texts that may take several lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        table.add_column(header, justify="right" if header in right else "left", no_wrap=header not in wraps)
    return table


def application_table(application: Application, deployment: Deployment | None = None) -> Table:
    """The graph on the left, and what is known of every operator; streams behind their producers."""
    headers = ["", "operator", "kind", "replicas", "key", "in/s", "sends to"]
    if deployment is not None:
        headers.insert(-1, "runs on")
    table = plain_table(*headers, right=("replicas", "in/s"))
    for lane in lanes(application):
        operator = application.by_name[lane.operator]
        streams = [_stream(application, stream) for stream in application.outputs[operator.name]]
        cells = [operator.name, operator.kind.value, _replicas(operator, deployment), ", ".join(operator.key)]
        cells.append(number(application.rates.operators[operator.name]))
        if deployment is not None:
            cells.append(repr(deployment[operator.name])[1:-1])
        first = "" if lane.join is None else "\n"
        style = KIND_COLOURS[operator.kind]
        texts = [Text(first + cell, style if i < 2 else "") for i, cell in enumerate(cells)]
        table.add_row(Text(_graph(lane, len(streams)), "bright_black"), *texts, first + "\n".join(streams))
    return table


def _graph(lane: Lane, streams: int) -> str:
    lines = [line for line in (lane.join, lane.line, lane.fork) if line is not None]
    return "\n".join([*lines, *(passing(lane) for _ in range(streams - 2))])


def _stream(application: Application, stream: Stream) -> str:
    return f"{stream.target} ({stream.grouping}, {number(application.rates.streams[stream.ends])}/s)"


def _replicas(operator: Operator, deployment: Deployment | None) -> str:
    may = replicas_range(operator.min_replicas, operator.max_replicas)
    if deployment is None:
        return may
    has = len(deployment[operator.name])
    return f"{has}" if str(has) == may else f"{has} of {may}"


def node_table(
    infrastructure: Infrastructure, deployment: Deployment | None = None, use: Matrix | None = None
) -> Table:
    """One line per node; with a deployment, what it holds."""
    headers = ["#", "node", "region", "capacity", "speed", "up", "$/h", "mean ms", "nearest"]
    headers += ["used", "replicas"] if deployment is not None else []
    table = plain_table(*headers, right=("#", "capacity", "speed", "up", "$/h", "mean ms", "used"))
    for position, node in enumerate(infrastructure.nodes):
        cells = [str(position + 1), node.name, node.region, number(node.capacity), number(node.speedup)]
        cells += [
            f"{100 * node.availability:.6g} %",
            number(node.price_per_hour),
            *_distances(infrastructure, position),
        ]
        if deployment is not None and use is not None:
            style = "bold red" if use[position] > node.capacity + 1e-9 else ""
            table.add_row(*cells, Text(number(float(use[position])), style), _held(node, deployment))
        else:
            table.add_row(*cells)
    return table


def _distances(infrastructure: Infrastructure, position: int) -> tuple[str, str]:
    """Mean delay to the others, and the nearest of them."""
    delays, nodes = infrastructure.network.delay_ms[position], infrastructure.nodes
    others = [i for i in range(len(nodes)) if i != position]
    if not others:
        return "-", "-"
    nearest = min(others, key=lambda i: float(delays[i]))
    mean = number(float(np.mean(delays[others])))
    return mean, f"{nodes[nearest].name} {number(float(delays[nearest]))} ms"


def _held(node: Node, deployment: Deployment) -> str:
    held = [(name, replicas[node.name]) for name, replicas in deployment.items() if node.name in replicas]
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in held)


def delay_table(infrastructure: Infrastructure) -> RenderableType:
    """Every delay in milliseconds, warmer is farther; for many nodes a summary, by regions if there are any."""
    delays, size = infrastructure.network.delay_ms, len(infrastructure.nodes)
    if size == 1:
        return Text("one node: no delays")
    if size <= MOST_IN_MATRIX:
        return Group(_summary(delays), _matrix([node.name for node in infrastructure.nodes], delays))
    regions = sorted({node.region for node in infrastructure.nodes})
    if not 1 < len(regions) <= MOST_IN_MATRIX:
        return _summary(delays)
    members = [[i for i, node in enumerate(infrastructure.nodes) if node.region == region] for region in regions]
    means = np.array([[delays[np.ix_(a, b)].mean() for b in members] for a in members])
    return Group(_summary(delays), _matrix(regions, means))


def _summary(delays: Matrix) -> Text:
    between = delays[~np.eye(len(delays), dtype=bool)]
    least, quarter, middle, most = (number(float(x)) for x in np.quantile(between, [0, 0.25, 0.5, 1]))
    mean = number(float(between.mean()))
    return Text(f"delays in ms: least {least}, lower quarter {quarter}, median {middle}, mean {mean}, most {most}")


def _matrix(names: list[str], delays: Matrix) -> Table:
    numbers = [str(i + 1) for i in range(len(names))]
    table = plain_table("ms", *numbers, right=numbers)
    farthest = float(delays.max()) or 1.0
    for i, name in enumerate(names):
        cells = [Text(f"{i + 1} {name}")]
        for value in delays[i].tolist():
            heat = HEAT[min(len(HEAT) - 1, int(len(HEAT) * value / farthest))]
            cells.append(Text("·" if value == 0 else f"{value:.0f}" if value >= 9.95 else f"{value:.1f}", heat))
        table.add_row(*cells)
    return table


def fragment_table(fragments: tuple[Fragment, ...]) -> Table:
    """One line per query that Spark would run, by fragment."""
    table = plain_table("fragment", "operators", "queries", "partitions on its nodes", right=("queries",))
    for fragment in fragments:
        nodes = list(fragment.replicas)
        table.add_row(fragment.name, " -> ".join(fragment.operators), str(len(nodes)), repr(fragment.replicas)[1:-1])
    return table
