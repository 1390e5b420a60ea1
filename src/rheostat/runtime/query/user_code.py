"""Loader of user code by import path, and the error boundary in which it is called."""

import importlib
import inspect
import re
import traceback
from collections.abc import Callable
from typing import Any

from rheostat.errors import OperatorFailed

PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def load_function(path: str) -> Callable[..., Any]:
    """The function named `package.module:function`."""
    if not PATH.fullmatch(path):
        raise ValueError(f"{path!r} is not an import path: write package.module:function")
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


def call_operator(operator: str, node: str, function: Callable[..., Any], *inputs: Any, **parameters: Any) -> Any:
    """The function's result; an exception is raised again with operator, node and the user's line."""
    try:
        return function(*inputs, **parameters)
    except Exception as failure:
        frames = traceback.extract_tb(failure.__traceback__)
        own = inspect.getsourcefile(function)
        line = next((f"{frame.filename}:{frame.lineno}" for frame in reversed(frames) if frame.filename == own), "")
        where = f" at {line}" if line else ""
        raise OperatorFailed(operator, node, f"{type(failure).__name__}: {failure}{where}") from failure
