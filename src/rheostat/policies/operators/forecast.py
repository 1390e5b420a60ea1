"""Forecast of a rate by Holt's linear smoothing: level, trend, and the error so far.

Two rates in a row that are far out of proportion to the errors so far are not noise: the level is set to the last one.
"""

from dataclasses import dataclass
from math import pi, sqrt

SURPRISE_DEVIATIONS = 3.0
"""Number of standard deviations that noise hardly ever exceeds."""
SURPRISES = 2
"""Number of surprises in a row after which the level is reset."""


@dataclass(frozen=True, slots=True)
class Trend:
    """State of the forecast after some observations, one per period."""

    level: float
    slope: float = 0.0
    """Change per period."""
    error: float = 0.0
    """Mean absolute error of the forecasts for the next period, recent ones weighted more."""
    surprises: int = 0
    """Number of surprising rates in a row, all on the same side; negative if below the forecast."""

    def after(self, observed: float, smoothing: float, trend_smoothing: float) -> "Trend":
        """The state after one more observation [Holt 1957]."""
        expected = self.level + self.slope
        surprises = self._surprised(observed - expected)
        if abs(surprises) >= SURPRISES:
            return Trend(observed, 0.0, self.error)
        level = smoothing * observed + (1 - smoothing) * expected
        slope = trend_smoothing * (level - self.level) + (1 - trend_smoothing) * self.slope
        error = (1 - trend_smoothing) * self.error + trend_smoothing * abs(observed - expected)
        return Trend(level, slope, error, surprises)

    def _surprised(self, away: float) -> int:
        if self.error == 0 or abs(away) <= SURPRISE_DEVIATIONS * self.deviation:
            return 0
        side = 1 if away > 0 else -1
        return self.surprises + side if self.surprises * side >= 0 else side

    def ahead(self, periods: int, damping: float) -> list[float]:
        """Forecast rates of the next periods; the trend is damped from period to period."""
        found, reached, step = [], self.level, self.slope
        for _ in range(periods):
            step *= damping
            reached += step
            found.append(max(0.0, reached))
        return found

    @property
    def deviation(self) -> float:
        """Standard deviation of the rates around the forecast, if normal: √(π/2) mean absolute errors."""
        return sqrt(pi / 2) * self.error
