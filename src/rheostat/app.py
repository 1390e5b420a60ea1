"""Applications in Python: a graph of PySpark functions.

```python
from pyspark.sql import DataFrame, functions as F
from rheostat import App, operator

@operator(max_replicas=4)
def split(sentences: DataFrame) -> DataFrame:
    return sentences.select(F.explode(F.split("text", " ")).alias("word"))

@operator(key="word", output="update", max_replicas=4)
def count(words: DataFrame) -> DataFrame:
    return words.groupBy("word").count()

app = App("word-count")
app.source("sentences", my_sentences, rate_tps=100)
app.operator(split, reads="sentences")
app.operator(count, reads="split")
app.sink("results", reads="count")
```

The result is the same `model.Application` that a YAML document describes: operators are named by import path, never
shipped as code, so the module must be importable on every node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rheostat.model.graph.application import (
    RESULTS_SINK,
    Application,
    Grouping,
    Kind,
    Operator,
    OutputMode,
    Stream,
)

Function = TypeVar("Function", bound=Callable[..., Any])

_DECLARED = "__rheostat_operator__"


@dataclass(frozen=True, slots=True)
class _Declared:
    """The options that `@operator` has given a function."""

    key: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]


def operator(
    *, key: str | Sequence[str] = (), output: str = "append", max_replicas: int = 1, **options: Any
) -> Callable[[Function], Function]:
    """Declares a function DataFrame -> DataFrame as an operator.

    With a `key` it is stateful: its state is partitioned by these columns of its input. `options` are further fields
    of `model.Operator` (min_replicas, pin, candidates, latency, state_bytes, event_time, ...).
    """
    columns = (key,) if isinstance(key, str) else tuple(key)

    def declare(function: Function) -> Function:
        options_ = {"output_mode": OutputMode(output), "max_replicas": max_replicas, **options}
        setattr(function, _DECLARED, _Declared(columns, tuple(options_.items())))
        return function

    return declare


def import_path(function: Callable[..., Any]) -> str:
    """The import path `package.module:function`, by which every node finds the code."""
    name = function.__qualname__
    if "<" in name or "." in name or function.__module__ == "__main__":
        raise ValueError(
            f"{function.__module__}:{name} cannot be imported by another process: "
            "define the function at the top level of an importable module"
        )
    return f"{function.__module__}:{name}"


class App:
    """A graph of operators and streams; `build()` returns the checked application."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._operators: list[Operator] = []
        self._streams: list[Stream] = []

    def source(self, name: str, function: Callable[..., Any], **options: Any) -> "App":
        """Adds a source: a function (spark, **parameters) -> streaming DataFrame."""
        options.setdefault("max_replicas", 1)
        self._operators.append(_operator(name, Kind.SOURCE, import_path(function), options))
        return self

    def operator(
        self,
        function: Callable[..., Any],
        *,
        reads: str | Sequence[str],
        name: str = "",
        grouping: str | Sequence[str] = "",
        selectivity: float = 1.0,
        **options: Any,
    ) -> "App":
        """Adds an operator: a function of one DataFrame per stream that it reads, in that order.

        Without a grouping a keyed operator gets its input by key, any other one shuffled.
        """
        declared: _Declared = getattr(function, _DECLARED, _Declared((), ()))
        kind = Kind.STATEFUL if declared.key else Kind.STATELESS
        merged = {**dict(declared.options), "key": declared.key, **options}
        name = name or function.__name__
        self._operators.append(_operator(name, kind, import_path(function), merged))
        default = Grouping.KEY if merged["key"] else Grouping.SHUFFLE
        self._read(name, reads, grouping, default, selectivity)
        return self

    def sink(
        self,
        name: str,
        function: Callable[..., Any] | None = None,
        *,
        reads: str | Sequence[str],
        grouping: str | Sequence[str] = "",
        **options: Any,
    ) -> "App":
        """Adds a sink: the exact results log, or a function DataFrame -> DataStreamWriter."""
        code = RESULTS_SINK if function is None else import_path(function)
        self._operators.append(_operator(name, Kind.SINK, code, options))
        self._read(name, reads, grouping, Grouping.SHUFFLE, 1.0)
        return self

    def build(self) -> Application:
        """The checked application; InvalidModel lists every mistake in it."""
        return Application(self._name, tuple(self._operators), tuple(self._streams))

    def _read(
        self,
        name: str,
        reads: str | Sequence[str],
        groupings: str | Sequence[str],
        default: Grouping,
        selectivity: float,
    ) -> None:
        sources = (reads,) if isinstance(reads, str) else tuple(reads)
        given = (groupings,) * len(sources) if isinstance(groupings, str) else tuple(groupings)
        if len(given) != len(sources):
            raise ValueError(f"{name} reads {len(sources)} streams but has {len(given)} groupings")
        for source, grouping in zip(sources, given, strict=True):
            self._streams.append(Stream(source, name, Grouping(grouping) if grouping else default, selectivity))


def _operator(name: str, kind: Kind, code: str, options: dict[str, Any]) -> Operator:
    parameters = tuple(sorted(dict(options.pop("parameters", {})).items()))
    return Operator(name, kind, code=code, parameters=parameters, **options)
