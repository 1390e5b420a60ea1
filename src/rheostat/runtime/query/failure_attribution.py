"""Attribution of a failed query to the operator that caused it, from the error that Spark reports.

A failure of the user's code is reported with operator, node and line, and the instance is not restarted until the code
is corrected; after any other failure it is restarted. So both mistakes hurt: a fault of the machine attributed to an
operator stops that operator, and an operator that is restarted again and again never reports its error.
"""

import inspect
import re
import sysconfig
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyspark

from rheostat.errors import OperatorFailed
from rheostat.model.graph.application import RESULTS_SINK
from rheostat.runtime.query.user_code import load_function

_NOTE = "rheostat: in operator "
_NOTED = re.compile(rf"^{_NOTE}(?P<name>.+)$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(: .*)?$", re.MULTILINE)
_IN_A_CALLBACK = "An exception was raised by the Python Proxy"
"""Start of an error raised by `foreachBatch`, that is, by a sink."""
_CALL_SITE = re.compile(r"was called from\n(?P<file>[^\n]+):(?P<line>\d+)$", re.MULTILINE)
"""Place where a failed column expression was created; PySpark keeps it with the expression."""
_DATA = re.compile(r"SQLSTATE: 22\w{3}")
"""Data exceptions: a division by zero, a text that is no number. Caused by the user's expression or by the data."""
_REFUSED_BY_PYSPARK = "pyspark.errors."
"""Errors that PySpark raises in a worker about the result of a function."""

_OURS, _PYSPARK = str(Path(__file__).parents[2]), str(Path(pyspark.__file__ or "").parent)
_SOURCES, _METER = str(Path(_OURS, "runtime", "ends")), str(Path(_OURS, "runtime", "query", "udf_timing.py"))
_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
AWAITED = "_awaited"
"""Name of the meter's function that waits for input: an error raised there is not of the waiting operator."""


@dataclass(frozen=True, slots=True)
class _Frame:
    file: str
    line: int
    function: str

    @property
    def is_users(self) -> bool:
        """Whether the file belongs to no library: libraries are installed, or have no file (`pyarrow/array.pxi`)."""
        return Path(self.file).is_absolute() and not self.file.startswith((*_INSTALLED, _OURS, _PYSPARK))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def add_operator_note(failure: BaseException, operator: str) -> None:
    """Adds the operator's name to an exception raised in a worker; it comes back with the traceback."""
    failure.add_note(f"{_NOTE}{operator}")


def attributed(
    text: str, node: str, operators: Mapping[str, str], in_python: Collection[str] = ()
) -> OperatorFailed | None:
    """Operator whose code failed the query, with its line; None if no operator's code did.

    `operators` maps names to import paths, in the order of the chain; those of `in_python` have functions in workers.
    Where a failure does not tell which of several operators it was, all are named.
    """
    told = text.partition("=== Streaming Query ===")[0]
    owns = {name: path for name, path in operators.items() if path != RESULTS_SINK}
    frames = [_Frame(one["file"], int(one["line"]), one["name"]) for one in _FRAME.finditer(_last_traceback(told))]
    if not owns or any(frame.file == _METER and frame.function == AWAITED for frame in frames):
        return None
    guilty = [name for name in owns if name in in_python] or list(owns)
    owner = _signed(told, owns) or _by_frames(told, frames, owns)
    if owner or any(frame.is_users for frame in frames):
        place = _place(frames, owns[owner or guilty[0]])
        return OperatorFailed(owner or " or ".join(guilty), node, f"{error_line(told)} at {place}")
    if (site := _CALL_SITE.search(told)) or _DATA.search(told):
        made = _Frame(site["file"], int(site["line"]), "") if site else None
        maker = (_spanning(made, owns) or _in_module(made, owns)) if made else None
        return OperatorFailed(maker or " or ".join(owns), node, error_line(told) + (f" at {made}" if made else ""))
    ours = any(frame.file.startswith(_OURS) and frame.file != _METER for frame in frames)
    if frames and not ours and error_line(told).startswith(_REFUSED_BY_PYSPARK):
        where = f" at {_place([], owns[guilty[0]])}" if len(guilty) == 1 else ""
        return OperatorFailed(" or ".join(guilty), node, error_line(told) + where)
    return None


def error_line(text: str) -> str:
    """One line for a failure: the end of the traceback from a worker, else Spark's own words."""
    ends = [frame.end() for frame in _FRAME.finditer(text)]
    if ends and (found := _RAISED.search(text, ends[-1])) is not None:
        return found[0].strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), "it failed")


def _last_traceback(told: str) -> str:
    """The last traceback, which ended the query, of several that caused one another."""
    return told.rpartition(_TRACEBACK)[2]


def _signed(told: str, operators: Mapping[str, str]) -> str | None:
    found = _NOTED.search(told)
    return found["name"] if found is not None and found["name"] in operators else None


def _by_frames(told: str, frames: Sequence[_Frame], operators: Mapping[str, str]) -> str | None:
    """Operator with the deepest line; a source starts its query, and a sink ends it."""
    spanning = (_spanning(frame, operators) for frame in reversed(frames))
    known = next((name for name in spanning if name), None)
    if known is None and any(frame.is_users for frame in frames):
        if any(frame.file.startswith(_SOURCES) for frame in frames):
            return next(iter(operators))
        if told.startswith(_IN_A_CALLBACK):
            return list(operators)[-1]
    in_module = (_in_module(frame, operators) for frame in reversed(frames))
    return known or next((name for name in in_module if name), None)


def _spanning(frame: _Frame, operators: Mapping[str, str]) -> str | None:
    """Operator whose function contains the line."""
    for name, path in operators.items():
        file, first, length = _source(path)
        if file == frame.file and first <= frame.line < first + length:
            return name
    return None


def _in_module(frame: _Frame, operators: Mapping[str, str]) -> str | None:
    """Last operator of the chain whose module is the file."""
    return next((name for name, path in reversed([*operators.items()]) if _source(path)[0] == frame.file), None)


def _place(frames: Sequence[_Frame], path: str) -> str:
    """Last line in the operator's module, else in any module that is not installed, else that of its definition."""
    own, first, _ = _source(path)
    in_module = [frame for frame in frames if frame.file == own]
    elsewhere = [frame for frame in frames if frame.is_users]
    return str((in_module or elsewhere or [_Frame(own, first, "")])[-1])


@cache
def _source(path: str) -> tuple[str, int, int]:
    """File, first line and number of lines of a function, as far as known."""
    try:
        function = inspect.unwrap(load_function(path))
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, ValueError):
        return path, 0, 0
    return inspect.getsourcefile(function) or path, first, len(lines)
