"""What Ctrl-C and SIGTERM do to a run: it ends gracefully, once; whoever repeats them waits for that as well.

A take-down that is interrupted would leave agents at work for as long as they linger.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HEARD = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Interrupts what is being brought up, stops what runs, and lets what is being taken down go on."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._is_ending = False

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within, it runs, and `stop` lets it end; behind, it is being taken down."""
        self._stop = stop
        self.listen()  # again: Spark has installed its own
        with self.ending_behind():
            yield

    @contextmanager
    def ending_behind(self) -> Iterator[None]:
        """What comes behind is a take-down, also if something has failed."""
        try:
            yield
        finally:
            self._is_ending = True

    def listen(self) -> None:
        """From now on they are heard here."""
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
    """From the first thing that is brought up until everything is taken down."""
    before = {number: signal.getsignal(number) for number in HEARD}
    found = Signals()
    found.listen()
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
