"""Latency space: Vivaldi coordinates of all nodes, as the decentralised schedulers use them.

The schedulers move operators through this space. Its delays are estimates: a network need not fit into a plane, and a
delay there need not be as long as the one back.
"""

from dataclasses import dataclass
from math import isfinite
from random import Random

import numpy as np

from rheostat.model.network.coordinates import Coordinate, Vivaldi
from rheostat.planning.encoded.encoded_problem import Values

_LEAST_MS = 1e-3
"""Least round-trip time: one of 0 could not be measured."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Settings of the computation of coordinates."""

    dimensions: int = 2
    rounds: int = 200
    """Number of measurements of every node, each to a random other node."""
    jitter_ms: float = 0.0
    """Standard deviation of a measured delay; with jitter the coordinates never converge."""
    seed: int = 0
    rule: Vivaldi = Vivaldi()

    def __post_init__(self) -> None:
        """Rejects invalid settings."""
        if not (self.dimensions >= 1 and self.rounds >= 1 and isfinite(self.jitter_ms) and self.jitter_ms >= 0):
            raise ValueError(f"need dimensions and rounds >= 1 and a jitter >= 0, got {self}")


@dataclass(frozen=True)
class LatencySpace:
    """Points with heights for all nodes, in milliseconds of one-way delay."""

    points: Values
    """Coordinates, a row per node."""
    heights: Values
    """Additional delay of every path from or to a node."""

    @property
    def delay_ms(self) -> Values:
        """[u, v]: the estimated delay; 0 from a node to itself."""
        apart = np.linalg.norm(self.points[:, None] - self.points[None], axis=-1)
        estimate = apart + self.heights[:, None] + self.heights[None, :]
        np.fill_diagonal(estimate, 0.0)
        return np.asarray(estimate)

    def from_point(self, point: Values) -> Values:
        """The estimated delay from a point of the space to every node."""
        return np.asarray(np.linalg.norm(self.points - point, axis=1) + self.heights)

    def relative_error(self, delay_ms: Values) -> float:
        """Median relative error of the estimates against the network's delays."""
        apart = ~np.eye(len(delay_ms), dtype=bool) & (delay_ms > 0)
        wrong = np.abs(self.delay_ms[apart] / delay_ms[apart] - 1)
        return float(np.median(wrong)) if len(wrong) else 0.0


class Survey:
    """Coordinates from repeated measurements; with jitter they never converge."""

    def __init__(self, delay_ms: Values, settings: Embedding) -> None:
        self._round_trip_ms = np.maximum(delay_ms + delay_ms.T, _LEAST_MS)
        self._settings, self._random = settings, Random(settings.seed)  # noqa: S311 - chance is no secret here
        self._coordinates = [Coordinate((0.0,) * settings.dimensions) for _ in delay_ms]

    def space(self, rounds: int | None = None) -> LatencySpace:
        """The space after this many more rounds, by default as many as the settings say."""
        size = len(self._coordinates)
        for _ in range(self._settings.rounds if rounds is None else rounds):
            for u in range(size if size > 1 else 0):
                v = (u + self._random.randrange(1, size)) % size
                self._coordinates[u] = self._settings.rule.moved(
                    self._coordinates[u], self._coordinates[v], self._measured_ms(u, v), self._random
                )
        points = np.array([coordinate.position for coordinate in self._coordinates])
        heights = np.array([coordinate.height for coordinate in self._coordinates])
        return LatencySpace(points / 2, heights / 2)

    def _measured_ms(self, u: int, v: int) -> float:
        # Jitter of both directions.
        noise = self._random.gauss(0.0, self._settings.jitter_ms * 2**0.5) if self._settings.jitter_ms else 0.0
        return max(float(self._round_trip_ms[u, v]) + noise, _LEAST_MS)
