"""Branch and bound over the remaining multisets, with the messages of the dynamic program as bounds."""

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.choice_levels import OptionLevel
from rheostat.planning.exact.bounds.lagrangian import Bound, capacity_value
from rheostat.planning.exact.search.search_kernel import expand_root, run
from rheostat.planning.exact.search.search_state import Scalars, SearchState, Tables
from rheostat.planning.exact.search.search_tables import BoundTables, tables_of

_BUDGET = 2_000
"""Search nodes between two checks of the clock."""
_NOTHING = 1e14
"""Upper value without a known deployment."""


@dataclass(frozen=True)
class Searched:
    """Result of a search."""

    chosen: list[tuple[int, ...]] | None
    """Node numbers per operator of a better deployment, if one was found."""
    upper: float
    """Its value, or that of the incumbent; without the constant."""
    lower: float
    """Lower bound of the searched part."""
    explored: int


@dataclass(frozen=True, slots=True)
class Within:
    """Limits of a search."""

    upper: float = inf
    """Only deployments below this are of interest: the value of the incumbent, or inf."""
    downtime_floor: float = 0.0
    """Least downtime of every deployment in the searched part."""
    gap: float = 0.0
    most_nodes: float = inf
    """Limit on the search nodes."""


def search(level: OptionLevel, bounds: BoundTables, within: Within, clock: Deadline) -> Searched:
    """Searches until nothing better is left or the time is over."""
    bound = bounds.messages
    tables, scalars = tables_of(level, bounds), _scalars(level.instance, bounds, within)
    state = _state(tables, bound, within.upper)
    expand_root(tables, scalars, state)
    done = False
    # Without the bound of the response time the only question is whether any deployment is found.
    budget = _BUDGET // 10 if bounds.exchangeable else _BUDGET
    while not done and not clock.is_over() and state.cursor[1] < within.most_nodes:
        done = run(tables, scalars, state, budget)
        if bounds.exchangeable and state.best[0] >= 0:
            break
    upper, explored = float(state.upper[0]), int(state.cursor[1])
    lower = upper - within.gap * abs(upper + scalars.constant) if done else min(_open_bound(state), upper)
    if done and upper >= _NOTHING:
        lower = inf
    if state.best[0] < 0:
        return Searched(None, upper, lower, explored)
    chosen: list[tuple[int, ...]] = [()] * len(level.candidates)
    for depth, i in enumerate(bound.messages.structure.order):
        chosen[i] = level.candidates[i].chosen(int(state.best[depth]))
    return Searched(chosen, upper, lower, explored)


def _open_bound(state: SearchState) -> float:
    """The least bound of the unexplored part."""
    depths = range(int(state.cursor[0]) + 1)
    left = [state.bound[d, state.position[d]] for d in depths if state.position[d] < state.counts[d]]
    return float(min(left, default=inf))


def _scalars(instance: EncodedProblem, known: BoundTables, within: Within) -> Scalars:
    bound, path = known.messages, known.path
    factors, bounds = instance.coefficients, instance.problem.objective.bounds
    return Scalars(
        response=factors.response,
        weight=factors.response + bound.prices.response,
        downtime=factors.downtime,
        constant=factors.constant,
        room=capacity_value(instance, bound.prices),
        hop=instance.problem.hop_ms,
        response_bound=inf if known.exchangeable else bounds.response_time_ms,
        cost_bound=bounds.cost_per_hour,
        log_bound=instance.log_availability_bound,
        downtime_bound=bounds.downtime_seconds,
        downtime_floor=within.downtime_floor,
        gap=within.gap,
        path_weight=factors.response + (path.prices.response if path else 0.0),
        path_room=capacity_value(instance, path.prices) if path else 0.0,
        watch_cost=isfinite(bounds.cost_per_hour),
        watch_log=bounds.availability > 0,
    )


def _state(tables: Tables, bound: Bound, upper: float) -> SearchState:
    depths, widest = len(tables.sizes), int(tables.sizes.max())
    nodes = len(tables.capacity)
    fixed = np.zeros(depths + 1)
    fixed[depths] = bound.messages.value
    links = nodes if len(tables.bandwidth) else 0
    return SearchState(
        cursor=np.zeros(2, dtype=np.int64),
        chosen=np.zeros(depths, dtype=np.int64),
        best=np.full(depths, -1, dtype=np.int64),
        upper=np.array([min(upper, _NOTHING)]),
        candidate=np.zeros((depths, widest), dtype=np.int64),
        bound=np.zeros((depths, widest)),
        counts=np.zeros(depths, dtype=np.int64),
        position=np.zeros(depths, dtype=np.int64),
        finished=np.zeros(depths),
        waited=np.zeros(tables.edge_source.shape),
        step_cost=np.empty(int(tables.step[-1])),
        step_choice=np.empty(int(tables.step[-1]), dtype=np.int64),
        step_known=np.zeros(int(tables.step_row[-1]), dtype=np.int64),
        fixed=fixed,
        slack=np.zeros(depths),
        length=np.zeros(depths),
        pause=np.zeros(depths),
        price=np.zeros(depths),
        log=np.zeros(depths),
        additive=np.zeros(depths),
        paid=np.zeros(depths),
        head=np.zeros(depths, dtype=np.int64),
        has_state=np.zeros(depths, dtype=np.int64),
        used=np.zeros(nodes),
        load=np.zeros((links, links)),
    )
