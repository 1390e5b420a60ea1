"""The node in memory keeps the contract of all nodes, and so does the node behind HTTP that asks it."""

from contextlib import ExitStack, closing

import pytest
from tests.contracts.node import CheckpointsContract, NodeContract
from tests.runtime.agent.test_heard import TOKEN, served

from rheostat.errors import RuntimeFault
from rheostat.runtime.agent.agent_api import agent_app
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.memory_node import MemoryNode
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.instance_spec import Input, InstanceSpec, OperatorStep


def instance(root, *operators, inputs=()):
    name = f"{operators[0]}@n1"
    steps = tuple(OperatorStep(each, "a:b", "stateful" if each == "count" else "stateless") for each in operators)
    checkpoint = str(root / "nodes" / "n1" / "checkpoints" / name / "1")
    return InstanceSpec(name, "n1", steps, 1, "0-3" if inputs else "", checkpoint, str(root / "control"), inputs)


@pytest.fixture
def memory():
    """Every question for the statuses lets the instances run another batch."""
    return MemoryNode("n1", is_working=True)


@pytest.fixture
def spec(tmp_path):
    return instance(tmp_path, "source", "count")


@pytest.fixture
def reading(tmp_path):
    channel = str(tmp_path / "channels" / "source--split")
    return instance(tmp_path, "split", inputs=(Input(channel, "{}"),))


@pytest.fixture
def rows_out(memory, spec):
    return lambda: next(one for one in memory.statuses() if one.name == spec.name).committed >= 3


class InstancesInMemory(NodeContract):
    """Instances that are run by `advance`."""


class CheckpointsInMemory(CheckpointsContract):
    """Checkpoints in a dictionary."""


class TestMemoryNode(InstancesInMemory, CheckpointsInMemory):
    @pytest.fixture
    def node(self, memory):
        return memory

    @pytest.fixture
    def kill(self, memory):
        return memory.kill


class TestMemoryNodeBehindHttp(InstancesInMemory, CheckpointsInMemory):
    @pytest.fixture
    def server(self, memory, tmp_path):
        with ExitStack() as ending:
            port = ending.enter_context(served(agent_app(memory, TOKEN, tmp_path, lambda _: {})))
            yield port, ending.close

    @pytest.fixture
    def node(self, server):
        with closing(RemoteNode("n1", server[0], TOKEN)) as node:
            yield node

    @pytest.fixture
    def kill(self, server):
        return server[1]

    def test_a_complaint_of_the_agent_is_raised_here(self, memory, node, tmp_path):
        memory.complaints["build"] = "the disk is full"
        with pytest.raises(RuntimeFault, match="the disk is full"):
            node.checkpoints.build(StateJob("copy", str(tmp_path / "a"), ((str(tmp_path / "b"), "0"),), "0", 1, (), 1))

    def test_a_node_asks_another_one_only_for_what_it_measures(self, server, spec):
        with closing(RemoteNode("n1", server[0], TOKEN, by_peer=True)) as peer:
            assert list(peer.statuses()) == []
            with pytest.raises(ValueError, match="may not send"):
                peer.start(spec)
