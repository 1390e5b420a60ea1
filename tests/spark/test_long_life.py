"""What a node leaves behind in Spark's process does not grow with the queries it has run."""

import gc

import pytest
from experiments.subjects import subject
from experiments.walks import NODES, SETTINGS, three_nodes

from rheostat.model.deployment import Deployment
from rheostat.runtime import spark_threads
from rheostat.runtime.embedded import embedded

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
STARTS = 5
ROUNDS = 8


def threads(session):
    bean = session._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
    return [info.getThreadName() for info in bean.getThreadInfo(bean.getAllThreadIds()) if info is not None]


def partners(session):
    """Of our threads, which Spark's side names by number."""
    return sum(name.startswith("Thread-") for name in threads(session))


def test_threads_and_sessions_of_stopped_queries_are_given_back(nodes_session, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_threads, "STARTS_BETWEEN_CLEANING", STARTS)
    one = subject("count", 1, 20.0, 3600.0)

    def everything_on(node):
        return Deployment.of({operator.name: {node: 1} for operator in one.application.operators})

    # What tests before this one have left in the same process is not ours.
    before = partners(nodes_session)
    with embedded(one.application, three_nodes(), tmp_path, nodes_session, SETTINGS) as runtime:
        runtime.launch(everything_on("n1"))
        for number in range(ROUNDS):
            runtime.deploy(everything_on(NODES[(number + 1) % 3]))
        gc.collect()
        after = threads(nodes_session)
    assert sum(name.startswith(spark_threads.MONITOR) for name in after) <= 2 * STARTS
    assert partners(nodes_session) - before <= 2 * spark_threads.THREADS
