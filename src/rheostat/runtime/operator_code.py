"""The user's code: found by import path, called inside a boundary that says whose fault a failure is."""

import importlib
import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rheostat.errors import OperatorFailed

PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def load_function(path: str) -> Callable[..., Any]:
    """The function named `package.module:function`."""
    if not PATH.fullmatch(path):
        raise ValueError(f"{path!r} is no import path: write package.module:function")
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"{path}: no module named {missing.name!r}; is it installed or on PYTHONPATH here?"
        ) from missing
    except AttributeError as missing:
        raise ValueError(f"{path}: module {module} has no function {name}") from missing
    if not callable(found):
        raise TypeError(f"{path} is not a function")
    return found  # type: ignore[no-any-return]


def called(operator: str, node: str, function: Callable[..., Any], *inputs: Any, **parameters: Any) -> Any:
    """The function's answer; what it raises is told with operator, node and the user's line."""
    try:
        return function(*inputs, **parameters)
    except Exception as failure:
        frames = traceback.extract_tb(failure.__traceback__)
        own = inspect.getsourcefile(function)
        line = next((f"{frame.filename}:{frame.lineno}" for frame in reversed(frames) if frame.filename == own), "")
        where = f" at {line}" if line else ""
        raise OperatorFailed(operator, node, f"{type(failure).__name__}: {failure}{where}") from failure


FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')


def blamed(text: str, node: str, operators: Mapping[str, str]) -> OperatorFailed | None:
    """Which operator of a failed query raised, from the traceback that came back from its Python worker.

    `operators` maps names to import paths. None if no frame of the traceback lies in the user's code.
    """
    frames = list(FRAME.finditer(text))
    for frame in reversed(frames):
        operator = _owner(frame["file"], int(frame["line"]), operators.items())
        if operator is not None:
            cause = _last_line(text[frame.end() :])
            return OperatorFailed(operator, node, f"{cause} at {frame['file']}:{frame['line']}")
    return None


def _owner(file: str, line: int, operators: Iterable[tuple[str, str]]) -> str | None:
    """The operator whose function spans the line, else one whose module is the file."""
    in_module = None
    for name, path in operators:
        try:
            function = inspect.unwrap(load_function(path))
            if inspect.getsourcefile(function) != file:
                continue
            source, first = inspect.getsourcelines(function)
        except (OSError, TypeError, ValueError):
            continue
        in_module = name
        if first <= line < first + len(source):
            return name
    return in_module


def _last_line(text: str) -> str:
    """The `Type: message` line that ends a traceback."""
    for line in text.splitlines():
        if re.match(r"^[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit|Warning)?(: .*)?$", line) and not line.startswith(
            " "
        ):
            return line.strip()
    return "the operator raised"
