"""Nodes whose Spark is a cluster: their executors are processes that inherit nothing of the agents."""

import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish
from tests.runtime.nodes.standalone import HOST, standalone_cluster

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.ports import Done
from rheostat.model.documents import write
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.node_processes import node_processes
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = [pytest.mark.spark, pytest.mark.acceptance, pytest.mark.timeout(600)]
TWO = Infrastructure("two", (Node("n1", 6), Node("n2", 4)))


def test_two_nodes_that_share_a_cluster_change_their_deployment_and_lose_nothing(tmp_path):
    one = subject("row-state", 6, 40.0, 25.0)
    names = [operator.name for operator in one.application.operators]
    kept = next(operator.name for operator in one.application.operators if operator.is_stateful)
    here = {name: {"n1": 1} for name in names}
    with standalone_cluster(tmp_path, cores=10) as address:
        settings = SparkSettings(address, {"spark.driver.host": HOST})
        with node_processes(TWO, tmp_path, settings) as (processes, nodes):
            journal = SqliteJournal(RunPaths(tmp_path).journal)
            columns = nodes["n1"].columns(write(one.application))
            runtime = Runtime(Blueprint(one.application, TWO, RunPaths(tmp_path), columns, SETTINGS), nodes, journal)
            runtime.launch(Deployment.of(here))
            for replicas in ({"n1": 2}, {"n1": 1, "n2": 2}, {"n2": 1}):
                assert isinstance(runtime.deploy(Deployment.of({**here, kept: replicas})), Done)
            processes.kill("n2")
            for node in processes.revive():
                runtime.use(node)
            finish(runtime, one.total)
            assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)
            runtime.stop()
            journal.close()
