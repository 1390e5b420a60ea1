"""The state of a running application as it is shown: its instances, its figures, and its symptoms.

Everything is measured once, by the metrics collector. Managers decide by averages over a control period; a person sees
averages of the same samples over the last ten seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.knowledge.averages import Readings
from rheostat.model.graph.application import Application, Kind
from rheostat.model.observation import Sample, Subject
from rheostat.runtime.metrics.stalls import Symptom
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import PhysicalPlan

WINDOW_SECONDS = 10.0
"""Rates and response times are averages over this time."""
OPERATOR_FIGURES = (
    "input_rate", "output_rate", "utilization", "true_rate", "latency_ms", "user_code_ms", "cpu_seconds", "backlog",
    "lag_seconds", "state_rows", "state_bytes",
)  # fmt: skip
"""Figures that are shown of every operator."""
RESPONSE_FIGURES = {name: f"response_{name}_ms" for name in ("mean", "p50", "p95", "p99")}
"""Figures of the response time, by the name that is shown."""


@dataclass(frozen=True)
class StatusView:
    """One look at a running application."""

    instances: Sequence[Mapping[str, Any]] = ()
    streams: Sequence[Mapping[str, Any]] = ()
    sources: Mapping[str, float | None] = field(default_factory=dict)
    sinks: Mapping[str, float | None] = field(default_factory=dict)
    response_ms: Mapping[str, float] | None = None
    operators: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    symptoms: Sequence[Mapping[str, Any]] = ()
    failures: Sequence[str] = ()


class RunStatus:
    """Remembers the recent samples of an application, and which instances had failed at the last look."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._readings = Readings(WINDOW_SECONDS, {*OPERATOR_FIGURES, *RESPONSE_FIGURES.values()})
        self._failed: set[str] = set()

    def take(self, samples: Sequence[Sample], now_seconds: float) -> None:
        """Adds the newest samples."""
        self._readings.take(samples, now_seconds)

    def look(
        self,
        plan: PhysicalPlan,
        statuses: Mapping[str, InstanceStatus],
        stand_ins: Mapping[str, str],
        symptoms: Sequence[Symptom],
    ) -> StatusView:
        """The view of this moment, and the memory of what has failed by now."""
        instances, failures = [], []
        for instance in plan.instances:
            one = statuses.get(instance.name, InstanceStatus(instance.name, "starting"))
            places = {"node": instance.node, "runs_on": stand_ins.get(instance.name, instance.node)}
            facts = {"operators": list(instance.operators), **places, "replicas": instance.replicas}
            counted = {"planned": one.planned, "committed": one.committed}
            instances.append({"name": one.name, "state": one.state, **facts, **counted, "error": one.error})
            # A failed instance is started again in the same round; it counts if that did not help, or cannot.
            if one.state == "failed" and (one.by_user or one.name in self._failed):
                failures.append(one.error)
        self._failed = {name for name, one in statuses.items() if one.state == "failed"}
        return StatusView(
            instances,
            [self._stream(stream.source, stream.target, plan) for stream in self._application.streams],
            {name: self._flow(name, "output_rate", "input_rate") for name in self._names(Kind.SOURCE)},
            {name: self._flow(name, "output_rate", "input_rate") for name in self._names(Kind.SINK)},
            self._response_ms(),
            {operator.name: self._figures(operator.name) for operator in self._application.operators},
            [_told(symptom, self._readings.now_seconds) for symptom in symptoms],
            failures,
        )

    def _names(self, kind: Kind) -> list[str]:
        return [operator.name for operator in self._application.operators if operator.kind is kind]

    def _flow(self, operator: str, *figures: str) -> float | None:
        """Rate of a source or a sink: the first of these figures that is known."""
        for figure in figures:
            rate = self._readings.value(Subject.operator(operator), figure)
            if rate is not None:
                return round(rate, 1)
        return None

    def _stream(self, source: str, target: str, plan: PhysicalPlan) -> dict[str, Any]:
        """Rate and backlog of a stream. Within a query nothing can wait; what is not known is None."""
        inside = all(instance.head != target for instance in plan.instances)
        subject = Subject.stream(source, target)
        rate = None if inside else self._readings.value(subject, "output_rate")
        backlog = 0.0 if inside else self._readings.value(subject, "backlog")
        return {
            "from": source,
            "to": target,
            "inside": inside,
            "rate_tps": None if rate is None else round(rate, 1),
            "lag_rows": None if backlog is None else round(backlog),
        }

    def _response_ms(self) -> dict[str, float] | None:
        """From source to sink; None if nothing has come out lately."""
        subject = Subject.application(self._application.name)
        known = {name: self._readings.value(subject, figure) for name, figure in RESPONSE_FIGURES.items()}
        found = {name: round(value, 1) for name, value in known.items() if value is not None}
        return found if len(found) == len(known) else None

    def _figures(self, operator: str) -> dict[str, float]:
        """Figures of an operator; a figure that was not measured, or is too old, is left out."""
        known = {name: self._readings.value(Subject.operator(operator), name) for name in OPERATOR_FIGURES}
        return {name: round(value, 4) for name, value in known.items() if value is not None}


def _told(symptom: Symptom, now_seconds: float) -> dict[str, Any]:
    return {
        "subject": str(symptom.subject),
        "kind": symptom.kind.value,
        "what": symptom.what,
        "seconds": round(max(0.0, now_seconds - symptom.since_seconds), 1),
    }
