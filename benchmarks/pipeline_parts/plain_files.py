"""Spark as one has it without Rheostat, for what is written by hand."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pyspark.sql import SparkSession

MENDED = "by hand, files mended"
"""Not what one has by hand: it tells how much of a lead is the file system's."""


def files_of(way: str, spark: SparkSession) -> AbstractContextManager[None]:
    """The file system for one way of running: plain for what is called by hand, and for its query alone."""
    return nullcontext() if way in {MENDED, "Rheostat"} else plain_files(spark)


@contextmanager
def plain_files(spark: SparkSession) -> Iterator[None]:
    """Hadoop's own local file system for queries that are started inside: it starts a process for every file.

    Rheostat mends that in its sessions (`rheostat.runtime.spark`); a query written by hand does not have that.
    """
    conf: Any = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public way
    system = spark._jvm.org.apache.hadoop.fs.FileSystem  # noqa: SLF001 - the same
    mended = system.getLocal(conf)
    _use(spark, conf, system.newInstanceLocal(conf))
    try:
        yield
    finally:
        _use(spark, conf, mended)


def _use(spark: SparkSession, conf: Any, files: Any) -> None:
    """Makes this the local file system of all callers of Hadoop from now on."""
    java, gateway = spark._jvm.java, spark.sparkContext._gateway  # noqa: SLF001 - PySpark has no public way
    types, values = gateway.new_array(java.lang.Class, 3), gateway.new_array(java.lang.Object, 3)
    names = ("java.net.URI", "org.apache.hadoop.conf.Configuration", "org.apache.hadoop.fs.FileSystem")
    for place, (name, value) in enumerate(zip(names, (files.getUri(), conf, files), strict=True)):
        types[place], values[place] = java.lang.Class.forName(name), value
    put = types[2].getDeclaredMethod("addFileSystemForTesting", types)
    put.setAccessible(True)
    put.invoke(None, values)
