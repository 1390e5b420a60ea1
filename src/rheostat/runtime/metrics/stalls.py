"""Symptoms of a running application: stalled and lagging instances, and nodes that do not answer.

Pure: the states of instances and nodes go in with the time, and symptoms come out, each with the time it began.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rheostat.model.observation import Subject
from rheostat.runtime.plan.instance_spec import InstanceStatus


class SymptomKind(StrEnum):
    """Kinds of symptoms."""

    DOWN = "down"
    """An instance that should run has failed or does not run."""
    STALLED = "stalled"
    """A batch does not end, or rows wait and no batch begins."""
    LAGGING = "lagging"
    """The oldest row that waits is too old."""
    SILENT = "silent"
    """A node does not answer."""


@dataclass(frozen=True, slots=True, order=True)
class Symptom:
    """A state of one subject that should not be."""

    subject: Subject
    kind: SymptomKind
    what: str
    """The state in words, with its figures."""
    since_seconds: float

    def __str__(self) -> str:
        return f"{self.subject}: {self.what}"


@dataclass(frozen=True, slots=True)
class StallPatience:
    """Time that a state may last before it is a symptom."""

    stall_seconds: float = 20.0
    """A batch that was planned and not committed, or a backlog that grows while nothing is committed."""
    lag_seconds: float = 15.0
    """Age of the oldest tuple that waits. A micro-batch or two is no lag."""

    def __post_init__(self) -> None:
        """Rejects times that would make everything a symptom."""
        if self.stall_seconds <= 0 or self.lag_seconds <= 0:
            raise ValueError(f"patience must be > 0 s, got {self}")


@dataclass(frozen=True, slots=True)
class InstanceState:
    """State of an instance at one moment."""

    subject: Subject
    status: InstanceStatus
    backlog: int = 0
    lag_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Standing:
    """Time since which an instance has committed nothing, and the rows that waited then."""

    committed: int
    planned: int
    since_seconds: float
    planned_since_seconds: float
    backlog: int


@dataclass(slots=True)
class StallWatch:
    """Finds stalls: remembers when each instance last committed a batch."""

    patience: StallPatience = field(default_factory=StallPatience)
    _standing: dict[Subject, _Standing] = field(default_factory=dict)

    def look(self, states: Iterable[InstanceState], now_seconds: float) -> list[Symptom]:
        """Remembers these states, and gives the symptoms of the instances; an instance that is gone is forgotten."""
        found: list[Symptom] = []
        standing: dict[Subject, _Standing] = {}
        for state in states:
            before = self._standing.get(state.subject)
            standing[state.subject] = _standing(state, before, now_seconds)
            found += self._of(state, standing[state.subject], now_seconds)
        self._standing = standing
        return sorted(found)

    def _of(self, state: InstanceState, standing: _Standing, now_seconds: float) -> Iterable[Symptom]:
        status, patience = state.status, self.patience
        if status.state != "running":
            # A change stops instances for a while; one that failed needs no patience.
            if status.state == "failed" or now_seconds - standing.since_seconds >= patience.stall_seconds:
                words = status.error or "it does not run"
                yield Symptom(state.subject, SymptomKind.DOWN, f"{status.state}: {words}", standing.since_seconds)
            return
        if status.resting:
            return  # it was told to rest
        if status.planned > status.committed:
            took = now_seconds - standing.planned_since_seconds
            if took >= patience.stall_seconds:
                what = f"stalled: batch {status.planned} was planned {took:.0f} s ago and is not committed"
                yield Symptom(state.subject, SymptomKind.STALLED, what, standing.planned_since_seconds)
        elif now_seconds - standing.since_seconds >= patience.stall_seconds and state.backlog > standing.backlog:
            what = (
                f"stalled: nothing was committed for {now_seconds - standing.since_seconds:.0f} s, "
                f"while the backlog grew from {standing.backlog} to {state.backlog} rows"
            )
            yield Symptom(state.subject, SymptomKind.STALLED, what, standing.since_seconds)
        if state.lag_seconds >= patience.lag_seconds:
            what = f"lag: the oldest of {state.backlog} rows has waited for {state.lag_seconds:.0f} s"
            yield Symptom(state.subject, SymptomKind.LAGGING, what, now_seconds - state.lag_seconds)


def _standing(state: InstanceState, before: _Standing | None, now_seconds: float) -> _Standing:
    planned, committed = state.status.planned, state.status.committed
    if before is None or before.committed != committed:
        return _Standing(committed, planned, now_seconds, now_seconds, state.backlog)
    planned_since = before.planned_since_seconds if before.planned == planned else now_seconds
    if state.status.resting:
        return _Standing(committed, planned, now_seconds, now_seconds, state.backlog)
    # A stall is measured from the least backlog: rows of a backlog that shrinks are being read.
    return _Standing(committed, planned, before.since_seconds, planned_since, min(before.backlog, state.backlog))


def silent_nodes(ages_seconds: Mapping[str, float], now_seconds: float, allowed_seconds: float) -> list[Symptom]:
    """Symptoms of nodes whose last heartbeat is too old."""
    return [
        Symptom(
            Subject.node(name),
            SymptomKind.SILENT,
            f"silent: its last heartbeat came {age:.0f} s ago",
            now_seconds - age,
        )
        for name, age in sorted(ages_seconds.items())
        if age > allowed_seconds
    ]
