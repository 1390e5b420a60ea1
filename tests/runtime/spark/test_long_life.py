"""Remains of queries in Spark's process do not grow with the number of queries run."""

import gc
import time

import pytest
from experiments.subjects import subject
from experiments.walks import NODES, SETTINGS, three_nodes

from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.reconfigure.embedded_nodes import embedded
from rheostat.runtime.spark import query_threads as spark_threads

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
STARTS = 5
ROUNDS = 8
KEPT_VERSIONS = 10
PATIENCE_SECONDS = 90.0


def threads(session):
    bean = session._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
    return [info.getThreadName() for info in bean.getThreadInfo(bean.getAllThreadIds()) if info is not None]


def partners(session):
    """Of our threads, which Spark's side names by number."""
    return sum(name.startswith("Thread-") for name in threads(session))


def everything_on(node, application):
    return Deployment.of({operator.name: {node: 1} for operator in application.operators})


def versions(folder):
    """Of the state below a folder, those whose changes are kept."""
    return sorted(int(file.stem) for file in folder.rglob("*.changelog") if file.stem.isdigit())


def test_old_versions_of_state_are_removed_while_a_query_runs(nodes_session, tmp_path):
    one = subject("count", 1, 50.0, 3600.0)
    with embedded(one.application, three_nodes(), tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(everything_on("n1", one.application))
        # Spark forgets what lies before the last but one snapshot, a few of its rounds of maintenance later.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not min(versions(tmp_path), default=0) > 1:
            assert time.monotonic() < deadline, f"nothing was removed of {versions(tmp_path)}"
            time.sleep(0.5)
    kept = versions(tmp_path)
    assert kept[-KEPT_VERSIONS:] == list(range(kept[-1] - KEPT_VERSIONS + 1, kept[-1] + 1))


def test_threads_and_sessions_of_stopped_queries_are_given_back(nodes_session, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_threads, "STARTS_BETWEEN_CLEANING", STARTS)
    one = subject("count", 1, 20.0, 3600.0)

    # What tests before this one have left in the same process is not ours.
    before = partners(nodes_session)
    with embedded(one.application, three_nodes(), tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(everything_on("n1", one.application))
        for number in range(ROUNDS):
            runtime.deploy(everything_on(NODES[(number + 1) % 3], one.application))
        gc.collect()
        after = threads(nodes_session)
    assert sum(name.startswith(spark_threads.MONITOR) for name in after) <= 2 * STARTS
    assert partners(nodes_session) - before <= 2 * spark_threads.THREADS
