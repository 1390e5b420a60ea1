"""The lock of a run: one change at a time, which takes turns with healing and with nodes that come and go."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock


class ChangeLock:
    """A change waits for the moment that care takes, and is refused only while another change is under way.

    Care is everything else that alters a run: healing, and nodes that are lost, come back, join or leave. A thread that
    has the lock may take it again.
    """

    def __init__(self) -> None:
        self._lock, self._change = RLock(), Lock()

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way, or waits for its turn."""
        return self._change.locked()

    @contextmanager
    def for_change(self) -> Iterator[bool]:
        """Whether the change may begin: not while another one is under way."""
        if not self._change.acquire(blocking=False):
            yield False
            return
        try:
            with self._lock:
                yield True
        finally:
            self._change.release()

    @contextmanager
    def for_care(self) -> Iterator[None]:
        """Waits until a change that is under way is over."""
        with self._lock:
            yield

    @contextmanager
    def for_care_now(self) -> Iterator[bool]:
        """Whether care is possible at once: not while a change is under way."""
        taken = self._lock.acquire(blocking=False)
        try:
            yield taken
        finally:
            if taken:
                self._lock.release()
