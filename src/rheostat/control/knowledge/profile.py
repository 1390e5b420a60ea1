"""Profile of an application, learned by running it: latency by load, and costs of changes and hops.

A profile begins empty, grows with every sample, is saved as plain data and used by planners in the place of what the
application declares. What was not measured stays as it was declared.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from pathlib import Path
from statistics import median
from typing import Any, Self

from rheostat.control.knowledge.measured_values import MeasuredValues
from rheostat.model.downtime.measured_pauses import ChangeWay, Pause
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1, LatencyModel, MicroBatch, Polynomial
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.observation import Of, Sample

FEWEST_POINTS = 6
"""A curve is fitted through at least so many measurements."""
MOST_POINTS = 400
"""Per operator; then every second one is forgotten, so that what is left still tells of the whole time."""
RATES_KEPT = 30
HOPS_KEPT, FEWEST_HOPS = 200, 60
"""Batches of about a minute: the first ones are those of a Spark that is not warm."""
TOGETHER_SECONDS = 10.0
"""Longest time between measurements that belong together: batches may be longer than a sampling period."""
NEAR = 0.25
"""A response time that differs from R_max by no more than this share is close to it [EDF 9]."""

Point = tuple[float, float]
"""Tuples per second of one replica, and milliseconds."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A latency model, and how far its points lie from it."""

    model: LatencyModel
    points: int
    error_ms: float
    """Root of the mean square of what it leaves unexplained."""


@dataclass(slots=True)
class OperatorProfile:
    """Profile of one operator."""

    points: list[Point] = field(default_factory=list)
    true_rates_tps: list[float] = field(default_factory=list)
    """Tuples per second one replica could process, as often as that was measured lately."""
    state_bytes: float | None = None
    alone: bool = False
    """Whether it was measured in a query of its own. In a chain it is as slow as the whole chain."""

    @property
    def true_rate_tps(self) -> float | None:
        """The median: one that is fitted to few batches may be twice as high for a moment."""
        return median(self.true_rates_tps) if self.true_rates_tps else None

    @property
    def knows_its_capacity(self) -> bool:
        """Whether that was measured often enough to rely on it."""
        return len(self.true_rates_tps) >= FEWEST_POINTS

    def add(self, point: Point) -> None:
        """One more measurement."""
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            del self.points[::2]

    def measured_rate(self, rate_tps: float) -> None:
        """Adds a measurement of the rate that one replica could process."""
        self.true_rates_tps.append(rate_tps)
        del self.true_rates_tps[:-RATES_KEPT]

    def fit(self, capacity_tps: float | None = None) -> Fit | None:
        """R_i(load) by least squares; None if too little was measured.

        Where the capacity is known, or given, the curve is that of micro-batches, which says when it saturates; else a
        straight line that holds as far as it was measured.
        """
        capacity = self.true_rate_tps if capacity_tps is None else capacity_tps
        usable = [(x, y) for x, y in self.points if capacity is None or x < capacity]
        if len(usable) < FEWEST_POINTS:
            return None
        loads, latencies = [x for x, _ in usable], [y for _, y in usable]
        if capacity is not None:
            model: LatencyModel = MicroBatch.fit(loads, latencies, capacity)
        else:
            model = _rising(loads, latencies)
        left = sum((y - model.latency_ms(x)) ** 2 for x, y in usable)
        return Fit(model, len(usable), sqrt(left / len(usable)))


def _rising(loads: Sequence[float], latencies: Sequence[float]) -> Polynomial:
    """A straight line that does not fall: more load never lowers latency."""
    line = Polynomial.fit(loads, latencies, 1)
    if len(line.coefficients) > 1 and line.coefficients[1] < 0:
        return Polynomial((sum(latencies) / len(latencies),), max(loads))
    return line


