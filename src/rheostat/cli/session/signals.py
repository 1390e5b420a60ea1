"""Ctrl-C and SIGTERM: the run ends gracefully, once; repeated signals change nothing.

A take-down that is interrupted would leave agents at work for as long as they linger.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HEARD = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Handles signals: interrupts a start, stops a run, and ignores signals during the stop."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._is_ending = False

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within the block a signal calls `stop`; after it signals are ignored."""
        self._stop = stop
        self.listen()  # again: Spark has installed its own
        with self.ending_behind():
            yield

    @contextmanager
    def ending_behind(self) -> Iterator[None]:
        """Ignores signals after the block, also if it has failed."""
        try:
            yield
        finally:
            self._is_ending = True

    def listen(self) -> None:
        """Installs the handlers."""
        for number in HEARD:
            signal.signal(number, self._heard)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_ending:
            return
        if self._stop is not None:
            self._stop()
            return
        self._is_ending = True
        raise KeyboardInterrupt


@contextmanager
def signals() -> Iterator[Signals]:
    """Handles signals from the start until everything is stopped."""
    before = {number: signal.getsignal(number) for number in HEARD}
    found = Signals()
    found.listen()
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
