"""Outcome of a run on Spark: its recording and journal, and missing or duplicate rows of its output."""

from dataclasses import dataclass, field
from itertools import pairwise

from rheostat.control.history.decision_story import Story
from rheostat.control.knowledge.profile import Profile
from rheostat.control.loop.ports import Entry
from rheostat.report.recording import Recording


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

    def flaps(self, from_seconds: float = 0.0) -> int:
        """How often an operator took a change of direction back, from some time on.

        Under a load that rises and falls once, no operator has a reason to scale out, in and out again, even later.
        """
        scaled = [move for move in self.moves if move.by and move.at_seconds >= from_seconds]
        count = 0
        for operator in {move.operator for move in scaled}:
            by = [move.by for move in scaled if move.operator == operator]
            turns = sum(before * after < 0 for before, after in pairwise(by))
            count += max(0, turns - 1)
        return count

    def replicas(self, operator: str, from_seconds: float, to_seconds: float) -> list[float]:
        """How many there were at every moment of a time."""
        moments = zip(self.recording.seconds, self.recording.replicas[operator], strict=True)
        return [count or 0.0 for at, count in moments if from_seconds <= at < to_seconds]

    def back_under_ms(self, objective_ms: float, from_seconds: float, to_seconds: float) -> float | None:
        """Seconds until the response time is under the objective for the rest of a time; None if it never is.

        Nor is it if nothing came out any more: only a response time that was measured is under anything.
        """
        column = zip(self.recording.seconds, self.recording.column("response_mean_ms"), strict=True)
        known = [(at, ms) for at, ms in column if ms is not None and from_seconds <= at < to_seconds]
        late = [at for at, ms in known if ms > objective_ms]
        if known and not late:
            return 0.0
        after = [at for at, _ in known if at > late[-1]] if late else []
        return after[0] - from_seconds if after else None


def _directions(what: str) -> list[tuple[str, int]]:
    """From the words of a change: `scale-out split: {n2:1} -> {n2:2}; ...`."""
    found = []
    for part in what.split("; "):
        kind, _, rest = part.partition(" ")
        sign = {"scale-out": 1, "scale-in": -1}.get(kind, 0)
        found.append((rest.partition(":")[0], sign))
    return found
