"""Patches of two faults of Spark on a local disk, applied inside its JVM.

Hadoop starts a process for every file that it creates, to set its permissions, and Spark leaves three descriptors open
whenever it starts a query with a Python source. Each alone is bearable, together they are not: a process that is
started closes the descriptors that its parent has open, so that after some hundred changes a `chmod` takes eighty
milliseconds instead of four, six to eight times per batch with state. After some thousand changes no descriptors are
left.

There is no setting for either. The few lines of Java beside this file are compiled where they run, by Janino, which
Spark uses for the code that it generates: no Java compiler has to be installed.
"""

from importlib.resources import files
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from rheostat.logs import room_logger

PATCHES = ("DirectFiles", "ForgottenSelectors")
"""Patch classes beside this file, each applied to Hadoop's configuration."""
_DONE = "rheostat.mended"

_log = room_logger("runtime")


def apply_patches(spark: SparkSession) -> tuple[str, ...]:
    """Applies the patches to the driver of a session, once, and returns the names of those applied.

    On an unknown Java version a patch may be impossible; Spark then stays as it was.
    """
    system = _jvm(spark).java.lang.System
    if system.getProperty(_DONE) is None:
        system.setProperty(_DONE, " ".join(name for name in PATCHES if _applied(spark, name)))
    return tuple(system.getProperty(_DONE).split())


def _applied(spark: SparkSession, name: str) -> bool:
    try:
        _compiled(spark, name).accept(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
    except Py4JError as failure:
        _log.warning("%s cannot be applied: %s", name, failure)
        return False
    return True


def _compiled(spark: SparkSession, name: str) -> Any:
    """An object of the class whose source is beside this file."""
    jvm = _jvm(spark)
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(files(__package__).joinpath(f"{name}.java").read_text(encoding="utf-8"))
    found = compiler.getClassLoader().loadClass(name)
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark has no public way
    no_types, no_values = gateway.new_array(jvm.java.lang.Class, 0), gateway.new_array(jvm.java.lang.Object, 0)
    return found.getDeclaredConstructor(no_types).newInstance(no_values)


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm  # noqa: SLF001 - PySpark has no public way
