"""A running application on a terminal: the graph with replicas, rates and backlogs, and the last changes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rheostat.cli.views.colours import KIND_COLOURS, number
from rheostat.cli.views.graph_text import lanes, passing
from rheostat.cli.views.tables import plain_table
from rheostat.model.graph.application import Application

STYLES = {"done": "green", "rolled back": "yellow", "refused": "red"}


def run_view(application: Application, status: Mapping[str, Any]) -> Group:
    """The whole view, from the status document of the controller."""
    nodes = ", ".join(f"{node['name']} {number(node['used'])}/{number(node['capacity'])}" for node in status["nodes"])
    parts: list[RenderableType] = [
        Text(f"{status['application']}  {summary(status)}", "bold"),
        Text(f"slots in use: {nodes}", "bright_black"),
        _graph(application, status),
    ]
    parts += [Text(lost_line(name), "yellow") for name in lost_nodes(status)]
    parts += [Text(symptom_line(symptom), "yellow") for symptom in status["symptoms"]]
    for change in status["changes"]:
        parts.append(Text(change_line(change), STYLES[change["effect"]]))
    control = status["control"]
    if control is not None:
        parts.append(Text("control is paused" if control["paused"] else "under control", "bright_black"))
        parts += [Text(story_line(story), "cyan") for story in control["stories"]]
    for failure in status["failures"]:
        parts.append(Text(failure, "bold red"))
    return Group(*parts)


def summary(status: Mapping[str, Any]) -> str:
    """One line: rates in and out, backlog, response time."""
    known = [rate for rate in status["sinks_tps"].values() if rate is not None]
    out = f"{number(sum(known))}/s" if known else "?"
    waiting = sum(stream["lag_rows"] or 0 for stream in status["streams"])
    coming = [rate for rate in status["sources_tps"].values() if rate is not None]
    parts = [
        f"{status['state']} for {_span(status['seconds'])}",
        f"in {number(sum(coming))}/s" if coming else "in ?",
        f"out {out}",
        f"waiting {waiting:,}",
    ]
    if (times := status["response_ms"]) is not None:
        parts.append(f"response {times['p50'] / 1000:.1f} s, p95 {times['p95'] / 1000:.1f} s")
    return ", ".join(parts)


def lost_nodes(status: Mapping[str, Any]) -> list[str]:
    """Names of those that are lost."""
    return [node["name"] for node in status["nodes"] if node["lost"]]


def lost_line(name: str) -> str:
    """A lost node in one line."""
    return f"node {name} lost; instances failed over"


def symptom_line(symptom: Mapping[str, Any]) -> str:
    """A stall, a lag or a silent node in one line."""
    return f"{symptom['subject']}: {symptom['what']}"


def change_line(change: Mapping[str, Any]) -> str:
    """A change in one line."""
    tail = f"paused {change['paused_seconds']:.2f} s" if change["effect"] == "done" else change["reason"]
    return f"{change['at'][11:19]} {change['effect']}: {change['what']} ({tail})"


def story_line(story: Mapping[str, Any]) -> str:
    """A decision or its outcome in one line."""
    return f"{datetime.fromtimestamp(story['at_seconds']).astimezone():%H:%M:%S} {story['told']}"


def _graph(application: Application, status: Mapping[str, Any]) -> Table:
    numbers = ("replicas", "in/s", "busy", "own code ms")
    table = plain_table("", "operator", "replicas", "runs on", *numbers[1:], "sends to", right=numbers)
    streams = {(one["from"], one["to"]): one for one in status["streams"]}
    failed = {name for one in status["instances"] if one["state"] == "failed" for name in one["operators"]}
    for lane in lanes(application):
        operator, above = application.by_name[lane.operator], "" if lane.join is None else "\n"
        replicas = status["deployment"].get(operator.name, {})
        sent = [_stream(streams.get(stream.ends), stream.target) for stream in application.outputs[operator.name]]
        drawn = [line for line in (lane.join, lane.line, lane.fork) if line is not None]
        drawn += [passing(lane)] * (len(sent) - 2)
        style = "bold red" if operator.name in failed else KIND_COLOURS[operator.kind]
        table.add_row(
            Text("\n".join(drawn), "bright_black"),
            Text(above + operator.name, style),
            above + str(sum(replicas.values())),
            above + ", ".join(f"{node}:{count}" for node, count in sorted(replicas.items())),
            *(above + cell for cell in _figures(status.get("operators", {}).get(operator.name, {}))),
            above + "\n".join(sent),
        )
    return table


def _figures(known: Mapping[str, float]) -> tuple[str, str, str]:
    """Input rate, utilization, and time of the operator's own Python code per tuple."""
    rate, busy, own = (known.get(name) for name in ("input_rate", "utilization", "user_code_ms"))
    return (
        "" if rate is None else number(rate),
        "" if busy is None else f"{busy:.0%}",
        "" if own is None else number(own),
    )


def _stream(stream: Mapping[str, Any] | None, target: str) -> str:
    if stream is None:
        return target
    if stream["inside"]:
        return f"{target} (in the same query)"
    rate, waiting = stream["rate_tps"], stream["lag_rows"]
    told = ["?/s" if rate is None else f"{number(rate)}/s", "? waiting" if waiting is None else f"{waiting:,} waiting"]
    return f"{target} ({', '.join(told)})"


def _span(seconds: float) -> str:
    """
    Time in the units one thinks in.

    >>> _span(7.2), _span(75), _span(7500)
    ('7 s', '1 min 15 s', '2 h 5 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
