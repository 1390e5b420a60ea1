"""Starts the Spark application of a node."""

import os
import sys
from socketserver import BaseServer
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from rheostat.runtime.spark.fork_server import HUNG_UP
from rheostat.runtime.spark.forked_python import start_fork_server
from rheostat.runtime.spark.jvm_patches import apply_patches
from rheostat.runtime.spark.spark_settings import SparkSettings


def create_session(settings: SparkSettings, slots: int, name: str = "rheostat") -> SparkSession:
    """Starts a session with a thread per slot; its Python workers are forks of this interpreter."""
    # Spark takes the workers' interpreter and path from the environment, not from its settings.
    python = start_fork_server() if settings.is_local else sys.executable
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = python
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    builder = SparkSession.builder.appName(name)
    for key, value in settings.resolved(slots).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    apply_patches(session)
    ignore_hang_ups(session.sparkContext._accumulatorServer)  # noqa: SLF001 - PySpark has no public way
    return session


def has_ended(session: SparkSession) -> bool:
    """Whether the session's Java process or Spark context has ended; calls to it are never answered then."""
    context = session.sparkContext
    java = getattr(context._gateway, "proc", None)  # noqa: SLF001 - PySpark has no public way
    if java is not None and java.poll() is not None:
        return True
    try:
        return bool(context._jsc.sc().isStopped())  # noqa: SLF001
    except Py4JError:
        return True


def end_session(session: SparkSession) -> None:
    """Stops the session's Spark if it runs."""
    if not has_ended(session):
        session.stop()


def ignore_hang_ups(server: BaseServer) -> None:
    """Makes a server of PySpark ignore closed connections: Spark connects again when it needs to.

    Spark closes a connection when a query is stopped in the middle of a batch, and a traceback for that would fill the
    terminal.
    """
    tell = server.handle_error

    def handle_error(request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), HUNG_UP):
            tell(request, client_address)

    server.handle_error = handle_error  # type: ignore[method-assign]


def activate(session: SparkSession) -> None:
    """Makes a session the active one of this thread: Spark looks data sources up there, not in a frame's session."""
    jvm_class = session._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]  # noqa: SLF001
    jvm_class.setActiveSession(session._jsparkSession)  # noqa: SLF001 - PySpark has no public way
