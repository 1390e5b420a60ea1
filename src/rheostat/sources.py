"""Sources that bring the same rows again after a crash.

| name | brings |
|---|---|
| `rate` | rows of a generator, as many per second as a curve says |
| `replay` | the rows of a recording (CSV, JSON lines, Parquet) at the speed of their event time, or a multiple |
| `Draw`, `Zipf` | the repeatable randomness that a generator is given |

Any streaming DataFrame of Spark is a source as well: a source of an application is a function `f(spark, **parameters)`
that returns one. The functions load Spark when they are first named, not when this module is imported.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rheostat.runtime.ends.rate import rate
    from rheostat.runtime.ends.replay import replay
    from rheostat.runtime.ends.seeded_random import Draw, Zipf

__all__ = ["Draw", "Zipf", "rate", "replay"]
_HOMES = {"Draw": "seeded_random", "Zipf": "seeded_random", "rate": "rate", "replay": "replay"}


def __getattr__(name: str) -> Any:
    """A source by its name, imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"rheostat.runtime.ends.{_HOMES[name]}"), name)
