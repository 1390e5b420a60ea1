"""Tables of the search, in flat arrays for the compiled kernel."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from rheostat.model.graph.application import Grouping
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Indices, Values
from rheostat.planning.encoded.symmetry import node_classes
from rheostat.planning.exact.bounds.choice_levels import NodeLevel, OptionLevel
from rheostat.planning.exact.bounds.elimination import Structure
from rheostat.planning.exact.bounds.lagrangian import Bound
from rheostat.planning.exact.bounds.path_bound import PathBound, unit_size
from rheostat.planning.exact.bounds.path_kernel import PathWay
from rheostat.planning.exact.search.search_state import Tables


@dataclass(frozen=True)
class BoundTables:
    """Bounds that prune the search."""

    messages: Bound
    """Messages of the elimination over all operators."""
    path: PathBound | None = None
    """Bound along the longest chain; its level must have a stand-in for every searched multiset."""
    nodes: NodeLevel | None = None
    """The level of `path`."""
    after: list[Values] = field(default_factory=list)
    """Least cost of the path after each multiset, per operator; 0 beside the path."""
    exchangeable: bool = False
    """Whether equal nodes may be used in one order only; then response times are not bounded."""


class _Data:
    """Concatenated tables."""

    def __init__(self) -> None:
        self.parts: list[Values] = [np.zeros(1)]
        self.length = 1

    def put(self, table: Values) -> int:
        """Appends a table and returns its offset."""
        at = self.length
        self.parts.append(np.ascontiguousarray(table, dtype=float).ravel())
        self.length += self.parts[-1].size
        return at

    def joined(self) -> Values:
        return np.concatenate(self.parts)


def tables_of(level: OptionLevel, known: BoundTables) -> Tables:
    """All tables of the kernel, operators by depth."""
    bound = known.messages
    instance, structure, data = level.instance, bound.messages.structure, _Data()
    order = structure.order
    capacities, network = instance.problem.infrastructure.capacities, instance.problem.infrastructure.network
    limited = np.isfinite(network.bandwidth_tps).any()
    tails = _tails(level)
    sizes = np.array([len(level.candidates[i]) for i in order], dtype=np.int64)
    rows = np.concatenate([level.candidates[i].nodes for i in order])
    operators = [instance.problem.application.by_name[instance.names[i]] for i in order]
    return Tables(
        sizes=sizes,
        unary=np.array([data.put(bound.messages.unary[i]) for i in order]),
        term=np.array([data.put(level.candidates[i].term) for i in order]),
        latency=np.array([data.put(level.candidates[i].latency) for i in order]),
        tail=np.array([data.put(tails[i]) for i in order]),
        downtime=np.array([data.put(level.candidates[i].downtime) for i in order]),
        replicas=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        nodes=rows,
        identity=np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.int64),
        distinct=np.array([len(set(row[row >= 0].tolist())) for row in rows], dtype=np.int64),
        **_group_arrays(structure, bound, data),
        **_edge_arrays(level, structure, bound, data),
        through=bound.prices.through[list(order)],
        resources=instance.resources[list(order)],
        capacity=capacities.astype(float),
        capacity_price=bound.prices.capacity,
        bandwidth=np.array(network.bandwidth_tps) if limited else np.empty((0, 0)),
        stateful=np.array([int(operator.is_stateful) for operator in operators]),
        routed=_routed(instance, order),
        replica_price=instance.replica_prices[list(order)],
        log_node=instance.problem.infrastructure.log_availabilities,
        **_rests(level, order),
        **_path_arrays(level, known),
        **_step_arrays(level, known),
        node_class=node_classes(instance) if known.exchangeable else np.empty(0, dtype=np.int64),
        data=data.joined(),
    )


def _group_arrays(structure: Structure, bound: Bound, data: _Data) -> dict[str, Any]:
    order = structure.order
    rank = {i: depth for depth, i in enumerate(order)}
    most = max(len(structure.groups[i]) for i in order)
    names = ("group_first", "group_second", "group_table_first", "group_table_second", "message")
    found = {name: np.full((len(order), most), -1, dtype=np.int64) for name in names}
    for depth, j in enumerate(order):
        for g, group in enumerate(structure.groups[j]):
            found["message"][depth, g] = data.put(bound.messages.messages[j][g])
            for slot, i in zip(("first", "second"), group, strict=False):
                found[f"group_{slot}"][depth, g] = rank[i]
                found[f"group_table_{slot}"][depth, g] = data.put(bound.messages.pair[i, j])
    found["groups"] = np.array([len(structure.groups[i]) for i in order])
    return found


def _edge_arrays(level: OptionLevel, structure: Structure, bound: Bound, data: _Data) -> dict[str, Any]:
    instance, order = level.instance, structure.order
    rank = {i: depth for depth, i in enumerate(order)}
    ends = instance.edges.tolist()
    incoming = [[e for e, (s, t) in enumerate(ends) if t == j and rank[s] < rank[j]] for j in order]
    shape = (len(order), max(1, *(len(edges) for edges in incoming)))
    whole = ("edge_source", "edge_delay", "edge_term", "edge_price", "edge_log", "edge_fusable", "edge_single")
    found: dict[str, Any] = {name: np.full(shape, -1, dtype=np.int64) for name in whole}
    found["edge_flow"], found["edge_rate"] = np.zeros(shape), np.zeros(shape)
    bounds = instance.problem.objective.bounds
    for depth, edges in enumerate(incoming):
        for k, e in enumerate(edges):
            found["edge_source"][depth, k] = rank[int(instance.edges[e, 0])]
            found["edge_delay"][depth, k] = data.put(level.delay(e))
            found["edge_term"][depth, k] = data.put(level.tables[e].term)
            if isfinite(bounds.cost_per_hour):
                found["edge_price"][depth, k] = data.put(level.tables[e].price)
            if bounds.availability > 0:
                found["edge_log"][depth, k] = data.put(level.tables[e].log_availability)
            found["edge_flow"][depth, k] = bound.prices.flow[e]
            found["edge_rate"][depth, k] = instance.rates[e]
            found["edge_fusable"][depth, k] = int(instance.fusable[e])
            found["edge_single"][depth, k] = int(instance.problem.application.streams[e].grouping is Grouping.SINGLE)
    found["edges"] = np.array([len(edges) for edges in incoming])
    return found | _late_arrays(level, order, data)


def _late_arrays(level: OptionLevel, order: tuple[int, ...], data: _Data) -> dict[str, Any]:
    """Tables of streams to operators decided before their source; their delays count when all are decided."""
    rank, ends = {i: depth for depth, i in enumerate(order)}, level.instance.edges.tolist()
    late = [[e for e, (s, t) in enumerate(ends) if s == i and rank[t] < rank[i]] for i in order]
    shape = (len(order), max(1, *(len(edges) for edges in late)))
    names = ("late_target", "late_delay", "late_term", "late_price", "late_log")
    found: dict[str, Any] = {name: np.full(shape, -1, dtype=np.int64) for name in names}
    for depth, edges in enumerate(late):
        for k, e in enumerate(edges):
            found["late_target"][depth, k] = rank[ends[e][1]]
            tables = (level.delay(e), level.tables[e].term, level.tables[e].price, level.tables[e].log_availability)
            for name, table in zip(names[1:], tables, strict=True):
                found[name][depth, k] = data.put(table)
    in_flow = sorted(range(len(order)), key=lambda depth: order[depth])
    found["flow_order"] = np.array(in_flow if any(late) else [], dtype=np.int64)
    return found


def _path_arrays(level: OptionLevel, known: BoundTables) -> dict[str, Any]:
    """Values of the path, and its candidates that stand for the replicas of every multiset."""
    instance, order = level.instance, known.messages.messages.structure.order
    if known.path is None or known.nodes is None:
        none, nothing = np.empty(0), np.empty(0, dtype=np.int64)
        table = np.empty((0, 0), dtype=np.int64)
        way = PathWay(
            nothing, nothing, none, nothing, none, nothing, nothing, table, table, table, nothing, table, nothing
        )
        empty = {
            "on_path": nothing,
            "stand_in": table,
            "rest_beside": none,
            "unit": none,
            "path_price": none,
            "rest": none,
        }
        return {**empty, "way": way, "after": none}
    path, rank = known.path, {i: depth for depth, i in enumerate(order)}
    decided = [rank[i] for i in path.path]
    stand_in = []
    for i in order:
        rows = np.full(level.candidates[i].nodes.shape, -1, dtype=np.int64)
        if i in path.path:
            first = path.way.start[path.path.index(i)]
            rows = known.nodes.choices_of(i, level.candidates[i])
            rows = np.where(rows >= 0, rows + first, -1)
        stand_in.append(rows)
    return {
        "on_path": np.array([max((d for d in decided if d <= depth), default=-1) for depth in range(len(order))]),
        "stand_in": np.concatenate(stand_in),
        "rest": np.concatenate([known.after[i] for i in order]),
        "rest_beside": _after(path.beside[list(order)]),
        "unit": np.array([unit_size(instance)]),
        "path_price": path.prices.capacity,
        "way": path.way,
        "after": path.after,
    }


def _step_arrays(level: OptionLevel, known: BoundTables) -> dict[str, Any]:
    """Offsets for the costs of every step along the path, from each multiset to each next one."""
    order = known.messages.messages.structure.order
    rank, sizes = {i: depth for depth, i in enumerate(order)}, level.sizes()
    edges, step, row = np.full(len(order), -1, dtype=np.int64), [0], [0]
    path = known.path.path if known.path is not None and known.nodes is not None else ()
    steps = dict(zip(path[1:], path, strict=False))
    for depth, j in enumerate(order):
        i = steps.get(j)
        if i is not None:
            incoming = [s for s, t in level.instance.edges.tolist() if t == j and rank[s] < depth]
            edges[depth] = incoming.index(i)
        step.append(step[-1] + (sizes[i] * sizes[j] if i is not None else 0))
        row.append(row[-1] + (sizes[i] if i is not None else 0))
    return {"step_edge": edges, "step": np.array(step), "step_row": np.array(row)}


def _tails(level: OptionLevel) -> list[Values]:
    """Least delay from every choice to the end of its longest path: best next choice, worst path onwards."""
    tails = [np.zeros(size) for size in level.sizes()]
    for i in reversed(range(len(tails))):
        for e, (source, target) in enumerate(level.instance.edges.tolist()):
            if source == i:
                rest = level.candidates[target].latency + tails[target]
                tails[i] = np.maximum(tails[i], (level.delay(e) + rest[None, :]).min(axis=1))
    return tails


def _rests(level: OptionLevel, order: tuple[int, ...]) -> dict[str, Any]:
    """Least price and best availability of the operators decided after each depth."""
    instance = level.instance
    logs = instance.problem.infrastructure.log_availabilities
    price, log = np.zeros(len(order)), np.zeros(len(order))
    for depth, i in enumerate(order):
        options = level.candidates[i]
        price[depth] = float((options.size * instance.replica_prices[i]).min())
        log[depth] = float((options.counts(len(logs)) @ logs).max())
        for e, (_, target) in enumerate(instance.edges.tolist()):
            if target == i:
                price[depth] += float(level.tables[e].price.min())
                log[depth] += float(level.tables[e].log_availability.max())
    return {"rest_price": _after(price), "rest_log": _after(log)}


def _after(values: Values) -> Values:
    return np.asarray(values[::-1].cumsum()[::-1] - values)


def _routed(instance: EncodedProblem, order: tuple[int, ...]) -> Indices:
    """Whether a query that begins with one operator already gets its input by another's key."""
    application = instance.problem.application
    routed = np.zeros((len(order), len(order)), dtype=np.int64)
    for a, head in enumerate(order):
        first = application.by_name[instance.names[head]]
        inputs = application.inputs[first.name]
        keyed = bool(inputs) and all(stream.grouping is Grouping.KEY for stream in inputs)
        for b, other in enumerate(order):
            routed[a, b] = int(keyed and first.key == application.by_name[instance.names[other]].key)
    return routed
