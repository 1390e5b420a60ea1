"""An application with an operator that raises until a file is there."""

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from experiments.kinds import source
from pyspark.sql import DataFrame

from rheostat.app import App, operator

TOTAL = 240


def use(flag: Path) -> None:
    os.environ["TESTS_MENDED_FLAG"] = str(flag)


@operator()
def half(rows: DataFrame, *, flag: str = "") -> DataFrame:
    place = flag or os.environ["TESTS_MENDED_FLAG"]

    def checked(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            if frame["n"].max() > 100 and not Path(place).exists():
                raise ValueError("not today")
            yield frame

    return rows.mapInPandas(checked, rows.schema)


@operator(key="k", output="update")
def count(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").count().withColumnRenamed("count", "c")


@operator()
def copy(rows: DataFrame) -> DataFrame:
    return rows


def application():
    app = App("broken")
    parameters = {"rows": "experiments.kinds:row", "curve": "60", "total": TOTAL}
    app.source("source", source, event_time="ts", parameters=parameters)
    app.operator(half, reads="source")
    app.operator(count, reads="half")
    app.sink("out", reads="count")
    app.operator(copy, reads="source")
    app.sink("copies", reads="copy")
    return app.build()
