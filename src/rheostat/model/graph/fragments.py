"""Fragments: chains of operators that run together as one streaming query.

A fragment is a chain of operators with the same deployment and at most one stateful operator in it. Inside a fragment
tuples pay no hop, as the papers' model assumes of co-located operators, and every checkpoint holds the state of one
operator at most. A sink that writes to an external system is a fragment by itself: the external system knows what was
written by batch number, and these numbers must continue for the life of the application, even if other operators are
replaced. The planner (price of a hop), the runtime (queries) and `show --physical` all use this definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from rheostat.model.graph.application import Application, Grouping, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas


@dataclass(frozen=True, slots=True)
class Fragment:
    """A chain of operators that run as one query on every node of their deployment."""

    operators: tuple[str, ...]
    """Names, in the order of flow."""
    replicas: Replicas
    """The deployment they share."""

    @property
    def name(self) -> str:
        """The name of the first operator: a chain that grows or shrinks at its end keeps its name."""
        return self.operators[0]

    @property
    def head(self) -> str:
        """The first operator, which reads the input."""
        return self.operators[0]

    @property
    def tail(self) -> str:
        """The last operator, which writes the output."""
        return self.operators[-1]


def fragments(application: Application, deployment: Deployment) -> tuple[Fragment, ...]:
    """The application cut into as few fragments as the rules allow, in the order of flow."""
    placed = dict(deployment.items())
    chains: dict[str, list[str]] = {}
    for name in application.flow:
        stream = application.inputs[name][0] if len(application.inputs[name]) == 1 else None
        chain = chains.get(stream.source) if stream else None
        if stream and chain and _joins(application, placed, chain, stream):
            chain.append(name)
        else:
            chain = [name]
        chains[name] = chain
    heads = [name for name in application.flow if chains[name][0] == name]
    return tuple(Fragment(tuple(chains[name]), placed[name]) for name in heads)


def fused_streams(application: Application, deployment: Deployment) -> frozenset[tuple[str, str]]:
    """The streams that stay inside a fragment and pay no hop."""
    return frozenset(
        pair for fragment in fragments(application, deployment) for pair in _neighbours(fragment.operators)
    )


def _neighbours(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(pairwise(names))


def _joins(application: Application, placed: Mapping[str, Replicas], chain: list[str], stream: Stream) -> bool:
    """Whether the target of a stream can run in the query of the chain that ends at its source."""
    target, replicas = application.by_name[stream.target], placed[stream.target]
    if chain[-1] != stream.source or placed[stream.source] != replicas or len(application.outputs[stream.source]) > 1:
        return False
    if stream.grouping is Grouping.BROADCAST or (stream.grouping is Grouping.SINGLE and len(replicas) > 1):
        return False
    if target.is_foreign_sink:
        return False
    if not target.is_stateful:
        return True
    if any(application.by_name[name].is_stateful for name in chain):
        return False
    return len(list(replicas)) == 1 or _routed_by(application, application.by_name[chain[0]], target.key)


def _routed_by(application: Application, head: Operator, key: tuple[str, ...]) -> bool:
    """Whether the chain's input already reaches the node that owns this key."""
    inputs = application.inputs[head.name]
    return bool(inputs) and head.key == key and all(stream.grouping is Grouping.KEY for stream in inputs)
