"""The two clocks: the wall's, and one that goes as fast as it is told to."""

import time
from dataclasses import dataclass


class SystemClock:
    """Real time: the wall's when it was made, and monotonic from then on.

    So its moments can be compared with those that samples and journals of this machine have, and a corrected wall
    clock does not upset a cool-down.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now_seconds(self) -> float:
        """Seconds since 1970."""
        return time.monotonic() + self._offset

    def wait_until(self, seconds: float) -> None:
        """Sleeps the rest of the way."""
        while (rest := seconds - self.now_seconds()) > 0:
            time.sleep(rest)


@dataclass(slots=True)
class VirtualClock:
    """Time that passes only in `wait_until`: hours of an experiment in seconds."""

    seconds: float = 0.0

    def now_seconds(self) -> float:
        """The time it was moved to."""
        return self.seconds

    def wait_until(self, seconds: float) -> None:
        """Jumps there; never backwards."""
        self.seconds = max(self.seconds, seconds)
