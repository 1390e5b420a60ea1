"""Explanation of an infeasible problem: a small set of constraints that cannot hold together, in words.

First come the conflicts that need no search: pins, single operators, totals. Then a deletion filter: one family of
constraints is left out at a time, and stays out if the rest is still infeasible. All constraints that remain are needed
for the conflict. If a single bound remains, the best possible value is reported with it.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from rheostat.model.network.links import Link
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Bounds, EdrpObjective, Objective, OdpObjective, Range
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem

_SECONDS = 10.0
"""Time limit of one planner call while a conflict is looked for."""


def conflict_of(problem: Problem, planner: Planner) -> tuple[str, ...]:
    """The conflicting constraints of an infeasible problem; `planner` must not explain in turn."""
    return conflicts_without_search(EncodedProblem(problem)) or _filtered(problem, planner)


def conflicts_without_search(instance: EncodedProblem) -> tuple[str, ...]:
    """Conflicts that need no search: each of them proves that there is no deployment."""
    for look in (_operators_without_place, _saturated_operators, _pins, _totals):
        if found := look(instance):
            return tuple(found)
    return ()


def _operators_without_place(instance: EncodedProblem) -> list[str]:
    found = []
    capacities = instance.problem.infrastructure.capacities
    for i, name in enumerate(instance.names):
        operator = instance.problem.application.by_name[name]
        if not instance.allowed[i].any():
            rooms = [capacities[u] for u, node in enumerate(instance.node_names) if operator.may_run_on(node)]
            room = f"no node it may run on has more than {max(rooms):g}" if rooms else "there is no node it may run on"
            found.append(f"operator {name} needs {operator.resources:g} per replica, {room}")
    return found


def _saturated_operators(instance: EncodedProblem) -> list[str]:
    rates = instance.problem.application.rates.operators
    return [
        f"operator {name} gets {rates[name]:g} tps, too much even for "
        f"{instance.problem.application.by_name[name].max_replicas} replicas"
        for i, name in enumerate(instance.names)
        if not np.isfinite(instance.latencies[i]).any()
    ]


def _least_demand(instance: EncodedProblem, operator: int) -> float:
    """Resources of the smallest allowed number of replicas that is not saturated."""
    return float(np.nonzero(np.isfinite(instance.latencies[operator]))[0][0] * instance.resources[operator])


def _pins(instance: EncodedProblem) -> list[str]:
    """Nodes that cannot hold the operators that may run nowhere else."""
    found = []
    only = instance.allowed.sum(axis=1) == 1
    for u, capacity in enumerate(instance.problem.infrastructure.capacities):
        pinned = list(np.nonzero(only & instance.allowed[:, u])[0])
        need = sum(_least_demand(instance, int(i)) for i in pinned)
        if need > capacity + TOLERANCE:
            names = ", ".join(instance.names[i] for i in pinned)
            found.append(f"pins need {need:g} slots on {instance.node_names[u]}, it has {capacity:g} ({names})")
    return found


def _totals(instance: EncodedProblem) -> list[str]:
    """Groups of operators with the same candidates that need more resources than these have."""
    found = []
    for nodes in np.unique(instance.allowed, axis=0):
        inside = [i for i in range(len(instance.names)) if not (instance.allowed[i] & ~nodes).any()]
        need = sum(_least_demand(instance, i) for i in inside)
        room = float(instance.problem.infrastructure.capacities[nodes].sum())
        if need > room + TOLERANCE:
            names = (
                "all operators" if len(inside) == len(instance.names) else ", ".join(instance.names[i] for i in inside)
            )
            found.append(f"{names} need {need:g} slots, the nodes they may run on have {room:g}")
    return found[:1]


def _filtered(problem: Problem, planner: Planner) -> tuple[str, ...]:
    """The deletion filter; node capacity is never left out, since no deployment can do without it."""
    problem = replace(problem, limits=Limits(_SECONDS), start=None, objective=_plain(problem.objective.bounds))
    relaxations = _relaxations(problem)
    for name in list(relaxations):
        relaxed = relaxations[name](problem)
        if planner.plan(relaxed).status is PlanStatus.INFEASIBLE:
            problem = relaxed
            del relaxations[name]
    if not relaxations:
        return ("the replicas cannot be packed into the nodes",)
    if len(relaxations) == 1:
        name = next(iter(relaxations))
        return (_best_instead(relaxations[name](problem), problem.objective.bounds, name, planner),)
    return tuple(f"{_in_words(problem, name)} conflicts with the rest" for name in relaxations)


def _plain(bounds: Bounds) -> OdpObjective:
    return OdpObjective(response_time=1.0, response_time_range=Range(0.0, 1.0), bounds=bounds)


def _relaxations(problem: Problem) -> dict[str, Callable[[Problem], Problem]]:
    """For each family of constraints in the problem, the function that leaves it out."""
    bounds, found = problem.objective.bounds, dict[str, Callable[[Problem], Problem]]()
    if np.isfinite(problem.infrastructure.network.bandwidth_tps).any():
        found["bandwidth"] = lambda p: replace(p, infrastructure=_without_bandwidth(p.infrastructure))
    for name in ("availability", "downtime_seconds", "cost_per_hour", "response_time_ms"):
        free = 0.0 if name == "availability" else inf
        if getattr(bounds, name) != free:
            found[name] = lambda p, name=name, free=free: replace(  # type: ignore[misc]
                p, objective=_plain(replace(p.objective.bounds, **{name: free}))
            )
    return found


def _without_bandwidth(infrastructure: Infrastructure) -> Infrastructure:
    links = tuple(
        Link(link.source, link.target, replace(link.quality, bandwidth_tps=inf), link.both_ways)
        for link in infrastructure.links
    )
    return replace(infrastructure, links=links, default_link=replace(infrastructure.default_link, bandwidth_tps=inf))


_WORDS = {
    "response_time_ms": ("{:g} ms", "response time"),
    "cost_per_hour": ("{:g} $/h", "cost"),
    "downtime_seconds": ("{:g} s of downtime", "downtime"),
    "availability": ("an availability of {:g}", "availability"),
}


def _in_words(problem: Problem, name: str) -> str:
    if name == "bandwidth":
        return "what the links can carry"
    return "the bound of " + _WORDS[name][0].format(getattr(problem.objective.bounds, name))


def _best_instead(relaxed: Problem, bounds: Bounds, name: str, planner: Planner) -> str:
    """Message for a single family that cannot be kept, with the best possible value."""
    if name == "bandwidth":
        return "the streams cannot be carried by the links"
    wanted = _WORDS[name][0].format(getattr(bounds, name))
    outcome = planner.plan(replace(relaxed, objective=_only(relaxed, name)))
    if outcome.evaluation is None:
        return f"no deployment meets {wanted}"
    best = _WORDS[name][0].format(_rounded(getattr(outcome.evaluation, name)))
    return f"no deployment meets {wanted}: the best {_found(outcome)} {best}"


def _found(outcome: Outcome) -> str:
    return "is" if outcome.status is PlanStatus.OPTIMAL else "found in time is"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _only(problem: Problem, name: str) -> Objective:
    """An objective of one metric alone, scaled so that it is not lost in rounding."""
    bounds, instance = problem.objective.bounds, EncodedProblem(problem)
    if name == "availability":
        return OdpObjective(response_time=0.0, availability=1.0, availability_range=Range(0.5, 1.0), bounds=bounds)
    if name == "cost_per_hour":
        replicas = [op.max_replicas for op in map(problem.application.by_name.__getitem__, instance.names)]
        dearest = float(instance.problem.infrastructure.network.price.max())
        most = float(np.dot(replicas, instance.replica_prices)) + float(instance.rates.sum()) * dearest
        scale = replace(bounds, cost_per_hour=most + 1.0)
        return EdrpObjective(response_time=0.0, cost=1.0, bounds=scale)
    if name == "downtime_seconds":
        scale = replace(bounds, downtime_seconds=1e4)
        return EdrpObjective(response_time=0.0, cost=0.0, downtime=1.0, bounds=scale)
    return _plain(bounds)
