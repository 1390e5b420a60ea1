"""The runtime on Spark keeps the contracts of all worlds, so managers cannot tell it from the simulation."""

import pytest
from examples.word_count.app import application
from tests.contracts.world import ActuatorContract, NodeProviderContract, ProbeContract
from tests.runtime.reconfigure.test_world_contract import OneWorld

from rheostat.controller.node_provider import LocalProvider
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded

pytestmark = pytest.mark.spark

NODES = Infrastructure("two", (Node("n1", 8), Node("n2", 8)))
KINDS = (Node("small", 2.0, price_per_hour=0.1),)


@pytest.fixture(scope="module")
def world(nodes_session, tmp_path_factory):
    """One application for all: what a test changes, the next one finds changed."""
    folder = tmp_path_factory.mktemp("world")
    settings, monitor = RuntimeSettings(key_groups=12), CollectorSettings(1.0)
    with embedded(application("20").build(), NODES, folder, nodes_session, settings, monitor=monitor) as runtime:
        apart = {"datasource": {"n1": 1}, "split": {"n1": 1}, "counter": {"n2": 1}, "consumer": {"n1": 1}}
        runtime.launch(Deployment.of(apart))

        def start(node):
            return SparkNode(node.name, nodes_session, folder)

        provider = LocalProvider(runtime, KINDS, start, lambda _: None)
        yield OneWorld(runtime, provider)
        provider.close()


class TestProbe(ProbeContract):
    @pytest.fixture
    def patience_seconds(self, world):
        world.samples()
        return 1.1


class TestActuator(ActuatorContract):
    @pytest.fixture
    def operator(self, world):
        """As it was at first, so that one replica more fits."""
        wanted = world.deployment().having("counter", Replicas.on("n2"))
        assert not getattr(world.runtime.deploy(wanted), "reasons", ())
        return "counter"


class TestNodeProvider(NodeProviderContract):
    @pytest.fixture
    def start_seconds(self):
        return 0.5
