"""Normalisers of ODP: best and worst value of each metric, computed if the user gives none.

ODP's utility needs a range per weighed metric, the best and the worst value over feasible deployments. They are
computed once per problem and then fixed, since a comparison of two problems means something only under one utility.

Both ends are taken from the problem without its capacities and bounds: every operator by itself and every stream by
itself takes its best (worst) place, and response times are propagated along the flow. The range so found contains the
range over feasible deployments, so no utility leaves [0, 1]; it costs no search, and it does not depend on what a
search happened to prove in its time. A bound of the user that is tighter than the worst value takes its place.
"""

from dataclasses import replace
from math import exp, isfinite, log

import numpy as np

from rheostat.model.quality.objective import OdpObjective, Range
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import EncodedProblem, Values, distance_weights


def normalised(problem: Problem) -> Problem:
    """The same problem with every weighed metric's range known: R_min, R_max, A_min, A_max, Z_min, Z_max of ODP 4.2.

    Differs: ODP does not say how it finds them. The best and the worst over feasible deployments would each need a
    search of its own; these ranges contain them, so that a utility here is a little nearer to 1 than by those.
    """
    objective = problem.objective
    if not isinstance(objective, OdpObjective):
        return problem
    found: dict[str, Range] = {}
    instance = EncodedProblem(problem)
    if objective.response_time > 0 and objective.response_time_range is None:
        found["response_time_range"] = _response_time_range(instance, objective.bounds.response_time_ms)
    if objective.availability > 0 and objective.availability_range is None:
        found["availability_range"] = _availability_range(instance, objective.bounds.availability)
    if objective.network > 0 and objective.network_range is None:
        found["network_range"] = _network_range(instance, objective)
    return replace(problem, objective=replace(objective, **found)) if found else problem  # type: ignore[arg-type]


def _places(instance: EncodedProblem) -> list[list[int]]:
    """Nodes of every operator; all nodes if it has none, since the problem is infeasible then anyway."""
    every = range(len(instance.node_names))
    return [[int(u) for u in np.nonzero(row)[0]] or list(every) for row in instance.allowed]


def _response_time_range(instance: EncodedProblem, bound_ms: float) -> Range:
    """Least and greatest completion time, propagated along the flow."""
    places, delay = _places(instance), instance.problem.infrastructure.network.delay_ms
    least: list[Values] = []
    greatest: list[Values] = []
    for i, nodes in enumerate(places):
        latencies = instance.latencies[i][np.isfinite(instance.latencies[i])]
        if not len(latencies):
            latencies = np.zeros(1)
        speed = instance.problem.infrastructure.speedups[nodes]
        low, high = np.zeros(len(nodes)), np.zeros(len(nodes))
        for source in (s for s, t in instance.edges.tolist() if t == i):
            between = delay[np.ix_(places[source], nodes)]
            low = np.maximum(low, (least[source][:, None] + between).min(axis=0))
            high = np.maximum(high, (greatest[source][:, None] + between).max(axis=0) + instance.problem.hop_ms)
        least.append(low + latencies.min() / speed)
        greatest.append(high + latencies.max() / speed)
    best = max(float(low.min()) for low in least)
    worst = max(float(high.max()) for high in greatest)
    return Range(best, max(best, min(worst, bound_ms)))


def _availability_range(instance: EncodedProblem, bound: float) -> Range:
    """Products of the best and the worst of every replica and every pair of replicas."""
    places, logs = _places(instance), instance.problem.infrastructure.log_availabilities
    operators = [instance.problem.application.by_name[name] for name in instance.names]
    best = sum(op.min_replicas * float(logs[nodes].max()) for op, nodes in zip(operators, places, strict=True))
    worst = sum(op.max_replicas * float(logs[nodes].min()) for op, nodes in zip(operators, places, strict=True))
    for i, j in instance.edges.tolist():
        links = instance.log_links[np.ix_(places[i], places[j])]
        best += operators[i].min_replicas * operators[j].min_replicas * float(links.max())
        worst += operators[i].max_replicas * operators[j].max_replicas * float(links.min())
    # For an availability far below any real one exp would be 0, which has no logarithm.
    worst = max(worst, -600.0, log(bound) if bound > 0 else -600.0)
    return Range(exp(min(worst, best)), exp(best)) if isfinite(best) else Range(1.0, 1.0)


def _network_range(instance: EncodedProblem, objective: OdpObjective) -> Range:
    """Sums of the best and the worst pair of nodes of every stream."""
    places = _places(instance)
    weights = distance_weights(instance.problem.infrastructure.network.delay_ms, objective.network_metric)
    least = greatest = 0.0
    for rate, (i, j) in zip(instance.rates, instance.edges.tolist(), strict=True):
        between = weights[np.ix_(places[i], places[j])]
        least += float(rate * between.min())
        greatest += float(rate * between.max())
    return Range(least, greatest)
