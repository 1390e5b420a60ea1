"""State and key of an operator's function, read from the query plan that it makes of its input.

State moves by the key that an operator declares. A function that keeps state without one would begin anew with every
change, and one that keeps it by another key would have rows on the wrong node: both are reported before anything runs.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.types import StructType

from rheostat.errors import Mistake
from rheostat.model.graph.application import Operator

_KINDS = {
    "Aggregate": "an aggregation",
    "Deduplicate": "dropDuplicates",
    "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "TransformWithStateInPandas": "transformWithState",
    "TransformWithStateInPySpark": "transformWithState",
    "GlobalLimit": "a limit",
    "Join": "a join of streams",
}
"""Nodes of Spark's plans that keep state when they read a stream."""


@dataclass(frozen=True, slots=True)
class KeptState:
    """State of one node of a plan."""

    what: str
    by: tuple[str, ...] | None
    """Columns of the key; None for a join, which has two sides."""


def empty_stream(spark: SparkSession, schema: str) -> DataFrame:
    """A stream with these columns and no operations; it is never run."""
    columns = StructType.fromJson(json.loads(schema))
    nothing = (F.lit(None).cast(field.dataType).alias(field.name) for field in columns)
    return spark.readStream.format("rate").load().select(*nothing)


def kept_state(frame: DataFrame) -> list[KeptState]:
    """All state that a query of this frame would keep."""
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - Spark has no other way
    return [_kept(node) for node in _nodes(plan) if _keeps_state(node)]


def mistakes_of_state(operator: Operator, kept: list[KeptState], where: tuple[str | int, ...]) -> list[Mistake]:
    """Conflicts between the key that an operator declares and the state that its function keeps."""
    if kept and not operator.is_stateful:
        what = f"{operator.name!r} keeps state ({', '.join(each.what for each in kept)}) and declares no key"
        remedy = "make it a stateful operator with its key, by which its state is spread and moved"
        return [Mistake((*where, "key"), what, remedy)]
    found = []
    for each in kept:
        missing = [] if each.by is None else [column for column in operator.key if column not in each.by]
        if missing and operator.max_replicas > 1:
            by = f"by {', '.join(each.by)}" if each.by else "by nothing"
            what = f"{operator.name!r} keeps its state ({each.what}) {by}, not by its key {', '.join(missing)}"
            found.append(Mistake((*where, "key"), what, "declare a key that it groups by, or max_replicas: 1"))
    return found


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in _each(plan.children()):
        yield from _nodes(child)


def _keeps_state(node: Any) -> bool:
    if node.nodeName() not in _KINDS or not node.isStreaming():
        return False
    return node.nodeName() != "Join" or all(child.isStreaming() for child in _each(node.children()))


def _kept(node: Any) -> KeptState:
    name = node.nodeName()
    match name:
        case "Aggregate":
            by = node.groupingExpressions()
        case "Deduplicate" | "DeduplicateWithinWatermark":
            by = node.keys()
        case "FlatMapGroupsInPandasWithState":
            by = node.groupingAttributes()
        case "TransformWithStateInPandas" | "TransformWithStateInPySpark":
            by = node.children().apply(0).output().take(node.groupingAttributesLen())
        case "GlobalLimit":
            return KeptState(_KINDS[name], ())
        case _:
            return KeptState(_KINDS[name], None)
    return KeptState(_KINDS[name], tuple(_column(part) for part in _each(by)))


def _column(expression: Any) -> str:
    """The name of a column; for a computed expression, its text."""
    is_column = expression.getClass().getSimpleName() == "AttributeReference"
    return str(expression.name() if is_column else expression.sql())


def _each(sequence: Any) -> Iterator[Any]:
    iterator = sequence.iterator()
    while iterator.hasNext():
        yield iterator.next()
