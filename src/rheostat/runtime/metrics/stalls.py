"""What is wrong with a running application? Silence is a symptom too.

Pure: how instances and nodes are doing goes in with the time, and what is wrong comes out, each with since when.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rheostat.model.observation import Subject
from rheostat.runtime.plan.instance_spec import InstanceStatus


@dataclass(frozen=True, slots=True, order=True)
class Symptom:
    """Something that should not be."""

    subject: Subject
    what: str
    """In words, with the figures."""
    since_seconds: float

    def __str__(self) -> str:
        return f"{self.subject}: {self.what}"


@dataclass(frozen=True, slots=True)
class StallPatience:
    """How long something may go on before it is a symptom."""

    stall_seconds: float = 20.0
    """A batch that was planned and not committed, or a backlog that grows while nothing is committed."""
    lag_seconds: float = 15.0
    """Age of the oldest tuple that waits. A micro-batch or two is no lag."""

    def __post_init__(self) -> None:
        """Refuses to call everything a symptom."""
        if self.stall_seconds <= 0 or self.lag_seconds <= 0:
            raise ValueError(f"patience must be > 0 s, got {self}")


@dataclass(frozen=True, slots=True)
class InstanceState:
    """How an instance is doing at a moment."""

    subject: Subject
    status: InstanceStatus
    backlog: int = 0
    lag_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Standing:
    """Since when an instance has committed nothing, and what waited then."""

    committed: int
    planned: int
    since_seconds: float
    planned_since_seconds: float
    backlog: int


@dataclass(slots=True)
class StallWatch:
    """Remembers since when nothing has happened."""

    patience: StallPatience = field(default_factory=StallPatience)
    _standing: dict[Subject, _Standing] = field(default_factory=dict)

    def symptoms(self, doings: Iterable[InstanceState], now_seconds: float) -> list[Symptom]:
        """What is wrong with the instances now; one that is gone is forgotten."""
        found: list[Symptom] = []
        standing: dict[Subject, _Standing] = {}
        for doing in doings:
            before = self._standing.get(doing.subject)
            standing[doing.subject] = _standing(doing, before, now_seconds)
            found += self._of(doing, standing[doing.subject], now_seconds)
        self._standing = standing
        return sorted(found)

    def _of(self, doing: InstanceState, standing: _Standing, now_seconds: float) -> Iterable[Symptom]:
        status, patience = doing.status, self.patience
        if status.state != "running":
            # A change stops instances for a while; one that failed needs no patience.
            if status.state == "failed" or now_seconds - standing.since_seconds >= patience.stall_seconds:
                words = status.error or "it does not run"
                yield Symptom(doing.subject, f"{status.state}: {words}", standing.since_seconds)
            return
        if status.resting:
            return  # it was asked to stand still
        if status.planned > status.committed:
            took = now_seconds - standing.planned_since_seconds
            if took >= patience.stall_seconds:
                what = f"stalled: batch {status.planned} was planned {took:.0f} s ago and is not committed"
                yield Symptom(doing.subject, what, standing.planned_since_seconds)
        elif now_seconds - standing.since_seconds >= patience.stall_seconds and doing.backlog > standing.backlog:
            what = (
                f"stalled: nothing was committed for {now_seconds - standing.since_seconds:.0f} s, "
                f"while the backlog grew from {standing.backlog} to {doing.backlog} rows"
            )
            yield Symptom(doing.subject, what, standing.since_seconds)
        if doing.lag_seconds >= patience.lag_seconds:
            what = f"lag: the oldest of {doing.backlog} rows has waited for {doing.lag_seconds:.0f} s"
            yield Symptom(doing.subject, what, now_seconds - doing.lag_seconds)


def _standing(doing: InstanceState, before: _Standing | None, now_seconds: float) -> _Standing:
    planned, committed = doing.status.planned, doing.status.committed
    if before is None or before.committed != committed:
        return _Standing(committed, planned, now_seconds, now_seconds, doing.backlog)
    planned_since = before.planned_since_seconds if before.planned == planned else now_seconds
    if doing.status.resting:
        return _Standing(committed, planned, now_seconds, now_seconds, doing.backlog)
    # Standing still is measured from the least backlog: a backlog that shrinks belongs to somebody who reads.
    return _Standing(committed, planned, before.since_seconds, planned_since, min(before.backlog, doing.backlog))


def silent_nodes(ages_seconds: Mapping[str, float], now_seconds: float, allowed_seconds: float) -> list[Symptom]:
    """Nodes whose last heartbeat is too old."""
    return [
        Symptom(Subject.node(name), f"silent: its last heartbeat came {age:.0f} s ago", now_seconds - age)
        for name, age in sorted(ages_seconds.items())
        if age > allowed_seconds
    ]
