"""The verdict on a deployment: metrics, objective, and all violations."""

from dataclasses import dataclass
from typing import Self

from rheostat.cli.views.colours import number
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.graph.deployment import Deployment
from rheostat.model.quality import qos
from rheostat.model.quality.evaluation import Evaluation, evaluate
from rheostat.model.quality.objective import EdrpObjective, Objective, OdpObjective
from rheostat.model.quality.placed import Placed


@dataclass(frozen=True, slots=True)
class Weighed:
    """The value of an objective for a deployment, and the bounds it breaks."""

    measure: str
    """`cost`, the smaller the better, or `utility`, the greater the better."""
    value: float | None
    """None where a normaliser is not known."""
    unknown: str = ""
    """Why there is no value."""
    broken: tuple[str, ...] = ()
    """Bounds that are not kept, in words."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A deployment with everything that was asked about it."""

    placed: Placed
    evaluation: Evaluation
    current: Deployment | None
    weighed: Weighed | None

    @classmethod
    def of(cls, placed: Placed, current: Deployment | None, model: DowntimeModel, objective: Objective | None) -> Self:
        """Evaluates a deployment and weighs it by the objective."""
        evaluation = evaluate(placed, current, model)
        return cls(placed, evaluation, current, None if objective is None else weigh(objective, evaluation))

    @property
    def steps(self) -> list[tuple[str, float, float]]:
        """Along the critical path: operator, its latency, and the delay to the next (0 at the end), in milliseconds."""
        path, latencies = self.evaluation.critical_path, self.evaluation.operator_latency_ms
        streams = self.placed.application.streams
        delays = {s.ends: float(d) for s, d in zip(streams, qos.stream_delays_ms(self.placed), strict=True)}
        onward = [*path[1:], ""]
        return [
            (name, latencies[name], delays.get((name, after), 0.0)) for name, after in zip(path, onward, strict=True)
        ]


def weigh(objective: Objective, evaluation: Evaluation) -> Weighed:
    """The value of the objective, and the bounds that are broken."""
    if isinstance(objective, EdrpObjective):
        metrics = evaluation.metrics()
        return Weighed("cost", objective.cost_of(metrics), broken=objective.bounds.broken_by(metrics))
    metrics = evaluation.metrics(objective.network_metric)
    broken = objective.bounds.broken_by(metrics)
    missing = unknown_normalisers(objective)
    if missing:
        why = f"no normaliser for {', '.join(missing)}: write normalisers: {{{missing[0]}: [least, greatest]}}"
        return Weighed("utility", None, why, broken)
    return Weighed("utility", objective.utility_of(metrics), broken=broken)


def unknown_normalisers(objective: OdpObjective) -> list[str]:
    """Metrics that are weighed but have no range to be normalised by, as the document calls them."""
    weighed = (
        ("response_time_ms", objective.response_time, objective.response_time_range),
        ("availability", objective.availability, objective.availability_range),
        ("network", objective.network, objective.network_range),
    )
    return [name for name, weight, known in weighed if weight > 0 and known is None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict: good, or every reason against it."""

    reasons: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether there is no reason against it."""
        return not self.reasons

    @classmethod
    def of(cls, evaluated: Evaluated) -> Self:
        """Operators, nodes and links that are overloaded, and bounds that are broken."""
        found, result = [], evaluated.evaluation
        for name in result.saturated:
            found.append(f"operator {name} is saturated: its replicas cannot keep up with their load")
        for node, (use, capacity) in result.overloaded_nodes.items():
            found.append(f"node {node} is overloaded: {number(use)} of {number(capacity)} resources")
        for (u, v), (load, limit) in result.overloaded_links.items():
            found.append(f"link {u} -> {v} is overloaded: {number(load)} of {number(limit)} tuples/s")
        if evaluated.weighed is not None:
            found += [f"bound broken: {broken}" for broken in evaluated.weighed.broken]
        return cls(tuple(found))
