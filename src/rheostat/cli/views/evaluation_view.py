"""The answer of `evaluate`, as text and as JSON."""

from typing import Any

from rich.table import Table
from rich.text import Text

from rheostat.cli.output import page, say
from rheostat.cli.views.colours import number
from rheostat.cli.views.json_views import reconfiguration_json
from rheostat.cli.views.tables import plain_table
from rheostat.cli.views.verdict import Evaluated, Verdict


def report_json(evaluated: Evaluated, verdict: Verdict) -> dict[str, Any]:
    """Every figure under its name and unit."""
    result = evaluated.evaluation
    body: dict[str, Any] = {
        "reasons": list(verdict.reasons),
        "response_time_ms": result.response_time_ms,
        "availability": result.availability,
        "cost_per_hour": result.cost_per_hour,
        "traffic_tps": result.traffic_tps,
        "network_usage": result.network_usage,
        "elastic_energy": result.elastic_energy,
        "critical_path": [
            {"operator": name, "latency_ms": latency, "delay_to_next_ms": delay}
            for name, latency, delay in evaluated.steps
        ],
        "operator_latency_ms": result.operator_latency_ms,
        "saturated": list(result.saturated),
        "overloaded_nodes": [
            {"node": node, "use": use, "capacity": capacity}
            for node, (use, capacity) in result.overloaded_nodes.items()
        ],
        "overloaded_links": [
            {"from": u, "to": v, "load_tps": load, "bandwidth_tps": limit}
            for (u, v), (load, limit) in result.overloaded_links.items()
        ],
    }
    if evaluated.weighed is not None:
        weighed = evaluated.weighed
        known = {"unknown": weighed.unknown} if weighed.value is None else {}
        body["objective"] = {weighed.measure: weighed.value, "broken_bounds": list(weighed.broken), **known}
    if evaluated.current is not None:
        changes = reconfiguration_json(result.reconfiguration)
        body["change"] = {"downtime_seconds": result.downtime_seconds, "operators": changes}
    return body


def print_report(evaluated: Evaluated, verdict: Verdict) -> None:
    """Metrics, operators, the critical path, the change, and the verdict last."""
    console, placed = page(), evaluated.placed
    console.print(Text(f"{placed.application.name} on {placed.infrastructure.name}", "bold"))
    console.print(_metrics(evaluated))
    console.print()
    console.print(_operators(evaluated))
    say("", "critical path: " + _path(evaluated))
    if evaluated.current is not None:
        changes = evaluated.evaluation.reconfiguration.changes
        pause = f"downtime {number(evaluated.evaluation.downtime_seconds)} s"
        say("", f"change: {pause}" if changes else "change: none", *(f"  {change}" for change in changes))
    say("", *(f"no: {reason}" for reason in verdict.reasons))
    if verdict.good:
        say("yes: every operator, node, link and bound is kept")


def _metrics(evaluated: Evaluated) -> Table:
    result = evaluated.evaluation
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    rows = [
        ("response time", number(result.response_time_ms), "ms"),
        ("availability", f"{100 * result.availability:.6g}", "%"),
        ("cost", f"{result.cost_per_hour:.4g}", "$/h"),
        ("traffic between nodes", number(result.traffic_tps), "tuples/s"),
        ("network usage", number(result.network_usage), "tuples/s x ms"),
        ("elastic energy", number(result.elastic_energy), "tuples/s x ms²"),
    ]
    if evaluated.weighed is not None:
        weighed = evaluated.weighed
        better = "the smaller the better" if weighed.measure == "cost" else "the greater the better"
        known = weighed.value is not None
        value = f"{weighed.value:.4f}" if weighed.value is not None else "unknown"
        rows.append(("objective", value, better if known else weighed.unknown))
    for row in rows:
        table.add_row(*row)
    return table


def _operators(evaluated: Evaluated) -> Table:
    placed, latencies = evaluated.placed, evaluated.evaluation.operator_latency_ms
    table = plain_table("operator", "replicas", "runs on", "in/s", "per replica", "latency ms", right=_NUMBERS)
    for operator in placed.application.operators:
        replicas, rate = placed.deployment[operator.name], placed.application.rates.operators[operator.name]
        latency = Text(
            number(latencies[operator.name]), "bold red" if operator.name in evaluated.evaluation.saturated else ""
        )
        runs_on, share = repr(replicas)[1:-1], number(rate / len(replicas))
        table.add_row(operator.name, str(len(replicas)), runs_on, number(rate), share, latency)
    return table


_NUMBERS = ("replicas", "in/s", "per replica", "latency ms")


def _path(evaluated: Evaluated) -> str:
    """Latencies in brackets, delays on arrows."""
    steps = evaluated.steps
    parts = [
        f"{name} ({number(latency)})" + (f" -{number(delay)}-> " if i < len(steps) - 1 else "")
        for i, (name, latency, delay) in enumerate(steps)
    ]
    return "".join(parts) + " ms"
