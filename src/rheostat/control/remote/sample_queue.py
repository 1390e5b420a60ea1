"""Queue of samples from the thread that measures to the thread that decides."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure
from rheostat.model.observation import Sample

MOST_KEPT = 100_000
"""Samples that wait for a manager that is slow; older ones are too old for it anyway."""


@dataclass(slots=True)
class SampleQueue:
    """The probe of a running application."""

    deployment: Callable[[], Deployment]
    """The deployment that runs."""
    infrastructure: Callable[[], Infrastructure]
    """The nodes that are up."""
    _waiting: deque[Sample] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _lock: Lock = field(default_factory=Lock)

    def add(self, samples: Sequence[Sample]) -> None:
        """Adds samples."""
        with self._lock:
            self._waiting.extend(samples)

    def samples(self) -> Sequence[Sample]:
        """Samples added since the last call."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken
