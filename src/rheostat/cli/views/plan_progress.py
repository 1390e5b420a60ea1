"""The progress of a planner: one line on a terminal with incumbent, bound and gap."""

from contextlib import AbstractContextManager
from math import isfinite

from rich.console import Console
from rich.status import Status

from rheostat.planning.contract.planner import SILENT, Progress


def progress_words(measure: str, incumbent: float | None, bound: float | None, gap: float) -> str:
    """Incumbent, bound and gap in the terms of the objective.

    >>> progress_words("cost", 0.5, 0.4, 0.2)
    'cost 0.5000, bound 0.4000, gap 20.00 %'
    >>> progress_words("utility", None, None, float("inf"))
    'nothing found yet'
    """
    parts = [] if incumbent is None else [f"{measure} {incumbent:.4f}"]
    parts += [] if bound is None else [f"bound {bound:.4f}"]
    parts += [f"gap {100 * gap:.2f} %"] if isfinite(gap) else []
    return ", ".join(parts) or "nothing found yet"


class ProgressLine:
    """The line, while a planner works."""

    def __init__(self, status: Status, what: str, measure: str) -> None:
        self._status, self._what, self._measure = status, what, measure

    def prepares(self, what: str) -> None:
        """Shows a preparation before the clock starts."""
        self._status.update(f"{self._what}: {what}")

    def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
        """Shows incumbent and bound."""
        self._status.update(progress_words(self._measure, incumbent, bound, gap))


class Watching(AbstractContextManager[Progress]):
    """A progress line on stderr if that is a terminal; nothing otherwise."""

    def __init__(self, what: str, measure: str, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, markup=False)
        self._what, self._measure = what, measure
        self._status = self._console.status(what) if self._console.is_terminal else None

    def __enter__(self) -> Progress:
        if self._status is None:
            return SILENT
        self._status.start()
        return ProgressLine(self._status, self._what, self._measure)

    def __exit__(self, *raised: object) -> None:
        if self._status is not None:
            self._status.stop()
