"""Simulated operators as servers: their latency model, with variability and bursts added.

| latency model | capacity of a replica | time in the replica |
|---|---|---|
| `MM1` | its service rate | M/G/1 with the operator's variability; 1 is M/M/1 |
| `Polynomial`, `Tabulated` | the largest load it was measured at | the curve, taken for exponential |
| `Constant` | no limit | the constant: a delay, not a queue |

On a node that is S times as fast everything takes 1/S of the time, so a replica there sees its load as 1/S of what it
is. EDRP (1) divides only the latency; with S = 1 both are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from rheostat.model.graph.application import Operator
from rheostat.model.graph.latency import MM1, Constant, LatencyModel, MicroBatch, Polynomial, Tabulated
from rheostat.simulation.queues.queue_formulas import Values, burst_seconds, sojourn


@dataclass(frozen=True, slots=True)
class Burst:
    """Part of the load that comes at once, periodically: for example rankings refreshed at every tick."""

    period_seconds: float = 1.0
    share: float = 1.0
    """Share of the load that comes in bursts."""

    def __post_init__(self) -> None:
        """Rejects invalid bursts."""
        if not (isfinite(self.period_seconds) and self.period_seconds > 0 and 0 < self.share <= 1):
            raise ValueError(f"a burst needs a period > 0 and a share from above 0 to 1, got {self}")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Behaviour of an operator beyond its latency model."""

    variability: float = 1.0
    """C²: variance of the service time by the square of its mean; 0 for constant times, 1 for exponential ones."""
    burst: Burst | None = None

    def __post_init__(self) -> None:
        """Rejects an invalid variability."""
        if not (isfinite(self.variability) and self.variability >= 0):
            raise ValueError(f"a variability must be finite and >= 0, got {self.variability}")


def capacity_tps(model: LatencyModel) -> float:
    """Tuples per second that a replica on the reference processor can serve; infinite without a limit."""
    match model:
        case MM1(rate) | MicroBatch(rate, _):
            return rate
        case Tabulated(loads, _):
            return loads[-1] or inf
        case Polynomial(_, saturation):
            return saturation
        case Constant():
            return inf
    return _largest_finite_load(model)


@dataclass(frozen=True)
class Servers:
    """All operators of an application, as columns for the computation of an interval."""

    operators: Sequence[Operator]
    behaviours: Mapping[str, Behaviour]
    busiest: float = 0.97
    """Utilisation up to which the stationary formulas are used. Beyond it a queue does not become stationary within a
    control period; the tuples that pile up then are counted as backlog."""

    def __post_init__(self) -> None:
        """Rejects behaviours of unknown operators."""
        if not 0 < self.busiest < 1:
            raise ValueError(f"need 0 < busiest < 1, got {self.busiest}")
        if unknown := sorted(set(self.behaviours) - {operator.name for operator in self.operators}):
            raise ValueError(f"behaviours of unknown operators: {', '.join(unknown)}")

    def capacities(self) -> Values:
        """Capacity of one replica on the reference processor, for every operator."""
        return np.array([capacity_tps(operator.latency) for operator in self.operators])

    def times(self, of: "ReplicaRows", load: Values) -> tuple[Values, Values]:
        """Mean and variance of a tuple's time, for every row and step, in seconds; `load` is that of one replica."""
        seen = load / of.speed
        mean, variance = np.zeros_like(load), np.zeros_like(load)
        if len(of.queues):
            below = np.minimum(seen[of.queues], self.busiest * of.service_rate)
            mean[of.queues], variance[of.queues] = sojourn(below, of.service_rate, of.variability)
        for row in of.curves:
            model = self.operators[of.operator[row]].latency
            mean[row] = _curve_seconds(model, seen[row], self.busiest)
            variance[row] = 0.0 if isinstance(model, Constant) else mean[row] ** 2
        if len(of.bursts):
            capacity = of.capacity[of.bursts]
            below = np.minimum(seen[of.bursts], capacity)
            longest = burst_seconds(below, capacity, of.burst_period, of.burst_share)
            mean[of.bursts] += longest / 2
            variance[of.bursts] += longest**2 / 12
        return mean / of.speed, variance / of.speed**2


class ReplicaRows:
    """Replica rows of one deployment, grouped by method of computation. All columns have shape (rows, 1)."""

    def __init__(self, servers: Servers, operator: Sequence[int], speed: Sequence[float]) -> None:
        self.operator = list(operator)
        self.speed = np.array(speed, dtype=float)[:, None]
        self.capacity = servers.capacities()[self.operator][:, None]
        models = [servers.operators[i].latency for i in self.operator]
        behaviours = [servers.behaviours.get(servers.operators[i].name, Behaviour()) for i in self.operator]
        self.queues = np.array([row for row, model in enumerate(models) if isinstance(model, MM1)], dtype=np.intp)
        self.curves = [row for row, model in enumerate(models) if not isinstance(model, MM1)]
        self.service_rate = self.capacity[self.queues]
        self.variability = np.array([behaviours[row].variability for row in self.queues.tolist()])[:, None]
        bursts = [(row, behaviour.burst) for row, behaviour in enumerate(behaviours) if behaviour.burst is not None]
        # Without a capacity limit a burst takes no time.
        limited = [(row, burst) for row, burst in bursts if isfinite(self.capacity[row, 0])]
        self.bursts = np.array([row for row, _ in limited], dtype=np.intp)
        self.burst_period = np.array([burst.period_seconds for _, burst in limited])[:, None]
        self.burst_share = np.array([burst.share for _, burst in limited])[:, None]


def _curve_seconds(model: LatencyModel, load: Values, busiest: float) -> Values:
    """The curve at these loads; its last value for loads beyond its end."""
    below = np.minimum(load, capacity_tps(model))
    match model:
        case Constant(milliseconds):
            return np.full_like(load, milliseconds / 1000)
        case Tabulated(loads, latencies):
            return np.asarray(np.interp(below, loads, latencies) / 1000)
        case Polynomial(coefficients, _):
            return np.asarray(np.maximum(np.polynomial.polynomial.polyval(below, coefficients), 0.0) / 1000)
        case MicroBatch(capacity, fixed_ms):
            return np.asarray(1.5 * fixed_ms / (1 - np.minimum(load / capacity, busiest)) / 1000)
    # An unknown curve may rise without limit, like that of a queue.
    return np.array([model.latency_ms(busiest * value) / 1000 for value in below.tolist()])


def _largest_finite_load(model: LatencyModel) -> float:
    """Largest load with a finite latency in an unknown model, found by doubling and bisection."""
    low, high = 0.0, 1.0
    while isfinite(model.latency_ms(high)) and high < 1e12:
        low, high = high, 2 * high
    if high >= 1e12:
        return inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if isfinite(model.latency_ms(middle)) else (low, middle)
    return low
