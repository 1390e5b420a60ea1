"""Typical ratio of pairs measured side by side, and how well it is known so far.

A shared machine makes single pairs differ by a fifth and more; a few of them can say anything.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

NORMAL_QUANTILE = 1.645
"""Of the normal distribution: nine of ten intervals hold the true value."""


@dataclass(frozen=True, slots=True)
class Typical:
    """A ratio, and between what it lies with a confidence of 90 %."""

    ratio: float
    low: float
    high: float

    @property
    def doubt(self) -> float:
        """How far it may be off, as a ratio's part."""
        return math.sqrt(self.high / self.low) - 1


def typical(ratios: Sequence[float]) -> Typical:
    """Hodges and Lehmann's median of all averages of two, with the interval of Wilcoxon's signed ranks.

    It heeds outliers hardly more than the median does, and needs two thirds of its pairs. Of logarithms: half as much
    and twice as much are equally far from the same.
    """
    logs = [math.log(ratio) for ratio in ratios]
    averages = sorted((one + other) / 2 for place, one in enumerate(logs) for other in logs[place:])
    count = len(logs)
    spread = NORMAL_QUANTILE * math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    cut = max(0, round(len(averages) / 2 - spread))
    low, high = averages[cut], averages[-1 - cut]
    return Typical(math.exp(statistics.median(averages)), math.exp(low), math.exp(high))
