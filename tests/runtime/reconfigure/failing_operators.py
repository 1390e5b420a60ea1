"""Operators that fail in as many ways as there are, each in a query of its own."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from experiments.kinds import source
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from tests.runtime.reconfigure.failing_helpers import refusing

from rheostat.app import App, operator
from rheostat.model.graph.application import Application


@operator()
def elsewhere(rows: DataFrame) -> DataFrame:
    return rows.mapInPandas(refusing, rows.schema)


@operator()
def columns(rows: DataFrame) -> DataFrame:
    def renamed(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame.rename(columns={"k": "key"})[["key"]]

    return rows.mapInPandas(renamed, "k string")


@operator()
def division(rows: DataFrame) -> DataFrame:
    return rows.select(F.lit(1) / (F.col("n") - 10))


@operator()
def text(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("CAST(k AS int) AS number")


class Deaf(StatefulProcessor):
    """Has the wrong signature."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        pass

    def handleInputRows(self, rows: Any) -> Iterator[Row]:  # noqa: N802 - Spark's name
        yield from rows

    def close(self) -> None:
        pass


@operator(key="k")
def deaf(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").transformWithState(Deaf(), "k string", "append", "none")


OPERATORS = (elsewhere, columns, division, text, deaf)


def application() -> Application:
    app = App("failing")
    parameters = {"rows": "experiments.kinds:row", "curve": "60", "total": 120}
    app.source("source", source, event_time="ts", parameters=parameters)
    for function in OPERATORS:
        app.operator(function, reads="source")
        app.sink(f"out-{function.__name__}", reads=function.__name__)
    return app.build()
