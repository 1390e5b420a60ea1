"""The runtime keeps the contracts of all worlds: here on nodes that do nothing, in `test_world_on_spark` on Spark."""

import pytest
from tests.cli.quiet_nodes import THREE, quiet_run
from tests.contracts.world import ActuatorContract, NodeProviderContract

from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.ports import Done
from rheostat.controller.bring_up import recorded_infrastructure
from rheostat.controller.node_provider import LocalProvider
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Node
from rheostat.runtime.nodes.memory_node import MemoryNode

KINDS = (Node("small", 2.0, price_per_hour=0.1), Node("large", 8.0))


class OneWorld:
    """All ports of a running application in one, as the contract suites take them."""

    def __init__(self, runtime, provider=None):
        self.runtime, clock = runtime, SystemClock()
        for port in (runtime, provider, clock):
            for name in ("samples", "deployment", "infrastructure", "apply", "kinds", "start", "failure"):
                if hasattr(port, name) and not hasattr(self, name):
                    setattr(self, name, getattr(port, name))
        if provider is not None:
            self.stop = provider.stop
        self.now_seconds, self.wait_until = clock.now_seconds, clock.wait_until


@pytest.fixture
def running(tmp_path):
    with quiet_run(tmp_path / "app") as found:
        yield found


@pytest.fixture
def taken_down():
    return []


@pytest.fixture
def provider(running, taken_down):
    found = LocalProvider(running.controller.runtime, KINDS, lambda node: MemoryNode(node.name), taken_down.append)
    yield found
    found.close()


@pytest.fixture
def world(running, provider):
    return OneWorld(running.controller.runtime, provider)


class TestActuator(ActuatorContract):
    @pytest.fixture
    def world(self, running):
        """With room on n1 for one more."""
        world = OneWorld(running.controller.runtime)
        before = world.deployment()
        world.apply(Reconfiguration.between(before, before.having("out", Replicas.on("n2"))))
        return world

    @pytest.fixture
    def operator(self):
        return "split"


class TestNodeProvider(NodeProviderContract):
    @pytest.fixture
    def start_seconds(self):
        return 0.3


def joined(world):
    name = world.start("small", "here")
    world.wait_until(world.now_seconds() + 0.3)
    return name


def test_a_node_that_has_joined_takes_replicas_and_gives_them_back(world, provider, taken_down):
    name = joined(world)
    before = world.deployment()
    there = before.having("split", Replicas.on(name))
    assert isinstance(world.apply(Reconfiguration.between(before, there)), Done)
    with pytest.raises(ValueError, match="not empty"):
        provider.stop(name)
    assert taken_down == [], "a node that is not empty runs on"
    assert isinstance(world.apply(Reconfiguration.between(there, before)), Done)
    provider.stop(name)
    assert taken_down == [name]
    assert name not in world.infrastructure().index


def test_whoever_takes_the_application_up_again_knows_the_nodes_that_had_joined(running, world, provider):
    name, other = joined(world), joined(world)
    provider.stop(other)
    known = recorded_infrastructure(running.directory, THREE)
    assert [node.name for node in known.nodes] == ["n1", "n2", "n3", name]
    assert known.nodes[-1].region == "here"


def test_a_node_that_does_not_come_up_is_told_and_forgotten(running, taken_down):
    def broken(node):
        raise OSError(f"{node.name} has no power")

    provider = LocalProvider(running.controller.runtime, KINDS, broken, taken_down.append)
    name = provider.start("small", "here")
    provider.close()
    assert provider.failure(name) == f"{name} has no power"
    assert taken_down == [name]
    assert name not in running.controller.runtime.infrastructure().index


def test_there_are_never_more_nodes_than_may_be(running):
    provider = LocalProvider(running.controller.runtime, KINDS, lambda node: MemoryNode(node.name), print, most=4)
    provider.start("small", "here")
    with pytest.raises(ValueError, match="limit reached"):
        provider.start("small", "here")
    provider.close()


def test_a_lost_node_is_not_up_and_what_ran_there_is_still_told(running, world):
    running.nodes["n1"].kill()
    running.controller.runtime.lose("n1")
    assert "n1" not in world.infrastructure().index
    assert world.deployment() == Deployment.of({name: {"n1": 1} for name in ("lines", "split", "out")})
    assert world.infrastructure() is world.infrastructure(), "managers compare by identity"
