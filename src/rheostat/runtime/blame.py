"""Whose fault is a failed query? Read off what Spark tells of it.

What failed by the user's code is told with operator, node and line and left alone until it is mended; everything else
is started again. So both mistakes hurt: a fault of the machine that is blamed on an operator makes it stand still, and
an operator that is started again and again tells nobody what is wrong with it.
"""

import inspect
import re
import sysconfig
from collections.abc import Collection, Mapping
from pathlib import Path

import pyspark

import rheostat
from rheostat.errors import OperatorFailed
from rheostat.model.application import RESULTS_SINK
from rheostat.runtime.operator_code import load_function

_NOTE = "rheostat: in operator "
_NOTED = re.compile(rf"^{_NOTE}(?P<name>.+)$", re.MULTILINE)
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')
_CALL_SITE = re.compile(r"was called from\n(?P<file>[^\n]+):(?P<line>\d+)$", re.MULTILINE)
"""Where a column was made whose computation has failed; PySpark keeps it with the expression."""
_DATA = re.compile(r"SQLSTATE: 22\w{3}")
"""A data exception: a division by zero, a text that is no number. The expression is the user's, or the data are."""
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(: .*)?$", re.MULTILINE)
_REFUSED_BY_PYSPARK = "pyspark.errors."
"""What PySpark itself raises in a worker it raises of what a function has given back."""

_OURS, _PYSPARK = (str(Path(package.__file__ or "").parent) for package in (rheostat, pyspark))
_METER = str(Path(_OURS, "runtime", "own_code.py"))
_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def sign(failure: BaseException, operator: str) -> None:
    """Writes on what was raised in a worker whose function it was; it comes back with the traceback."""
    failure.add_note(f"{_NOTE}{operator}")


def blamed(
    text: str, node: str, operators: Mapping[str, str], in_python: Collection[str] = ()
) -> OperatorFailed | None:
    """The operator of a failed query whose code it was, with its line; None if it was nobody's.

    `operators` maps names to import paths; those of `in_python` have functions in workers. Where a failure does not
    tell which of several operators it was, all are named.
    """
    told = text.partition("=== Streaming Query ===")[0]
    owns = {name: path for name, path in operators.items() if path != RESULTS_SINK}
    frames = [(found["file"], int(found["line"])) for found in _FRAME.finditer(told)]
    noted = _NOTED.search(told)
    if noted is not None and noted["name"] in owns:
        name = noted["name"]
        return OperatorFailed(name, node, f"{raised(told)} at {_line(frames, owns[name])}")
    for file, line in reversed(frames):
        owner = _owner(file, line, owns)
        if owner is not None:
            return OperatorFailed(owner, node, f"{raised(told)} at {file}:{line}")
    return _by_its_kind(told, node, owns, frames, in_python)


def raised(text: str) -> str:
    """What a failure says in one line: the end of the traceback that came from a worker, else Spark's own words."""
    ends = [frame.end() for frame in _FRAME.finditer(text)]
    if ends and (found := _RAISED.search(text, ends[-1])) is not None:
        return found[0].strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), "it failed")


def _by_its_kind(
    told: str, node: str, owns: Mapping[str, str], frames: list[tuple[str, int]], in_python: Collection[str]
) -> OperatorFailed | None:
    """No line of the user's was running; what kind of failure it is tells whether it is the user's all the same."""
    site = _CALL_SITE.search(told)
    if site is not None or _DATA.search(told):
        file, line = (site["file"], int(site["line"])) if site else ("", 0)
        name = _owner(file, line, owns) or " or ".join(owns)
        return OperatorFailed(name, node, raised(told) + (f" at {file}:{line}" if site else ""))
    ours = any(file.startswith(_OURS) and file != _METER for file, _ in frames)
    if frames and not ours and raised(told).startswith(_REFUSED_BY_PYSPARK):
        guilty = [name for name in owns if name in in_python] or list(owns)
        where = f" at {_line([], owns[guilty[0]])}" if len(guilty) == 1 else ""
        return OperatorFailed(" or ".join(guilty), node, raised(told) + where)
    return None


def _line(frames: list[tuple[str, int]], path: str) -> str:
    """The last line of the operator's module, else of any module that is not installed, else of its definition."""
    own, first, _ = _source(path)
    libraries = (*_INSTALLED, _OURS, _PYSPARK)
    places = [(file, line) for file, line in reversed(frames) if Path(file).is_absolute()]
    in_module = [place for place in places if place[0] == own]
    elsewhere = [place for place in places if not place[0].startswith(libraries)]
    file, line = next(iter(in_module + elsewhere), (own, first))
    return f"{file}:{line}"


def _owner(file: str, line: int, operators: Mapping[str, str]) -> str | None:
    """The operator whose function spans the line, else one whose module is the file."""
    in_module = None
    for name, path in operators.items():
        known, first, length = _source(path)
        if known == file:
            in_module = name
            if first <= line < first + length:
                return name
    return in_module


def _source(path: str) -> tuple[str, int, int]:
    """File, first line and number of lines of a function, as far as they are known."""
    try:
        function = inspect.unwrap(load_function(path))
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, ValueError):
        return path, 0, 0
    return inspect.getsourcefile(function) or path, first, len(lines)