@dataclass(slots=True)
class Profile:
    """Profile of an application."""

    operators: dict[str, OperatorProfile] = field(default_factory=dict)
    hops_ms: list[float] = field(default_factory=list)
    """Recent measurements of the cost of a hop between two queries."""
    downtimes: dict[str, list[float]] = field(default_factory=dict)
    """Seconds an application stood still, by kind of reconfiguration."""
    pauses: dict[str, list[Point]] = field(default_factory=dict)
    """The same by the way the change took: megabytes of state, and seconds."""
    responses: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """Response time, and the latency of every operator at that moment."""
    _latest: dict[str, Point] = field(default_factory=dict, repr=False, compare=False)
    """Time and value of the last latency of each operator; of the response time under the empty name."""

    def add(self, samples: Iterable[Sample], deployment: Deployment, fused: Collection[str] = ()) -> None:
        """Takes in what was measured at one moment; `fused` are the operators that share their query with others."""
        latencies: dict[str, float] = {}
        answered = False
        for sample in samples:
            figures = sample.figures
            if sample.subject.of is Of.OPERATOR:
                name = sample.subject.names[0]
                replicas = len(deployment[name]) if name in deployment else 0
                self._add_operator(name, figures, replicas, alone=name not in fused)
                if "latency_ms" in figures:
                    latencies[name] = figures["latency_ms"]
                    self._latest[name] = (sample.at_seconds, figures["latency_ms"])
            elif sample.subject.of is Of.STREAM and "hop_ms" in figures:
                self.hops_ms.append(figures["hop_ms"])
                del self.hops_ms[:-HOPS_KEPT]
            elif sample.subject.of is Of.APPLICATION and "response_mean_ms" in figures:
                self._latest[""] = (sample.at_seconds, figures["response_mean_ms"])
                answered = True
        self._add_response(latencies, answered=answered)

    def _add_response(self, latencies: Mapping[str, float], *, answered: bool) -> None:
        """Puts together what was measured at about the same time; everything new counts once."""
        at, response = self._latest.get("", (-inf, 0.0))
        near = {name for name, (then, _) in self._latest.items() if name and abs(then - at) <= TOGETHER_SECONDS}
        if found := {name: self._latest[name][1] for name in near if answered or name in latencies}:
            self.responses.append((response, found))
            if len(self.responses) > MOST_POINTS:
                del self.responses[::2]

    def _add_operator(self, name: str, figures: Mapping[str, float], replicas: int, *, alone: bool) -> None:
        known = self.operators.setdefault(name, OperatorProfile())
        known.state_bytes = figures.get("state_bytes", known.state_bytes)
        if known.alone and not alone:
            return
        if alone and not known.alone:
            # What was taken for its own was the chain's.
            known = self.operators[name] = OperatorProfile(state_bytes=known.state_bytes, alone=True)
        if "true_rate" in figures:
            known.measured_rate(figures["true_rate"])
        rate, latency = figures.get("input_rate"), figures.get("latency_ms")
        # What waits says nothing about how fast an operator is at a load: it is behind.
        if rate and latency is not None and replicas and not figures.get("lag_seconds", 0.0) * 1000 > latency:
            known.add((rate / replicas, latency))

    def changed(self, change: Reconfiguration, downtime_seconds: float, application: Application) -> None:
        """A change that was done, and how long it took; of one that does several things every kind learns it."""
        for kind in {str(each.kind) for each in change.changes}:
            self.downtimes.setdefault(kind, []).append(downtime_seconds)
        for each in change.changes:
            way = ChangeWay.of(application.by_name[each.operator], each.before, each.after)
            known = self.operators.get(each.operator, OperatorProfile())
            self.pauses.setdefault(way.value, []).append(((known.state_bytes or 0.0) / 1e6, downtime_seconds))

    def bounds_ms(self, response_bound_ms: float) -> dict[str, float]:
        """R_max,op of every operator that was measured: what it took when the response time was close to R_max [EDF 9].

        If it never was, what it took when it was closest, in proportion. Each operator by the moments it was measured
        at: where batches are longer than the time between two looks, few moments tell of all of them.
        """
        names = {name for _, latencies in self.responses for name in latencies}
        return {name: self._bound_ms(name, response_bound_ms) for name in sorted(names)}

    def _bound_ms(self, name: str, response_bound_ms: float) -> float:
        mine = [(response, latencies[name]) for response, latencies in self.responses if name in latencies]
        near = [one for one in mine if abs(one[0] - response_bound_ms) <= NEAR * response_bound_ms]
        chosen = near or [min(mine, key=lambda one: abs(one[0] - response_bound_ms))]
        scaled = [latency * response_bound_ms / response if response > 0 else latency for response, latency in chosen]
        return sum(scaled) / len(scaled)

    @property
    def hop_ms(self) -> float | None:
        """The median: while Spark warms up a hop takes ten times as long."""
        return median(self.hops_ms) if self.hops_ms else None

    def knowledge(self, application: Application) -> MeasuredValues:
        """Values that planners may rely on by now.

        A latency only where it is known when the operator saturates, by measuring or by declaration: a line through
        the loads of a calm hour would say that nothing more can be done.
        """
        latencies, state = {}, {}
        for operator in application.operators:
            known = self.operators.get(operator.name)
            if known is None:
                continue
            declared = operator.latency.service_rate_tps if isinstance(operator.latency, MM1) else None
            capacity = known.true_rate_tps if known.knows_its_capacity else declared
            fit = None if capacity is None else known.fit(capacity)
            # Replicas help where the whole chain is slow; who can have none would seem not to keep up by itself.
            if fit is not None and (known.alone or operator.max_replicas > 1):
                latencies[operator.name] = fit.model
            if known.state_bytes:
                state[operator.name] = round(known.state_bytes)
        pauses = {ChangeWay(way): Pause.fit(*zip(*points, strict=True)) for way, points in self.pauses.items()}
        return MeasuredValues(latencies, state, pauses, self.hop_ms if len(self.hops_ms) >= FEWEST_HOPS else None)

    def applied_to(self, application: Application) -> Application:
        """The application with measured latencies and state sizes where there are any."""
        return self.knowledge(application).applied_to(application)

    def to_plain(self) -> dict[str, Any]:
        """The profile as plain data that a person can read."""
        operators = {}
        for name, known in sorted(self.operators.items()):
            fit = known.fit()
            told = None if fit is None else {"model": str(fit.model), "error_ms": fit.error_ms, "points": fit.points}
            operators[name] = {
                "true_rate_tps": known.true_rate_tps,
                "true_rates_tps": list(known.true_rates_tps),
                "state_bytes": known.state_bytes,
                "alone": known.alone,
                "fit": told,
                "points": [list(point) for point in known.points],
            }
        return {
            "operators": operators,
            "hop_ms": self.hop_ms,
            "hops_ms": list(self.hops_ms),
            "downtimes": self.downtimes,
            "pauses": {way: [list(point) for point in points] for way, points in self.pauses.items()},
            "responses": [list(one) for one in self.responses],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The profile that was written."""
        operators = {
            name: OperatorProfile(
                [(float(x), float(y)) for x, y in known["points"]],
                known["true_rates_tps"],
                known["state_bytes"],
                known["alone"],
            )
            for name, known in plain["operators"].items()
        }
        responses = [(float(response), dict(latencies)) for response, latencies in plain["responses"]]
        downtimes = {kind: list(seconds) for kind, seconds in plain["downtimes"].items()}
        pauses = {way: [(float(x), float(y)) for x, y in points] for way, points in plain["pauses"].items()}
        return cls(operators, list(plain["hops_ms"]), downtimes, pauses, responses)

    def save(self, path: Path) -> None:
        """Writes the file atomically."""
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.to_plain(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The saved profile; an empty one if nothing was saved."""
        return cls.from_plain(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()
