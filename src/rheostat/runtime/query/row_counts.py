"""Row counts that need no counting: the number of rows is known from the structure of the query.

Counting with `observe` costs ten to twenty milliseconds a batch, however few the rows, and cuts Spark's compiled code
in two. An operator that only adds or renames columns emits as many rows as it was given, a source that does nothing
else emits as many as were read, and the writer counts rows written by `foreachBatch`.

Behind a function of the user's rows are counted all the same: an observation also keeps Spark from pushing the next
operator's filter below it, and so from calling the function once for the filter and once more for its result.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from rheostat.runtime.query.udf_timing import BATCHES_KEPT

READ = "read"
"""Name for all rows read by a batch."""
ROW_BY_ROW = frozenset(
    {"Project", "SubqueryAlias", "EventTimeWatermark", "CollectMetrics", "Repartition", "RepartitionByExpression"}
)
"""Nodes of Spark's analysed plans that emit one row for every row. A node that explodes, filters or calls Python over
whole batches has another name, even inside a `select`."""


def input_observation(operator: str) -> str:
    """Name of the observation of the rows that an operator inside the chain receives."""
    return f"to:{operator}"


def channel_observation(channel: str) -> str:
    """Name of the observation of the rows that the first operator receives from a channel."""
    return f"from:{channel}"


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Row counts of one start of an instance that need no observation."""

    same_as: dict[str, str] = field(default_factory=dict)
    """For each omitted observation, by name: the one that counts the same rows, or `READ`."""
    written: dict[int, int] = field(default_factory=dict)
    """Rows by batch, for writers that Spark does not count."""

    def record_written(self, batch: int, rows: int) -> None:
        """Records the rows written in a batch."""
        self.written[batch] = rows
        for old in [number for number in self.written if number <= batch - BATCHES_KEPT]:
            del self.written[old]

    def completed(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """A report of Spark with the omitted counts added where they are known."""
        observed = dict(report.get("observedMetrics") or {})
        for name, other in self.same_as.items():
            if other == READ:
                observed[name] = {"rows": sum(int(source["numInputRows"]) for source in report.get("sources") or [])}
            elif other in observed:
                observed[name] = observed[other]
        found = {**report, "observedMetrics": observed}
        if (rows := self.written.get(int(report["batchId"]))) is not None:
            found["sink"] = {**(report.get("sink") or {}), "numOutputRows": rows}
        return found


def equal_observation(frame: DataFrame, observed: set[str]) -> str | None:
    """The observation that counts the same rows as the frame, or `READ` for all rows read; None if neither does."""
    node: Any = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no public way
    while True:
        children, kind = node.children(), str(node.nodeName())
        if kind == "CollectMetrics" and node.name() in observed:
            return str(node.name())
        if children.isEmpty():
            return READ
        if kind not in ROW_BY_ROW or _calls_functions(frame, node):
            return None
        node = children.head()


def _calls_functions(frame: DataFrame, node: Any) -> bool:
    """Whether the columns of a plan node contain functions of the user."""
    patterns = frame.sparkSession._jvm.org.apache.spark.sql.catalyst.trees.TreePattern  # type: ignore[union-attr]  # noqa: SLF001
    called, columns = (patterns.PYTHON_UDF(), patterns.SCALA_UDF()), node.expressions()
    return any(columns.apply(number).containsPattern(pattern) for number in range(columns.size()) for pattern in called)
