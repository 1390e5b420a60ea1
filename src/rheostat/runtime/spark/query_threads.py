"""Limits the number of threads in Spark's process, which otherwise grows with every query ever started.

Two kinds add up there. Every streaming source written in Python leaves a thread behind when its query ends ("Idle
Worker Monitor"); and every thread of ours that calls Spark gets a partner in Spark's process that outlives it. Each
such thread keeps the session in memory that it was created in, a third of a megabyte: after two thousand queries a heap
of a gigabyte was full.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")
THREADS = 16
_NAME = "spark-calls"
_pool = ThreadPoolExecutor(THREADS, _NAME)
_starts = count(1)
MONITOR = "Idle Worker Monitor"
STARTS_BETWEEN_CLEANING = 20


def in_spark_thread(act: Callable[[], T]) -> T:
    """Runs a function in one of a few threads that live as long as this process."""
    if threading.current_thread().name.startswith(_NAME):
        return act()
    return _pool.submit(act).result()


def end_idle_monitors(spark: SparkSession) -> None:
    """Ends idle monitors at every twentieth call; to be called for every query. Nodes of a process share the count."""
    if next(_starts) % STARTS_BETWEEN_CLEANING == 0:
        end_monitors(spark)


def end_monitors(spark: SparkSession) -> int:
    """Ends the monitors of Python workers that Spark does not end; returns their number.

    Those of workers in use end as well: they only end idle workers after a minute, and there are never more of these
    than tasks have run at once.
    """
    gateway, jvm = spark.sparkContext._gateway, spark._jvm  # noqa: SLF001 - PySpark has no public way
    if gateway is None or jvm is None:
        return 0
    group = jvm.java.lang.Thread.currentThread().getThreadGroup()
    while group.getParent() is not None:
        group = group.getParent()
    threads = gateway.new_array(jvm.java.lang.Thread, 2 * group.activeCount() + 16)
    ended = 0
    for number in range(group.enumerate(threads, True)):
        thread = threads[number]
        if thread.getName().startswith(MONITOR):
            thread.interrupt()
            ended += 1
    return ended
