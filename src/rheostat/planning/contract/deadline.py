"""Deadline of a planner: starts with the planner, and every long loop checks it."""

from dataclasses import dataclass, field
from math import inf
from time import perf_counter


def _now() -> float:
    """Current time; called through the module so that a test can replace it."""
    return perf_counter()


@dataclass(frozen=True, slots=True)
class Deadline:
    """Wall-clock time limit, counted from its creation."""

    limit_seconds: float = inf
    started: float = field(default_factory=_now)

    def seconds(self) -> float:
        """Seconds since the start."""
        return _now() - self.started

    def left(self) -> float:
        """Seconds until the limit; never negative."""
        return max(0.0, self.limit_seconds - self.seconds())

    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self.seconds() >= self.limit_seconds

    @property
    def deadline(self) -> float:
        """The limit as a reading of `perf_counter`."""
        return self.started + self.limit_seconds
