"""Warm-up of an idle node: runs and changes a small application on its Spark, in a folder that is removed.

A Spark that has run nothing yet loads and compiles for many seconds when it gets its first operator, whose rows wait
meanwhile. Every application needs the same parts: sources, channels, Python processes, state, and moves of state.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from rheostat.app import App, operator
from rheostat.logs import room_logger
from rheostat.machine.waits import wait_until
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.ends.rate import rate
from rheostat.runtime.ends.seeded_random import Draw
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

ROWS, KEYS = 40, 5
PATIENCE_SECONDS = 90.0
LOOK_SECONDS = 0.1
STAGE = Infrastructure("rehearsal", (Node("left", 8), Node("right", 8)))
SETTINGS = RuntimeSettings(key_groups=2, trigger_ms=0, patience_seconds=PATIENCE_SECONDS)
FIRST = Deployment.single({"lines": "left", "passed": "left", "counted": "left", "results": "left"})
SECOND = Deployment.of(
    {"lines": {"left": 1}, "passed": {"right": 1}, "counted": {"left": 1, "right": 1}, "results": {"left": 1}}
)


class Interrupted(Exception):
    """Ends a warm-up: the node has an order."""


def row(draw: Draw) -> tuple[str]:
    """One of a few words."""
    return (f"word {draw.index % KEYS}",)


def lines(spark: SparkSession, **parameters: Any) -> DataFrame:
    """Source of a few words."""
    return rate(spark, rows=f"{__name__}:row", schema="word string", **parameters)


@operator(max_replicas=2)
def passed(lines: DataFrame) -> DataFrame:
    """Operator with Python code and without state."""

    def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    return lines.mapInPandas(same, lines.schema)


@operator(key="word", output="update", max_replicas=2)
def counted(lines: DataFrame) -> DataFrame:
    """Operator with state."""
    return lines.groupBy("word").count()


def application() -> Application:
    """The application of the warm-up."""
    app = App("rehearsal")
    app.source("lines", lines, rate_tps=ROWS, parameters={"curve": str(ROWS), "total": ROWS, "pace": "all"})
    app.operator(passed, reads="lines")
    app.operator(counted, reads="passed")
    app.sink("results", reads="counted")
    return app.build()


def warmed_up(spark: SparkSession, folder: Path, is_wanted: Callable[[], bool] = lambda: False) -> bool:
    """Whether the warm-up came to its end: not if the node gets an order meanwhile, or if a step fails."""
    try:
        with _stage(folder), embedded(application(), STAGE, folder, spark, SETTINGS) as runtime:
            runtime.launch(FIRST)
            _wait(lambda: len(runtime.results("results")) > 0 and runtime.is_drained(), is_wanted)
            runtime.deploy(SECOND)
            _wait(runtime.is_drained, is_wanted)
    except Interrupted:
        return False
    except Exception as failure:
        # Whatever it is, the node is as able as before; or it is just being ended.
        room_logger("runtime").warning("the warm-up failed, which does no harm: %s", failure)
        return False
    return True


@contextmanager
def _stage(folder: Path) -> Iterator[None]:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(reached: Callable[[], bool], is_wanted: Callable[[], bool]) -> None:
    def is_over() -> bool:
        if is_wanted():
            raise Interrupted
        return reached()

    if not wait_until(is_over, PATIENCE_SECONDS, look_seconds=LOOK_SECONDS):
        raise TimeoutError(f"not ready after {PATIENCE_SECONDS:g} s")
