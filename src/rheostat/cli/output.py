"""The form of answers: text or one JSON object, complaints, and an exit code.

JSON has no word for infinity and this program no other use for null than that: where a number is expected, `null`
stands for infinite (the latency of a saturated operator, a bandwidth without limit). Every object has `ok`, the same
answer as the exit code, and `mistakes`, each with `file`, `line`, `what` and `remedy` (`null` where there is none).
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from math import isfinite
from typing import Any

from rich.console import Console

from rheostat.errors import InvalidDocument, InvalidModel, RheostatError


class ExitCode(IntEnum):
    """The exit codes."""

    FINE = 0
    """The answer is yes."""
    NO = 1
    """The answer is no: a document is not sound, a deployment does not fit or breaks a bound, not ready."""
    WRONG_USE = 2
    """There is no answer: an argument is wrong, or a file is not there."""
    BUG = 70
    """There is no answer because of a bug (EX_SOFTWARE of sysexits.h)."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One mistake, its place, and its remedy."""

    what: str
    remedy: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        return f"{place}{self.what}" + (f"; {self.remedy}" if self.remedy else "")


class WrongUse(RheostatError):
    """Arguments that the command cannot use."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__(*complaints)
        self.complaints = complaints

    def __str__(self) -> str:
        return "\n".join(str(complaint) for complaint in self.complaints)


def complaints_of(error: Exception) -> tuple[Complaint, ...]:
    """An error in the one form that is shown."""
    match error:
        case WrongUse():
            return error.complaints
        case InvalidDocument():
            return tuple(Complaint(m.what, m.remedy or None, m.file, m.line) for m in error.mistakes)
        case InvalidModel():
            return tuple(
                Complaint(f"{'.'.join(map(str, m.where))}: {m.what}", m.remedy or None, error.subject)
                for m in error.mistakes
            )
        case OSError():
            return (Complaint(error.strerror or str(error), file=error.filename and str(error.filename)),)
        case _:
            return (Complaint(str(error)),)


def page() -> Console:
    """The console for tables; without a terminal it is 132 columns wide."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 132
    # No markup: a name may have brackets in it.
    return Console(highlight=False, markup=False, width=width)


def say(*lines: object) -> None:
    """Plain lines on stdout, never wrapped: other programs read them."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def warn(*lines: object) -> None:
    """Plain lines on stderr."""
    for line in lines:
        sys.stderr.write(f"{line}\n")


def answer_json(*, ok: bool, mistakes: Sequence[Complaint] = (), **body: Any) -> None:
    """The one JSON object, keys in their order of importance."""
    found = [asdict(complaint) for complaint in mistakes]
    ordered = [{name: one[name] for name in ("file", "line", "what", "remedy")} for one in found]
    whole = {"ok": ok, **body, "mistakes": ordered}
    say(json.dumps(without_infinity(whole), indent=2, allow_nan=False))


def without_infinity(value: Any) -> Any:
    """The same with null for every number that JSON cannot write.

    >>> without_infinity({"a": [1.5, float("inf")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_infinity(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinity(item) for item in value]
    return value
