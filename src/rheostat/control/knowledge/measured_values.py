"""Measured values of an application for a planner, taken from a profile at one moment.

It goes into the journal with the plan, so that the plan can be made again from what was known then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Any, Self

from rheostat.control.loop.ports import Json
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.graph.application import Application
from rheostat.model.graph.latency import MM1, Constant, LatencyModel, MicroBatch, Polynomial, Tabulated

_MODELS: Mapping[str, type[Any]] = {model.kind: model for model in (Constant, MM1, MicroBatch, Polynomial, Tabulated)}


@dataclass(frozen=True)
class MeasuredValues:
    """Values measured often enough; a planner uses declared values for the rest."""

    latencies: Mapping[str, LatencyModel] = field(default_factory=dict)
    """R_i by operator."""
    state_bytes: Mapping[str, int] = field(default_factory=dict)
    pauses: Mapping[ChangeWay, Pause] = field(default_factory=dict)
    """Measured costs of changes."""
    hop_ms: float | None = None

    def applied_to(self, application: Application) -> Application:
        """The application with measured latencies and state sizes."""
        operators = (
            replace(
                operator,
                latency=self.latencies.get(operator.name, operator.latency),
                state_bytes=self.state_bytes.get(operator.name, operator.state_bytes),
            )
            for operator in application.operators
        )
        return replace(application, operators=tuple(operators))

    def downtime(self, declared: DowntimeModel) -> DowntimeModel:
        """Downtime by measured pauses, if there are any; a kind of change never made counts as the worst known."""
        if not self.pauses:
            return declared
        worst = max(self.pauses.values(), key=lambda pause: (pause.fixed_seconds, pause.seconds_per_mb))
        return Measured(dict(self.pauses), worst)

    def to_plain(self) -> dict[str, Json]:
        """Facts for the journal."""
        return {
            "latencies": {name: _written(model) for name, model in self.latencies.items()},
            "state_bytes": dict(self.state_bytes),
            "pauses": {way.value: [pause.fixed_seconds, pause.seconds_per_mb] for way, pause in self.pauses.items()},
            "hop_ms": self.hop_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The value that was journaled."""
        return cls(
            {name: _read(model) for name, model in plain["latencies"].items()},
            plain["state_bytes"],
            {ChangeWay(way): Pause(*pause) for way, pause in plain["pauses"].items()},
            plain["hop_ms"],
        )


def _written(model: LatencyModel) -> dict[str, Json]:
    """Kind and fields; an infinite one is left out, it is a default."""
    said: dict[str, Json] = {"model": model.kind}
    for one in fields(model):  # type: ignore[arg-type] # every model is a dataclass
        value = getattr(model, one.name)
        if isinstance(value, tuple):
            said[one.name] = list(value)
        elif isfinite(value):
            said[one.name] = value
    return said


def _read(plain: Mapping[str, Any]) -> LatencyModel:
    rest = {name: value for name, value in plain.items() if name != "model"}
    said = {name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()}
    model: LatencyModel = _MODELS[plain["model"]](**said)
    return model
