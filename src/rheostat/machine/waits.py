"""Waiting for a condition, with a deadline."""

import time
from collections.abc import Callable

LOOK_SECONDS = 0.02


def wait_until(
    reached: Callable[[], bool],
    seconds: float,
    *,
    look_seconds: float = LOOK_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = time.sleep,
) -> bool:
    """Whether a condition holds before the time is over. It is checked at once, then again after every pause.

    `pause` can be `Event().wait`, so that an event ends a pause early.
    """
    deadline = clock() + seconds
    while not reached():
        left = deadline - clock()
        if left <= 0:
            return False
        pause(min(look_seconds, left))
    return True
