"""Random noise by seed, on the rates of sources and on measured figures.

The noise of the rates is a sequence over time that does not depend on the order of calls: two policies that are
compared under the same seed get the same tuples.
"""

from dataclasses import dataclass
from math import exp, isfinite, sqrt

import numpy as np

from rheostat.simulation.queues.queue_formulas import Values

BLOCK = 4096
"""Number of steps drawn at once."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Strength of the noise; none by default."""

    rate: float = 0.0
    """Standard deviation of the arrival rate, relative to it."""
    correlation_seconds: float = 10.0
    """Time constant of the rate's deviation: its autocorrelation falls to 1/e within this."""
    measurement: float = 0.0
    """Standard deviation of every measured figure, relative to it."""
    lost: float = 0.0
    """Share of lost samples."""

    def __post_init__(self) -> None:
        """Rejects invalid deviations and shares."""
        if not all(isfinite(x) and x >= 0 for x in (self.rate, self.measurement)):
            raise ValueError(f"deviations must be finite and >= 0, got {self}")
        if not (isfinite(self.correlation_seconds) and self.correlation_seconds > 0 and 0 <= self.lost <= 1):
            raise ValueError(f"need a correlation > 0 s and a share of lost samples from 0 to 1, got {self}")


class RateNoise:
    """Factor of the rate for every step: 1 plus an autoregressive process of first order."""

    def __init__(self, noise: Noise, step_seconds: float, seed: int) -> None:
        self._deviation, self._rng = noise.rate, np.random.default_rng((seed, 1))
        self._memory = exp(-step_seconds / noise.correlation_seconds)
        self._drawn = np.empty(0)

    def factors(self, first: int, count: int) -> Values:
        """The factors of `count` steps from step `first` on, never negative."""
        if self._deviation == 0.0:
            return np.ones(count)
        while len(self._drawn) < first + count:
            self._drawn = np.concatenate([self._drawn, self._block()])
        return np.maximum(1.0 + self._deviation * self._drawn[first : first + count], 0.0)

    def _block(self) -> Values:
        """The next deviations: each is the decayed previous one plus a random shock."""
        deviation = float(self._drawn[-1]) if len(self._drawn) else float(self._rng.standard_normal())
        block = []
        for shock in (self._rng.standard_normal(BLOCK) * sqrt(1 - self._memory**2)).tolist():
            deviation = self._memory * deviation + shock
            block.append(deviation)
        return np.array(block)


class MeasurementNoise:
    """Random measurement errors and losses, in the order of the calls."""

    def __init__(self, noise: Noise, seed: int) -> None:
        self._noise, self._rng = noise, np.random.default_rng((seed, 2))
        self._losses = np.random.default_rng((seed, 3))

    def draw_loss(self) -> bool:
        """Whether the next sample is lost."""
        return self._noise.lost > 0.0 and bool(self._losses.random() < self._noise.lost)

    @property
    def has_errors(self) -> bool:
        """Whether measured figures have errors."""
        return self._noise.measurement > 0.0

    def factors(self, count: int) -> Values:
        """Error factors for `count` figures, never negative."""
        return np.maximum(1.0 + self._noise.measurement * self._rng.standard_normal(count), 0.0)
