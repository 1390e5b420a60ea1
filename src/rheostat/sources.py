"""Sources that bring the same rows again after a crash, and emulated load.

| name | meaning |
|---|---|
| `rate` | a stream of generated rows, as many per second as a curve says |
| `replay` | the rows of a recording (CSV, JSON lines, Parquet) at the speed of their event time, or a multiple |
| `Draw`, `Zipf` | the repeatable randomness that a generator is given |
| `with_service_time` | the same rows after so many milliseconds for each: emulated work |

Any streaming DataFrame of Spark is a source as well: a source of an application is a function `f(spark, **parameters)`
that returns one. Spark is loaded when one of these names is first used, not when this module is imported.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rheostat.runtime.ends.emulated_delay import with_service_time
    from rheostat.runtime.ends.rate import rate
    from rheostat.runtime.ends.replay_source import replay
    from rheostat.runtime.ends.seeded_random import Draw, Zipf

__all__ = ["Draw", "Zipf", "rate", "replay", "with_service_time"]
_HOMES = {
    "Draw": "seeded_random",
    "Zipf": "seeded_random",
    "rate": "rate",
    "replay": "replay_source",
    "with_service_time": "emulated_delay",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used and then kept here."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"rheostat.runtime.ends.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
