"""The two forms of a node keep one contract."""

import pytest
from examples.word_count.answer import answer
from examples.word_count.app import application
from examples.word_count.sentences import sentence
from experiments.kinds import source
from tests.contracts.node import NodeContract
from tests.runtime.nodes.broken_operators import TOTAL, half

from rheostat.app import App
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.observe.result_rows import read_results
from rheostat.runtime.ends.seeded_random import Draw
from rheostat.runtime.nodes.node_processes import node_processes
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.physical_plan import physical_plan
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.schema_discovery import discover_columns
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds
from rheostat.runtime.reconfigure.run_nodes import RunNodes

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
ONE = Infrastructure("one", (Node("n1", 8),))
SENTENCES, SEED = 60, 2


@pytest.fixture
def described(nodes_session, tmp_path):
    """The instance of an application that has an operator of a name, on n1 with all others that are fused with it."""

    def describe(app, operator):
        settings = RuntimeSettings(key_groups=4)
        blueprint = Blueprint(app, ONE, RunPaths(tmp_path), discover_columns(nodes_session, app), settings)
        blueprint.create_channels()
        plan = physical_plan(app, Deployment.of({each.name: {"n1": 1} for each in app.operators}), 4)
        instance = plan.with_operator(operator)[0]
        epoch = ChannelEnds(RunNodes(blueprint, {})).open_epoch(instance)
        return blueprint, blueprint.spec(instance, epoch.number, continues=epoch.continues)

    return describe


@pytest.fixture
def words(described):
    return described(application("60", total=SENTENCES, seed=SEED).build(), "split")


@pytest.fixture
def spec(words):
    return words[1]


@pytest.fixture
def rows_out(words):
    """Whether every word of every sentence has been counted, and none twice."""
    channel, wanted = words[0].results("consumer"), answer(sentence(Draw(SEED, n))[0] for n in range(SENTENCES))
    return lambda: {row["word"]: row["count"] for row in read_results(channel).to_pylist()} == wanted


@pytest.fixture
def broken(described, tmp_path):
    app = App("broken")
    parameters = {"rows": "experiments.kinds:row", "curve": "200", "total": TOTAL}
    app.source("source", source, event_time="ts", parameters=parameters)
    app.operator(half, reads="source", parameters={"flag": str(tmp_path / "never")})
    app.sink("out", reads="half")
    return described(app.build(), "half")[1]


class TestEmbeddedNode(NodeContract):
    @pytest.fixture
    def node(self, nodes_session):
        node = SparkNode("n1", nodes_session)
        yield node
        node.kill()

    @pytest.fixture
    def kill(self, node):
        return node.kill


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """One process for all of them, with a directory in which all of theirs lie; whoever needs it starts it again."""
    with node_processes(ONE, tmp_path_factory.mktemp("agents").parent) as found:
        yield found


class TestProcessNode(NodeContract):
    @pytest.fixture
    def node(self, agents):
        processes, nodes = agents
        for node in processes.revive():
            nodes[node.name] = node
        yield nodes["n1"]
        if not processes.dead():
            for status in nodes["n1"].statuses():
                nodes["n1"].stop(status.name)

    @pytest.fixture
    def kill(self, agents):
        return lambda: agents[0].kill("n1")
