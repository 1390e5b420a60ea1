"""Deadline of a planner: starts with the planner, and every long loop checks it."""

from dataclasses import dataclass, field
from math import inf
from time import perf_counter


def _now() -> float:
    """Looked up at every call, so that a test can set the time."""
    return perf_counter()


@dataclass(frozen=True, slots=True)
class Deadline:
    """Counts wall-clock seconds against a limit."""

    limit_seconds: float = inf
    started: float = field(default_factory=_now)

    def seconds(self) -> float:
        """Since the start."""
        return _now() - self.started

    def left(self) -> float:
        """Until the limit; never negative."""
        return max(0.0, self.limit_seconds - self.seconds())

    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self.seconds() >= self.limit_seconds

    @property
    def deadline(self) -> float:
        """The limit as a reading of `perf_counter`."""
        return self.started + self.limit_seconds
