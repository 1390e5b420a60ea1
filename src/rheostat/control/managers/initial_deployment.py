"""Initial deployments of EDF 8.3 and E2DF 4.2; a planner's is the third way."""

from collections.abc import Mapping, Sequence

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.application import Application, Operator
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure


def near_its_inputs(
    application: Application, infrastructure: Infrastructure, degrees: Mapping[str, int] | None = None
) -> Deployment:
    """Every operator as near to what feeds it as there is room, along the flow: EDF's latency-aware start.

    EDF takes the heuristic of Pietzuch et al. and says only that it minimises the response time with regard to network
    latency. Differs: greedy along the flow; a pinned operator further down draws what leads to it, since half of the
    delay to it counts as well.
    """
    room, placed = _rooms(infrastructure), dict[str, list[str]]()
    pins = {operator.name: operator.pin for operator in application.operators if operator.pin is not None}
    for name in application.flow:
        operator = application.by_name[name]
        chosen: list[str] = []
        for _ in range(_degree(operator, degrees)):
            fed = [node for stream in application.inputs[name] for node in placed[stream.source]]
            drawn = [pins[s.target] for s in application.outputs[name] if s.target in pins]
            chosen.append(_taken(operator, room, infrastructure, [*fed, *chosen], drawn))
        placed[name] = chosen
    return Deployment.of({name: Replicas.on(*nodes) for name, nodes in placed.items()})


def balanced(
    application: Application, infrastructure: Infrastructure, first: int = 5, degrees: Mapping[str, int] | None = None
) -> Deployment:
    """Evenly on the first R_init nodes: each replica goes where the fewest are [E2DF 4.2].

    Nodes that operators are pinned to belong to them, too.
    """
    if first < 1:
        raise ValueError(f"an application needs at least 1 node to begin on, got {first}")
    pinned = [operator.pin for operator in application.operators if operator.pin is not None]
    chosen = dict.fromkeys([*pinned, *(node.name for node in infrastructure.nodes[:first])])
    room = {node: free for node, free in _rooms(infrastructure).items() if node in chosen}
    held = dict.fromkeys(room, 0)
    placed: dict[str, list[str]] = {}
    # Who has no choice goes first, so that the others can make room for them.
    for operator in sorted(application.operators, key=lambda each: each.pin is None):
        for _ in range(_degree(operator, degrees)):
            fitting = _fitting(operator, room)
            node = min(fitting, key=lambda each: held[each])
            room[node] -= operator.resources
            held[node] += 1
            placed.setdefault(operator.name, []).append(node)
    return Deployment.of({name: Replicas.on(*nodes) for name, nodes in placed.items()})


def _degree(operator: Operator, degrees: Mapping[str, int] | None) -> int:
    return operator.min_replicas if degrees is None else degrees.get(operator.name, operator.min_replicas)


def _rooms(infrastructure: Infrastructure) -> dict[str, float]:
    return {node.name: node.capacity for node in infrastructure.nodes}


def _fitting(operator: Operator, room: Mapping[str, float]) -> list[str]:
    """Nodes with room that the operator may run on, in their order."""
    fitting = [node for node, free in room.items() if operator.may_run_on(node) and free >= operator.resources - 1e-9]
    if not fitting:
        what = f"there is no room for operator {operator.name!r}"
        remedy = "add nodes, or allow it on more of them"
        raise InvalidModel("initial deployment", [Mistake(("operators", operator.name), what, remedy)])
    return fitting


def _taken(
    operator: Operator, room: dict[str, float], at: Infrastructure, near: Sequence[str], drawn: Sequence[str]
) -> str:
    """The fitting node with the least delay from what is before it, and half as important, to what draws it."""
    delays, index = at.network.delay_ms, at.index

    def distance(node: str) -> tuple[float, float, int]:
        here = index[node]
        fed = max((float(delays[index[other], here]) for other in near), default=0.0)
        leads = max((float(delays[here, index[other]]) for other in drawn), default=0.0)
        return fed + leads / 2, -room[node], here

    node = min(_fitting(operator, room), key=distance)
    room[node] -= operator.resources
    return node
