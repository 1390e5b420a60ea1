"""Vivaldi network coordinates: estimated delays between nodes without measuring every pair.

Every node keeps a point in a small space and a height above it (the delay of its own access link); the distance of two
coordinates estimates their round-trip time. A node moves a little whenever it measures one, more boldly the less it
trusts its own place [Dabek et al., Vivaldi, SIGCOMM 2004]. Both Storm extensions of the papers estimate delays so.
"""

from dataclasses import dataclass, replace
from math import hypot, isfinite
from random import Random


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Position of a node in the latency space, in milliseconds of round trip."""

    position: tuple[float, ...] = (0.0, 0.0)
    height: float = 0.1
    """Delay of the node's own access link; it counts towards every distance."""
    error: float = 1.0
    """Relative error that the node expects of its estimates; 1 if it knows nothing."""

    def __post_init__(self) -> None:
        """Rejects an invalid position."""
        if not all(isfinite(x) for x in (*self.position, self.height, self.error)):
            raise ValueError(f"a coordinate needs finite numbers, got {self}")
        if not self.position or self.height < 0 or self.error < 0:
            raise ValueError(f"a coordinate needs a dimension, a height and an error >= 0, got {self}")

    def round_trip_ms(self, other: "Coordinate") -> float:
        """The estimated round-trip time to another node."""
        return self._apart(other) + self.height + other.height

    def delay_ms(self, other: "Coordinate") -> float:
        """The estimated one-way delay: half of the round trip."""
        return self.round_trip_ms(other) / 2

    def _apart(self, other: "Coordinate") -> float:
        return hypot(*(a - b for a, b in zip(self.position, other.position, strict=True)))


@dataclass(frozen=True, slots=True)
class Vivaldi:
    """Update rule of a coordinate after a measured round trip."""

    step: float = 0.25
    """c_c: fraction of the way towards the position that would explain the measurement."""
    error_weight: float = 0.25
    """c_e: weight of a measurement in the expected error."""
    least_height: float = 0.1
    """Least height: an access link is never free, and a height of 0 could never grow again."""

    def __post_init__(self) -> None:
        """Rejects steps that overshoot."""
        if not (0 < self.step <= 1 and 0 < self.error_weight <= 1 and self.least_height > 0):
            raise ValueError(f"need 0 < step <= 1, 0 < error_weight <= 1, least_height > 0, got {self}")

    def moved(self, own: Coordinate, remote: Coordinate, round_trip_ms: float, random: Random) -> Coordinate:
        """The own coordinate after a round trip to a remote node was measured.

        `random` only chooses the direction if both have the same position.
        """
        if not (isfinite(round_trip_ms) and round_trip_ms > 0):
            raise ValueError(f"a round trip takes finite time > 0, got {round_trip_ms}")
        trust = own.error / (own.error + remote.error) if own.error + remote.error > 0 else 0.5
        estimate = own.round_trip_ms(remote)
        wrong = abs(estimate - round_trip_ms) / round_trip_ms
        push = self.step * trust * (round_trip_ms - estimate)
        error = wrong * self.error_weight * trust + own.error * (1 - self.error_weight * trust)
        return replace(self._pushed(own, remote, push, random), error=error)

    def _pushed(self, own: Coordinate, remote: Coordinate, push: float, random: Random) -> Coordinate:
        """The coordinate pushed away from the remote node (push > 0) or towards it, on their line; heights add up."""
        line = [a - b for a, b in zip(own.position, remote.position, strict=True)]
        apart = hypot(*line)
        if apart == 0:
            line = [random.uniform(-1, 1) or 1.0 for _ in own.position]
            apart = hypot(*line)
        whole = apart + own.height + remote.height
        position = tuple(x + push * part / apart for x, part in zip(own.position, line, strict=True))
        height = max(self.least_height, own.height + push * (own.height + remote.height) / whole)
        return Coordinate(position, height, own.error)
