"""Latency curve R(load) of an operator, as measured on one replica under one load after the other.

Policies that plan ahead are given such a curve, as `rheostat calibrate` fits it to a real operator.
"""

from collections.abc import Mapping

import numpy as np

from rheostat.model.graph.application import Application, Operator
from rheostat.model.graph.latency import Constant, Tabulated
from rheostat.simulation.queues.servers import Behaviour, ReplicaRows, Servers, capacity_tps

POINTS = 60
"""Number of loads, evenly spaced up to saturation."""
TYPICAL = 0.7
"""EDF 9: operators are profiled where none is more than 70 % busy."""


def latency_curve(operator: Operator, behaviour: Behaviour | None = None) -> Tabulated | Constant:
    """Mean time of a tuple in one replica on the reference processor, over its load."""
    capacity = capacity_tps(operator.latency)
    if not np.isfinite(capacity):
        return Constant(operator.latency.latency_ms(0.0))
    servers = Servers((operator,), {operator.name: behaviour} if behaviour else {})
    loads = np.linspace(0.0, servers.busiest * capacity, POINTS)
    mean, _ = servers.times(ReplicaRows(servers, [0], [1.0]), loads[None, :])
    # Rounding must not make a flat curve decrease.
    measured = np.maximum.accumulate(1000 * mean[0])
    return Tabulated(tuple(loads.tolist()), tuple(measured.tolist()))


def shared_bounds(
    application: Application, behaviours: Mapping[str, Behaviour], objective_ms: float
) -> dict[str, float]:
    """R_max,op for every operator: its share of R_max at a utilization of 70 %, along the longest path.

    EDF 9 measures the share of time spent in each operator when the response time is close to R_max, and uses that.
    """
    typical = {}
    for operator in application.operators:
        curve = latency_curve(operator, behaviours.get(operator.name))
        capacity = capacity_tps(operator.latency)
        typical[operator.name] = curve.latency_ms(TYPICAL * capacity if np.isfinite(capacity) else 0.0)
    until: dict[str, float] = {}
    for name in application.flow:
        before = max((until[stream.source] for stream in application.inputs[name]), default=0.0)
        until[name] = before + typical[name]
    longest = max(until.values())
    shares = {name: own / longest if longest > 0 else 1.0 for name, own in typical.items()}
    # Even an operator that takes no time needs a bound.
    return {name: objective_ms * max(share, 1e-3) for name, share in shares.items()}
