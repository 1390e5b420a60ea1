"""Restarts of failed instances: when one is due, and when to give up."""

import time
from collections import Counter
from collections.abc import Callable

from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance

MOST_RESTARTS = 20
"""After so many restarts without progress an instance stays failed."""
FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS = 0.5, 10.0


def back_off_seconds(failures: int) -> float:
    """Pause after a restart, given the number of failures before it: doubled by each, up to a limit.

    An instance that failed because the machine is overloaded must not overload it further.

    >>> [back_off_seconds(failures) for failures in (0, 1, 4, 5, 20)]
    [0.5, 1.0, 8.0, 10.0, 10.0]
    """
    return float(min(LONGEST_BACK_OFF_SECONDS, FIRST_BACK_OFF_SECONDS * 2**failures))


class Restarts:
    """Counts the restarts of every instance. A batch committed since the last restart clears its count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: Counter[int] = Counter()
        self._not_before: dict[int, float] = {}
        self._committed: dict[int, int] = {}
        """Last committed batch at the last restart."""

    def note(self, instance: Instance, status: InstanceStatus) -> None:
        """Clears the count of an instance that runs and has committed a batch since its last restart."""
        number = instance.number
        if status.state == "running" and number in self._failures and status.committed > self._committed[number]:
            del self._failures[number]

    def is_due(self, instance: Instance, status: InstanceStatus) -> bool:
        """Whether a failed instance is to be restarted now. An error in user code is not mended by a restart."""
        if status.state != "failed" or status.by_user or self.is_given_up(instance):
            return False
        return self._clock() >= self._not_before.get(instance.number, 0.0)

    def is_given_up(self, instance: Instance) -> bool:
        """Whether an instance has failed too often to be restarted again."""
        return self._failures[instance.number] >= MOST_RESTARTS

    def count(self, instance: Instance, status: InstanceStatus) -> None:
        """Counts a restart that is about to be made."""
        number = instance.number
        self._not_before[number] = self._clock() + back_off_seconds(self._failures[number])
        self._failures[number] += 1
        self._committed[number] = status.committed
