"""The model as plain values for JSON: names and units as in the documents."""

from typing import Any

from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.fragments import Fragment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure


def application_json(application: Application) -> dict[str, Any]:
    """Operators and streams with their rates."""
    rates = application.rates
    return {
        "name": application.name,
        "operators": [
            {
                "name": operator.name,
                "kind": operator.kind.value,
                "key": list(operator.key),
                "min_replicas": operator.min_replicas,
                "max_replicas": operator.max_replicas,
                "pin": operator.pin,
                "candidates": list(operator.candidates),
                "input_tps": rates.operators[operator.name],
                "state_bytes": operator.state_bytes,
            }
            for operator in application.operators
        ],
        "streams": [
            {
                "from": stream.source,
                "to": stream.target,
                "grouping": stream.grouping.value,
                "rate_tps": rates.streams[stream.ends],
            }
            for stream in application.streams
        ],
    }


def infrastructure_json(infrastructure: Infrastructure) -> dict[str, Any]:
    """Nodes, and the delay between every two of them."""
    return {
        "name": infrastructure.name,
        "nodes": [
            {
                "name": node.name,
                "region": node.region,
                "capacity": node.capacity,
                "speedup": node.speedup,
                "availability": node.availability,
                "price_per_hour": node.price_per_hour,
            }
            for node in infrastructure.nodes
        ],
        "delays_ms": infrastructure.network.delay_ms.tolist(),
    }


def deployment_json(deployment: Deployment) -> dict[str, dict[str, int]]:
    """Operator -> node -> replicas."""
    return {operator: dict(replicas.counts) for operator, replicas in deployment.items()}


def fragments_json(fragments: tuple[Fragment, ...]) -> list[dict[str, Any]]:
    """Operators that run as one query, and its partitions on every node."""
    return [
        {"name": fragment.name, "operators": list(fragment.operators), "partitions": dict(fragment.replicas.counts)}
        for fragment in fragments
    ]


def reconfiguration_json(reconfiguration: Reconfiguration) -> list[dict[str, Any]]:
    """The changes, operator by operator."""
    return [
        {
            "operator": change.operator,
            "kind": change.kind.value,
            "before": dict(change.before.counts),
            "after": dict(change.after.counts),
        }
        for change in reconfiguration.changes
    ]
