"""One application at a time: the ElasticityManager of Elastic Storm IV.A, over application managers.

Each is given its turn; once one has changed something, the others wait for the next invocation, so that its effect on
them can be seen first. Who waits is first the next time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.control.managers.application_manager import ApplicationManager


@dataclass(slots=True)
class ElasticityManager:
    """The central loop of Elastic Storm."""

    applications: Sequence[ApplicationManager]
    period_seconds: float = 10.0
    """T_nbs."""
    offset_seconds: float = 0.0
    _first: int = 0

    @property
    def name(self) -> str:
        """Name of the loop."""
        return "elasticity manager"

    def step(self, now_seconds: float) -> None:
        """Every application in turn, until one is changed."""
        count = len(self.applications)
        for position in range(count):
            turn = (self._first + position) % count
            if self.applications[turn].act(now_seconds):
                self._first = (turn + 1) % count
                return
