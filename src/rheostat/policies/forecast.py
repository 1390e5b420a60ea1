"""How will a rate go on? Holt's linear smoothing: where it is, where it is heading, and how wrong that was so far."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trend:
    """What is known of a rate after some observations, one per period."""

    level: float
    slope: float = 0.0
    """Change per period."""
    error: float = 0.0
    """Mean absolute error of the forecasts for the next period, the recent ones weighing more."""

    def after(self, observed: float, smoothing: float, trend_smoothing: float) -> "Trend":
        """With one observation more [Holt 1957]."""
        expected = self.level + self.slope
        level = smoothing * observed + (1 - smoothing) * expected
        slope = trend_smoothing * (level - self.level) + (1 - trend_smoothing) * self.slope
        error = (1 - trend_smoothing) * self.error + trend_smoothing * abs(observed - expected)
        return Trend(level, slope, error)

    def ahead(self, periods: int, margin: float, damping: float) -> list[float]:
        """The next periods, `margin` errors above what is expected; a trend loses strength from period to period."""
        found, reached, step = [], self.level, self.slope
        for _ in range(periods):
            step *= damping
            reached += step
            found.append(max(0.0, reached + margin * self.error))
        return found
