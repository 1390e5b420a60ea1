"""Several logical nodes in one process and one Spark application: light, for one machine."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.schema_discovery import discover_columns
from rheostat.runtime.reconfigure.runtime import Runtime


@contextmanager
def embedded(
    application: Application,
    infrastructure: Infrastructure,
    root: Path,
    spark: SparkSession,
    settings: RuntimeSettings | None = None,
    *,
    nodes: Mapping[str, NodePort] | None = None,
    monitor: CollectorSettings | None = None,
) -> Iterator[Runtime]:
    """The runtime of an application whose nodes all live in this process; everything is stopped at the end."""
    root.mkdir(parents=True, exist_ok=True)
    layout = RunPaths(root)
    columns = discover_columns(spark, application)
    blueprint = Blueprint(application, infrastructure, layout, columns, settings or RuntimeSettings())
    journal = SqliteJournal(layout.journal)
    own = {node.name: SparkNode(node.name, spark, root) for node in infrastructure.nodes}
    runtime = Runtime(blueprint, nodes or own, journal, monitor)
    try:
        yield runtime
    finally:
        runtime.stop()
        journal.close()
