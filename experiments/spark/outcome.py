"""What came of a run on Spark: what was recorded and journaled, and what its output lacks or has too much of."""

from dataclasses import dataclass, field

from rheostat.control.ports import Entry
from rheostat.control.profile import Profile
from rheostat.control.story import Story
from rheostat.simulation.recording import Recording


@dataclass(frozen=True, slots=True)
class Move:
    """A change that was done: when, of which operator, and in which direction."""

    at_seconds: float
    operator: str
    by: int
    """Replicas more, or fewer; 0 for a migration."""


@dataclass(frozen=True)
class Controlled:
    """What came of a run."""

    name: str
    recording: Recording
    told: list[Story] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0
    entries: list[Entry] = field(default_factory=list)
    """Everything in the journal."""
    profile: Profile = field(default_factory=Profile)
    """What was learned."""

    @property
    def is_exact(self) -> bool:
        """Nothing missing, nothing too much."""
        return self.lost == self.duplicated == 0

    @property
    def moves(self) -> list[Move]:
        """Everything that was changed, counted from the start of the recording."""
        found = []
        for note in self.recording.notes:
            if note.kind == "done":
                found += [Move(note.at_seconds, *part) for part in _directions(note.what)]
        return found

    def flaps(self, within_seconds: float) -> int:
        """How often an operator changed its direction twice within a time."""
        count = 0
        for operator in {move.operator for move in self.moves}:
            scaled = [move for move in self.moves if move.operator == operator and move.by]
            for first, second, third in zip(scaled, scaled[1:], scaled[2:], strict=False):
                turned = first.by * second.by < 0 and second.by * third.by < 0
                count += turned and third.at_seconds - first.at_seconds < within_seconds
        return count

    def replicas(self, operator: str, from_seconds: float, to_seconds: float) -> list[float]:
        """How many there were at every moment of a time."""
        moments = zip(self.recording.seconds, self.recording.replicas[operator], strict=True)
        return [count or 0.0 for at, count in moments if from_seconds <= at < to_seconds]

    def back_under_ms(self, objective_ms: float, from_seconds: float, to_seconds: float) -> float | None:
        """Seconds until the response time is under the objective for the rest of a time; None if it never is."""
        column = self.recording.column("response_mean_ms")
        inside = [
            (at, ms) for at, ms in zip(self.recording.seconds, column, strict=True) if from_seconds <= at < to_seconds
        ]
        late = [at for at, ms in inside if ms is not None and ms > objective_ms]
        if not late:
            return 0.0
        after = [at for at, _ in inside if at > late[-1]]
        return after[0] - from_seconds if after else None


def _directions(what: str) -> list[tuple[str, int]]:
    """From the words of a change: `scale-out split: {n2:1} -> {n2:2}; ...`."""
    found = []
    for part in what.split("; "):
        kind, _, rest = part.partition(" ")
        sign = {"scale-out": 1, "scale-in": -1}.get(kind, 0)
        found.append((rest.partition(":")[0], sign))
    return found
