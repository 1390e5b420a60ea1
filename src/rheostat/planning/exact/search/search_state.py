"""State of the compiled search: constant tables, parameters, and the current position."""

from typing import NamedTuple

from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.exact.bounds.path_kernel import PathWay


class Tables(NamedTuple):
    """Constant tables of a search. Operators are numbered by depth: the order in which they are decided.

    Tables follow one another in `data`; the other fields are their offsets, [depth, slot], -1 for none.
    """

    data: Values
    sizes: Indices
    """Number of choices per depth."""
    unary: Indices
    term: Indices
    """Share of F of the replicas."""
    latency: Indices
    tail: Indices
    """Least delay from here to the end of the flow."""
    downtime: Indices
    replicas: Indices
    """Row of the depth's first choice in `nodes`."""
    nodes: Indices
    """Node numbers of all choices, padded with -1."""
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
    """Number of groups per depth."""
    edge_source: Indices
    """[depth, incoming stream]: depth of its source."""
    edge_delay: Indices
    edge_term: Indices
    edge_price: Indices
    edge_log: Indices
    edges: Indices
    """Number of incoming streams per depth from operators decided before."""
    late_target: Indices
    """[depth, stream]: an operator decided before that receives this one's stream, -1 for none."""
    late_delay: Indices
    late_term: Indices
    late_price: Indices
    late_log: Indices
    flow_order: Indices
    """Depths in the order of flow; empty if that is the order of decision."""
    edge_flow: Values
    edge_rate: Values
    edge_fusable: Indices
    edge_single: Indices
    """1 if the grouping permits one query only with a single replica."""
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
    """Least cost of all operators beside the path after this depth."""
    unit: Values
    """Size of a unit of the path's memory."""
    path_price: Values
    """Price of every node's capacity along the path."""
    step_edge: Indices
    """[depth]: the incoming stream along the path, -1 if there is none or the path is unknown."""
    step: Indices
    """[depth]: offset of the steps to it along the path in the state's tables; the last entry is their number."""
    step_row: Indices
    """The same for the choices before it on the path, one entry per choice."""
    node_class: Indices
    """Class of every node, for exchanging nodes of one class; empty if not used."""
    way: PathWay
    after: Values
    """Least cost after every state of the path; empty without a path."""


class Scalars(NamedTuple):
    """Constant numbers of a search."""

    response: float
    weight: float
    """Weight of a millisecond in the bounds: the objective's factor plus the price of lateness."""
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
    """Least downtime in this search."""
    gap: float
    path_weight: float
    path_room: float
    watch_cost: bool
    watch_log: bool


class SearchState(NamedTuple):
    """Position of the search and values along the current branch."""

    cursor: Indices
    """[depth, nodes explored]."""
    chosen: Indices
    best: Indices
    upper: Values
    """[value of the incumbent]."""
    candidate: Indices
    bound: Values
    counts: Indices
    position: Indices
    finished: Values
    """Earliest completion of every operator, by the streams from operators decided before it."""
    waited: Values
    """[depth, incoming stream]: its delay, including hops."""
    fixed: Values
    """Value of the relaxation with the present choices."""
    slack: Values
    """Addition to it from the true completion times."""
    length: Values
    pause: Values
    price: Values
    log: Values
    additive: Values
    """Share of F of the present choices, without response time and downtime."""
    paid: Values
    """Price of the room of the present choices, at the path's prices."""
    step_cost: Values
    """Cost of a step along the path plus a bound of the rest, a row per choice before it, ascending."""
    step_choice: Indices
    """Choices in this order."""
    step_known: Indices
    """Whether a row has been computed."""
    head: Indices
    has_state: Indices
    used: Values
    load: Values
