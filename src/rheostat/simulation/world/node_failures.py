"""Node failures: at given moments, or at random."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """Loss of a node, for some time or for ever."""

    at_seconds: float
    node: str
    lasts_seconds: float = inf
    """Seconds that it is down; infinite if it never comes back."""

    def __post_init__(self) -> None:
        """Rejects a failure without a valid time or duration."""
        if not (isfinite(self.at_seconds) and self.at_seconds >= 0 and self.lasts_seconds > 0):
            raise ValueError(f"a failure needs a moment >= 0 and lasts longer than 0 s, got {self}")

    @property
    def until_seconds(self) -> float:
        """Time at which the node is back."""
        return self.at_seconds + self.lasts_seconds


def random_failures(
    nodes: Iterable[str], until_seconds: float, *, every_seconds: float, lasting_seconds: float, seed: int = 0
) -> tuple[Failure, ...]:
    """Independent failures of every node: exponential times between them, exponential durations."""
    if not (every_seconds > 0 and lasting_seconds > 0 and isfinite(until_seconds)):
        raise ValueError(f"need times > 0, got every {every_seconds} s, lasting {lasting_seconds} s")
    rng = np.random.default_rng((seed, 4))
    found = []
    for node in nodes:
        moment = float(rng.exponential(every_seconds))
        while moment < until_seconds:
            lasts = max(float(rng.exponential(lasting_seconds)), 1e-3)
            found.append(Failure(moment, node, lasts))
            moment += lasts + float(rng.exponential(every_seconds))
    return tuple(sorted(found))
