"""The check of a deployment before it is carried out: every reason that forbids it, in words."""

from collections.abc import Set as AbstractSet

from rheostat.model.graph.application import Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.quality.evaluation import overloaded_nodes
from rheostat.model.quality.placed import Placed
from rheostat.runtime.plan.blueprint import Blueprint


def objections(
    blueprint: Blueprint, wanted: Deployment, current: Deployment | None, *, lost: AbstractSet[str]
) -> list[str]:
    """Every reason that forbids a deployment; none if it can be carried out.

    An operator that is on a lost node stays with its stand-in until it is moved; nothing new goes to a lost node.
    """
    application, infrastructure = blueprint.application, blueprint.infrastructure
    found = [f"{m.what}; {m.remedy}" for m in wanted.mistakes(application, infrastructure.index)]
    if found:
        return found
    total = blueprint.settings.key_groups
    for name, replicas in wanted.items():
        operator = application.by_name[name]
        if len(replicas) > total:
            found.append(f"operator {name!r} has {len(replicas)} replicas, more than the {total} key groups")
        if operator.kind is Kind.SOURCE and len(list(replicas)) > 1:
            found.append(f"source {name!r} cannot be spread over nodes")
        if operator.is_foreign_sink and len(list(replicas)) > 1:
            found.append(f"sink {name!r} cannot be spread over nodes: only the results sink is exact then")
    for node, (used, capacity) in overloaded_nodes(Placed(application, infrastructure, wanted)).items():
        found.append(f"node {node!r} has {capacity:g} slots, {used:g} are needed")
    return found + [f"node {node!r} does not run" for node in sorted(lost & _with_more(wanted, current))]


def _with_more(wanted: Deployment, current: Deployment | None) -> set[str]:
    """Nodes that get replicas which they do not have."""
    before = {name: dict(replicas.counts) for name, replicas in (current.items() if current is not None else ())}
    return {
        node
        for name, replicas in wanted.items()
        for node, count in replicas.counts
        if count > before.get(name, {}).get(node, 0)
    }
