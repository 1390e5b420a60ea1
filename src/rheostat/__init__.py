"""An elastic control plane for stream processing on Apache Spark.

`from rheostat import App, operator, sources, sinks` is all that an application needs; it loads no Spark until it runs.
Every other module is private: it may change without notice.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rheostat import sinks, sources
    from rheostat.app import App, operator

__all__ = ["App", "operator", "sinks", "sources"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: the command line starts without the model."""
    if name in {"sinks", "sources"}:
        return importlib.import_module(f"rheostat.{name}")
    if name in {"App", "operator"}:
        return getattr(importlib.import_module("rheostat.app"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
