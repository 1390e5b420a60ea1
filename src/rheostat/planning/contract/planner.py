"""Protocols of a planner and of its progress reporter. A planner never prints; it calls the reporter."""

from typing import Protocol

from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.problem import Problem


class Progress(Protocol):
    """Progress reporter of a search, in the objective's own units."""

    def prepares(self, what: str) -> None:
        """Reports a preparation that takes a while, before the search and its time limit start."""
        ...

    def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
        """Reports the best value so far, the proven bound, and the relative gap between them."""
        ...


class Silent:
    """Progress reporter that ignores everything."""

    def prepares(self, what: str) -> None:
        """Does nothing."""

    def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
        """Does nothing."""


SILENT = Silent()


class Unsuited(ValueError):
    """Error of a planner that was not made for the given problem; another planner may solve it."""


class Planner(Protocol):
    """Solver of planning problems."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The best deployment that it finds, with its proven bound."""
        ...
