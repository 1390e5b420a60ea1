"""Expanded application: the graph of executors (one per replica) that S-ODP places one by one [ODP 6.2].

Every operator becomes as many vertices as it has replicas, every stream a complete bipartite graph with its rate
split evenly. Placing the expanded application on single nodes is deploying the original one on multisets: cost,
traffic, network usage, elastic energy, availability and resource use are the same numbers. Response time is not: EDRP
takes the worst replica and the worst pair at every step, a path of executors has to leave from where it arrived, so
its longest can be shorter.
"""

from collections.abc import Mapping
from dataclasses import replace

from rheostat.model.graph.application import Application, Operator, Stream
from rheostat.model.graph.deployment import Deployment


def executor(operator: str, number: int) -> str:
    """Name of a replica in the expanded application."""
    return f"{operator}#{number}"


def expand(application: Application, degrees: Mapping[str, int]) -> Application:
    """The application with every operator replaced by its replicas."""
    operators = tuple(
        _replica(operator, number, degrees[operator.name])
        for operator in application.operators
        for number in range(degrees[operator.name])
    )
    streams = tuple(
        Stream(
            executor(stream.source, i),
            executor(stream.target, j),
            stream.grouping,
            rate_tps=application.rates.streams[stream.ends] / (degrees[stream.source] * degrees[stream.target]),
        )
        for stream in application.streams
        for i in range(degrees[stream.source])
        for j in range(degrees[stream.target])
    )
    return Application(f"{application.name} by executors", operators, streams)


def expand_deployment(deployment: Deployment) -> Deployment:
    """The deployment of the expanded application; replicas are numbered in the order of their nodes."""
    single = {}
    for operator, replicas in deployment.items():
        nodes = [node for node, count in replicas.counts for _ in range(count)]
        single.update({executor(operator, number): node for number, node in enumerate(nodes)})
    return Deployment.single(single)


def collapse_deployment(application: Application, deployment: Deployment) -> Deployment:
    """The deployment of the original operators as multisets, from one of single executors."""
    counts: dict[str, dict[str, int]] = {operator.name: {} for operator in application.operators}
    for name, replicas in deployment.items():
        nodes = counts[name.rpartition("#")[0]]
        for node, count in replicas.counts:
            nodes[node] = nodes.get(node, 0) + count
    return Deployment.of(counts)


def _replica(operator: Operator, number: int, degree: int) -> Operator:
    return replace(
        operator,
        name=executor(operator.name, number),
        min_replicas=1,
        max_replicas=1,
        state_bytes=operator.state_bytes // degree,
        rate_tps=operator.rate_tps / degree,
    )
