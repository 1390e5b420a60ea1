"""Policy views: the input of a policy, a part of the system at one moment as a value.

A policy decides on its view alone, so a decision can be repeated from the view. Figures that are no finite numbers are
unknown: they become None when the view is created, and no policy ever meets a NaN.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Self

Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]
"""Data that can be written to a journal and read back unchanged."""


def known(value: float | None) -> float | None:
    """The value if it is a finite number >= 0, as all figures of a view are; else None."""
    return value if value is not None and isfinite(value) and value >= 0 else None


def plain_fields(value: Any) -> dict[str, Plain]:
    """The fields of a flat value, for the journal."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


@dataclass(frozen=True, slots=True)
class OperatorView:
    """View of one operator, for its manager."""

    operator: str
    at_seconds: float
    replicas: int
    """k: number of replicas running."""
    min_replicas: int = 1
    max_replicas: int = 1
    """K_max."""
    utilizations: tuple[float, ...] = ()
    """U_r of every replica; empty if unknown."""
    input_rate_tps: float | None = None
    """λ: tuples that arrive per second."""
    latency_ms: float | None = None
    """R: response time of the operator."""
    true_rate_tps: float | None = None
    """Tuples per second that one replica could process if it were always busy."""
    backlog: float | None = None
    """Number of waiting tuples."""

    def __post_init__(self) -> None:
        """Rejects invalid numbers of replicas, and makes unusable figures unknown."""
        if not 1 <= self.min_replicas <= self.max_replicas or self.replicas < 1:
            raise ValueError(f"need 1 <= min_replicas <= max_replicas and replicas >= 1, got {self}")
        for name in ("input_rate_tps", "latency_ms", "true_rate_tps", "backlog"):
            object.__setattr__(self, name, known(getattr(self, name)))
        if any(known(value) is None for value in self.utilizations):
            object.__setattr__(self, "utilizations", ())

    def within_bounds(self, replicas: int) -> int:
        """The nearest allowed number of replicas."""
        return max(self.min_replicas, min(self.max_replicas, replicas))

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {**plain_fields(self), "utilizations": list(self.utilizations)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The view from plain data."""
        return cls(**{**plain, "utilizations": tuple(plain["utilizations"])})


@dataclass(frozen=True, slots=True)
class ApplicationView:
    """View of a whole application: all operators along the flow, with the selectivities of their streams."""

    at_seconds: float
    operators: tuple[OperatorView, ...]
    """Operators ordered such that every stream points forward."""
    selectivities: tuple[tuple[str, str, float], ...] = ()
    """Streams: from, to, tuples on it per tuple that its producer receives."""
    response_ms: float | None = None
    """Response time from source to sink."""

    def __post_init__(self) -> None:
        """Rejects streams that point backwards, and makes unusable figures unknown."""
        object.__setattr__(self, "response_ms", known(self.response_ms))
        place = {view.operator: position for position, view in enumerate(self.operators)}
        for source, target, factor in self.selectivities:
            if place[source] >= place[target] or known(factor) is None:
                raise ValueError(f"need streams along the flow with a factor >= 0, got {source} -> {target}: {factor}")

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {
            "at_seconds": self.at_seconds,
            "operators": [view.to_plain() for view in self.operators],
            "selectivities": [list(stream) for stream in self.selectivities],
            "response_ms": self.response_ms,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The view from plain data."""
        operators = tuple(OperatorView.from_plain(view) for view in plain["operators"])
        streams = tuple((source, target, factor) for source, target, factor in plain["selectivities"])
        return cls(plain["at_seconds"], operators, streams, plain["response_ms"])


@dataclass(frozen=True, slots=True)
class NodeView:
    """View of a node, for a manager that considers using it."""

    name: str
    delay_ms: float = 0.0
    """Delay from the manager's node."""
    room: int = 0
    """Number of further replicas that it could hold."""
    utilization: float | None = None
    """U_h: share of its processors in use."""
    held: int = 0
    """Number of the operator's replicas that it holds."""

    def __post_init__(self) -> None:
        """Makes unusable figures unknown; an unknown delay counts as very long."""
        object.__setattr__(self, "utilization", known(self.utilization))
        if known(self.delay_ms) is None:
            object.__setattr__(self, "delay_ms", 1e9)

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return plain_fields(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The view from plain data."""
        return cls(**plain)
