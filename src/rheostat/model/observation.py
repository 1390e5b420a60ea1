"""Samples of a running application: what a figure means, and how long it stays valid.

A `Sample` is a measurement: figures of one subject at one moment. A figure that is too old counts as unknown; a policy
that needs it holds, and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite


class Of(StrEnum):
    """Kind of thing that a figure describes."""

    OPERATOR = "operator"
    INSTANCE = "instance"
    """The replicas of one operator on one node."""
    STREAM = "stream"
    NODE = "node"
    LINK = "link"
    APPLICATION = "application"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """Subject of a measurement: an operator, an instance, a stream, a node, a link or the application."""

    of: Of
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Rejects a subject with a wrong number of names."""
        wanted = 2 if self.of in {Of.INSTANCE, Of.STREAM, Of.LINK} else 1
        if len(self.names) != wanted or not all(self.names):
            raise ValueError(f"{self.of} takes {wanted} name(s), got {self.names}")

    @classmethod
    def operator(cls, name: str) -> "Subject":
        """All replicas of an operator together."""
        return cls(Of.OPERATOR, (name,))

    @classmethod
    def instance(cls, operator: str, node: str) -> "Subject":
        """The replicas of an operator on a node."""
        return cls(Of.INSTANCE, (operator, node))

    @classmethod
    def stream(cls, source: str, target: str) -> "Subject":
        """A stream between two operators."""
        return cls(Of.STREAM, (source, target))

    @classmethod
    def node(cls, name: str) -> "Subject":
        """A computing node."""
        return cls(Of.NODE, (name,))

    @classmethod
    def link(cls, source: str, target: str) -> "Subject":
        """The path from one node to another."""
        return cls(Of.LINK, (source, target))

    @classmethod
    def application(cls, name: str) -> "Subject":
        """The application as a whole."""
        return cls(Of.APPLICATION, (name,))

    def __str__(self) -> str:
        return f"{self.of} {' '.join(self.names)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """Definition of a figure: meaning, unit, subjects, and the age up to which it is valid."""

    meaning: str
    unit: str
    of: frozenset[Of]
    max_age_seconds: float = 30.0


_WORK = frozenset({Of.OPERATOR, Of.INSTANCE})
_APPLICATION = frozenset({Of.APPLICATION})
_NODE = frozenset({Of.NODE})

FIGURES: Mapping[str, Figure] = {
    # Rates and load change within a control period.
    "input_rate": Figure("tuples received", "tuples/s", _WORK | {Of.STREAM}),
    "output_rate": Figure("tuples emitted", "tuples/s", _WORK | {Of.STREAM}),
    "true_rate": Figure("tuples one replica could process if it were always busy", "tuples/s", _WORK, 120.0),
    "utilization": Figure("share of the replicas' time that processing takes: b x rate / k", "1", _WORK),
    "own_utilization": Figure("the operator's own part of it, where others run in the same query", "1", _WORK),
    "backlog": Figure("tuples that wait in the input channels", "tuples", _WORK | {Of.STREAM}),
    "lag_seconds": Figure("age of the oldest tuple that waits", "s", _WORK),
    "batch_ms": Figure("duration of a micro-batch", "ms", _WORK),
    "batch_fixed_ms": Figure(
        "part of a micro-batch that does not depend on its rows: a of a + b x rows", "ms", _WORK, 600.0
    ),
    "batch_row_ms": Figure("part of a micro-batch per row: b of a + b x rows", "ms", _WORK, 600.0),
    "user_code_ms": Figure("time inside the operator's own Python code per tuple", "ms", _WORK, 120.0),
    "latency_ms": Figure("R_i: time of a tuple in the operator", "ms", _WORK),
    "replicas": Figure("replicas running", "1", _WORK),
    "cpu_seconds": Figure(
        "processor time used since the start; of an operator, by its own Python code", "s", _WORK | {Of.NODE}
    ),
    # State grows slowly, and is only needed when a move is planned.
    "state_rows": Figure("rows in the state store", "rows", _WORK, 120.0),
    "state_bytes": Figure("size of the state", "bytes", _WORK, 120.0),
    # Nodes.
    "cpu": Figure("share of its processors in use", "1", _NODE),
    "memory_bytes": Figure("resident memory in use, shared pages divided", "bytes", _NODE),
    "memory_limit_bytes": Figure("memory it may use", "bytes", _NODE, 3600.0),
    "slots_used": Figure("resources taken by replicas", "1", _NODE),
    "availability": Figure("share of heartbeats that came in time", "1", _NODE | {Of.LINK}, 300.0),
    "heartbeat_age": Figure("time since the last heartbeat", "s", _NODE),
    # Between nodes.
    "delay_ms": Figure("one-way delay by network coordinates", "ms", frozenset({Of.LINK}), 300.0),
    "round_trip_ms": Figure("measured round trip", "ms", frozenset({Of.LINK}), 300.0),
    "hop_ms": Figure("time from commit to commit through a channel", "ms", frozenset({Of.LINK, Of.STREAM}), 600.0),
    # From source to sink.
    "response_mean_ms": Figure("mean response time from source to sink", "ms", _APPLICATION),
    "response_p50_ms": Figure("median response time", "ms", _APPLICATION),
    "response_p95_ms": Figure("95th percentile of the response time", "ms", _APPLICATION),
    "response_p99_ms": Figure("99th percentile of the response time", "ms", _APPLICATION),
    "downtime_seconds": Figure("time paused by reconfigurations since the start", "s", _APPLICATION, 3600.0),
}

_FIGURES_OF = {of: frozenset(name for name, figure in FIGURES.items() if of in figure.of) for of in Of}


@dataclass(frozen=True, slots=True)
class Sample:
    """Measured figures of one subject at one moment."""

    subject: Subject
    at_seconds: float
    figures: Mapping[str, float]

    def __post_init__(self) -> None:
        """Rejects figures that are unknown, do not belong to the subject, or are no finite numbers."""
        # A control step creates thousands of samples, nearly all valid: the reason is only looked for after a failure.
        if not (self.figures.keys() <= _FIGURES_OF[self.subject.of] and all(map(isfinite, self.figures.values()))):
            self._refuse()
        if not isfinite(self.at_seconds):
            raise ValueError(f"a sample needs its time, got {self.at_seconds}")

    def _refuse(self) -> None:
        for name, value in self.figures.items():
            if name not in _FIGURES_OF[self.subject.of]:
                raise ValueError(f"{name} is not a figure of {self.subject}")
            if not isfinite(value):
                raise ValueError(f"{name} of {self.subject} is {value}: leave out what was not measured")
