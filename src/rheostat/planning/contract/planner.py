"""Protocols of a planner and of its progress reporter. A planner never prints; it calls the reporter."""

from typing import Protocol

from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.problem import Problem


class Progress(Protocol):
    """Hears of a search under way, in the objective's own terms."""

    def prepares(self, what: str) -> None:
        """Before the search, and before its clock starts, something takes a while."""
        ...

    def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
        """The best value so far, the proven bound, and the relative gap between them."""
        ...


class Silent:
    """Hears nothing."""

    def prepares(self, what: str) -> None:
        """Nothing."""

    def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
        """Nothing."""


SILENT = Silent()


class Unsuited(ValueError):
    """A planner was given a problem that it was not made for; others may answer it."""


class Planner(Protocol):
    """Answers a problem."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The best deployment it can find, and what is proven of it."""
        ...
