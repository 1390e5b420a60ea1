"""State of the compiled search: constant tables, parameters, and the current position."""

from typing import NamedTuple

from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.path_kernel import PathWay


class Tables(NamedTuple):
    """What does not change during a search. Operators are counted by depth: the order in which they are decided.

    Tables lie one after another in `data`; the rest are their offsets, [depth, slot], -1 for none.
    """

    data: Values
    sizes: Indices
    """Choices per depth."""
    unary: Indices
    term: Indices
    """What the replicas add to F."""
    latency: Indices
    tail: Indices
    """Least delay from here to the end."""
    downtime: Indices
    replicas: Indices
    """Row of the depth's first choice in `nodes`."""
    nodes: Indices
    """Node numbers of all choices, -1 after the last."""
    identity: Indices
    """Equal for equal multisets, over all operators; indexed like `nodes`."""
    distinct: Indices
    """Number of different nodes, indexed like `nodes`."""
    group_first: Indices
    """[depth, group]: an earlier depth, -1 for none."""
    group_second: Indices
    group_table_first: Indices
    group_table_second: Indices
    message: Indices
    groups: Indices
    """Groups per depth."""
    edge_source: Indices
    """[depth, incoming stream]: depth of its source."""
    edge_delay: Indices
    edge_term: Indices
    edge_price: Indices
    edge_log: Indices
    edges: Indices
    """Incoming streams per depth, from operators that are decided before."""
    late_target: Indices
    """[depth, stream]: an operator that hears this one though it is decided before, -1 for none."""
    late_delay: Indices
    late_term: Indices
    late_price: Indices
    late_log: Indices
    flow_order: Indices
    """Depths in the order of flow; empty if that is how they are decided."""
    edge_flow: Values
    edge_rate: Values
    edge_fusable: Indices
    edge_single: Indices
    """1 where the grouping allows one query only with a single replica."""
    through: Values
    resources: Values
    capacity: Values
    capacity_price: Values
    bandwidth: Values
    """[u, v], or empty if unlimited."""
    stateful: Indices
    routed: Indices
    """[head, operator]: 1 if a query with this head already gets its input by the operator's key."""
    replica_price: Values
    log_node: Values
    rest_price: Values
    """Least price of everything after this depth."""
    rest_log: Values
    """Best log availability of everything after this depth."""
    on_path: Indices
    """Depth of the last operator on the path that is decided at this depth, -1 for none."""
    stand_in: Indices
    """The path's candidate of every replica, indexed like `nodes`."""
    rest: Values
    """Least cost of the path after every multiset on it, indexed like `nodes`."""
    rest_beside: Values
    """Least cost of everything beside the path after this depth."""
    unit: Values
    """Size of a unit of the path's memory."""
    path_price: Values
    """Price of every node's capacity along the path."""
    step_edge: Indices
    """[depth]: the incoming stream along the path, -1 where there is none or the path is not known."""
    step: Indices
    """[depth]: where the steps to it along the path start in the state's tables; last, how many there are."""
    step_row: Indices
    """The same for what was chosen before it on the path, a number per choice."""
    node_class: Indices
    """Nodes of one class can be exchanged; empty if that is not to be used."""
    way: PathWay
    after: Values
    """Least cost after every state of the path, empty if there is none."""


class Scalars(NamedTuple):
    """Numbers that do not change during a search."""

    response: float
    weight: float
    """Of a millisecond in the bounds: the objective's factor and the price of being late."""
    downtime: float
    constant: float
    room: float
    """Σ price x capacity."""
    hop: float
    response_bound: float
    cost_bound: float
    log_bound: float
    downtime_bound: float
    downtime_floor: float
    """No downtime in this search is below this."""
    gap: float
    path_weight: float
    path_room: float
    watch_cost: bool
    watch_log: bool


class SearchState(NamedTuple):
    """Where the search is."""

    cursor: Indices
    """[depth, nodes explored]."""
    chosen: Indices
    best: Indices
    upper: Values
    """[value of the best]."""
    candidate: Indices
    bound: Values
    counts: Indices
    position: Indices
    finished: Values
    """When every operator is done at the earliest, by the streams from operators decided before it."""
    waited: Values
    """[depth, incoming stream]: its delay, hops included."""
    fixed: Values
    """Value of the relaxation with what is decided."""
    slack: Values
    """What true completion times add to it."""
    length: Values
    pause: Values
    price: Values
    log: Values
    additive: Values
    """What is decided adds to F, response time and downtime apart."""
    paid: Values
    """What is decided pays for its room, at the path's prices."""
    step_cost: Values
    """What a step along the path costs with what follows at least, a row per choice before it, ascending."""
    step_choice: Indices
    """The choices in this order."""
    step_known: Indices
    """Whether a row has been computed."""
    head: Indices
    has_state: Indices
    used: Values
    load: Values
