"""What the managers see of a running application: handed over by the thread that measures to the one that decides."""

from collections import deque
from collections.abc import Sequence
from threading import Lock

from rheostat.model.deployment import Deployment
from rheostat.model.observation import Sample
from rheostat.model.resources import Infrastructure
from rheostat.runtime.world import Runtime

MOST_KEPT = 100_000
"""Samples that wait for a manager that is slow; older ones are too old for it anyway."""


class Feed:
    """The probe of a running application."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._waiting: deque[Sample] = deque(maxlen=MOST_KEPT)
        self._lock = Lock()

    def add(self, samples: Sequence[Sample]) -> None:
        """Leaves what was measured."""
        with self._lock:
            self._waiting.extend(samples)

    def samples(self) -> Sequence[Sample]:
        """What was left since the last call."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def deployment(self) -> Deployment:
        """What runs."""
        return self._runtime.deployment()

    def infrastructure(self) -> Infrastructure:
        """The nodes that are up."""
        return self._runtime.infrastructure()
