"""The two clocks: the wall's, and one that goes as fast as it is told to."""

import time
from dataclasses import dataclass


class SystemClock:
    """Real time. Monotonic, so that a corrected wall clock does not upset a cool-down."""

    def now_seconds(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()

    def wait_until(self, seconds: float) -> None:
        """Sleeps the rest of the way."""
        while (rest := seconds - self.now_seconds()) > 0:
            time.sleep(rest)


@dataclass(slots=True)
class VirtualClock:
    """Time that passes only when somebody waits: hours of experiment in seconds."""

    seconds: float = 0.0

    def now_seconds(self) -> float:
        """Where it was moved to."""
        return self.seconds

    def wait_until(self, seconds: float) -> None:
        """Jumps there; never backwards."""
        self.seconds = max(self.seconds, seconds)
