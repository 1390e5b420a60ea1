"""Downtime from measurements: a fixed part and a part proportional to the state, per kind of change.

The papers' formulas describe a network and a store; a real engine differs. The runtime measures its pauses and fits
these figures, so that a planner decides with the real cost of a change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Self

import numpy as np

from rheostat.model.downtime.downtime_model import CurrentDeployment
from rheostat.model.graph.application import Operator
from rheostat.model.graph.deployment import Replicas


class ChangeWay(StrEnum):
    """Ways to change a deployment; the runtime takes the cheapest that fits."""

    STATELESS = "stateless"
    """Replicas start and stop, no state moves."""
    RESCALE = "rescale"
    """Another number of replicas on the same single node."""
    RELOCATE = "relocate"
    """All state moves from one node to another."""
    REDISTRIBUTE = "redistribute"
    """Key groups change owners between nodes."""

    @classmethod
    def of(cls, operator: Operator, before: Replicas, after: Replicas) -> "ChangeWay":
        """The way that leads from one multiset to another."""
        if not operator.is_stateful:
            return cls.STATELESS
        if list(before) == list(after) and len(list(before)) == 1:
            return cls.RESCALE
        if len(list(before)) == len(list(after)) == 1:
            return cls.RELOCATE
        return cls.REDISTRIBUTE


@dataclass(frozen=True, slots=True)
class Pause:
    """Linear model of a pause: seconds = fixed + per_mb x state in megabytes."""

    fixed_seconds: float = 0.0
    seconds_per_mb: float = 0.0

    def __post_init__(self) -> None:
        """Rejects an invalid duration."""
        if not all(isfinite(x) and x >= 0 for x in (self.fixed_seconds, self.seconds_per_mb)):
            raise ValueError(f"a pause needs finite numbers >= 0, got {self}")

    @classmethod
    def fit(cls, state_mb: Sequence[float], seconds: Sequence[float]) -> Self:
        """Least-squares fit of measured pauses, never below zero; one point gives the fixed part."""
        if not seconds or len(state_mb) != len(seconds):
            raise ValueError(f"need as many sizes as pauses, and at least one, got {len(state_mb)} and {len(seconds)}")
        slope = 0.0
        if len(set(state_mb)) > 1:
            slope = max(0.0, float(np.polyfit(state_mb, seconds, 1)[0]))
        return cls(max(0.0, float(np.mean(seconds)) - slope * float(np.mean(state_mb))), slope)


@dataclass(frozen=True, slots=True)
class Measured:
    """Downtime model made of measured pauses."""

    pauses: Mapping[ChangeWay, Pause] = field(default_factory=dict)
    """Measured pause of each way."""
    unknown: Pause = Pause(1.0, 0.0)
    """Pause of ways without a measurement."""

    def changed_seconds(self, situation: CurrentDeployment, operator: Operator, wanted: Replicas) -> float:
        """The pause of the way that this change takes."""
        way = ChangeWay.of(operator, situation.current[operator.name], wanted)
        pause = self.pauses.get(way, self.unknown)
        return pause.fixed_seconds + pause.seconds_per_mb * operator.state_bytes / 1e6

    def unchanged_seconds(self, situation: CurrentDeployment, operator: Operator) -> float:  # noqa: ARG002 - it keeps running
        """0: the operator is not paused."""
        return 0.0
