"""The two forms of a node on Spark keep one contract."""

import shutil
from pathlib import Path

import pytest
from examples.word_count.answer import answer
from examples.word_count.app import application
from examples.word_count.sentences import sentence
from experiments.kinds import source
from tests.contracts.node import CheckpointsContract, NodeContract, await_true, status_of
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
def root(tmp_path):
    """The directory of the run."""
    return tmp_path


@pytest.fixture
def described(nodes_session, root):
    """The instance of an application that has an operator of a name, on n1 with all others that are fused with it."""

    def describe(app, operator, counts=None):
        settings = RuntimeSettings(key_groups=4)
        blueprint = Blueprint(app, ONE, RunPaths(root), discover_columns(nodes_session, app), settings)
        blueprint.create_channels()
        counts = {each.name: {"n1": (counts or {}).get(each.name, 1)} for each in app.operators}
        plan = physical_plan(app, Deployment.of(counts), 4)
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
def reading(described):
    """Two replicas that read a channel; nothing is written to it."""
    return described(application("60", total=SENTENCES, seed=SEED).build(), "counter", {"counter": 2})[1]


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


class CheckpointsOnSpark(CheckpointsContract):
    """Checkpoints that Spark writes."""


class InstancesOnSpark(NodeContract):
    """Instances that Spark runs, and what only they can show."""

    def test_killed_while_it_planned_its_first_batch_it_can_begin_again(self, node, spec, rows_out):
        """Found by killing: Spark refuses to begin where half a file lies, and the instance was started for ever."""
        torn = Path(spec.checkpoint) / "offsets" / ".0.ec0f3b1d.tmp"
        torn.parent.mkdir(parents=True)
        torn.write_text("v1")
        node.start(spec)
        assert await_true(rows_out)

    def test_an_error_of_the_user_names_operator_node_and_line(self, node, broken):
        node.start(broken)
        failed = await_true(lambda: status_of(node, broken) if status_of(node, broken).state == "failed" else None)
        assert failed.by_user
        assert "operator half on node n1" in failed.error
        assert "broken_operators.py" in failed.error


class TestEmbeddedNode(InstancesOnSpark, CheckpointsOnSpark):
    @pytest.fixture
    def node(self, nodes_session, root):
        node = SparkNode("n1", nodes_session, root)
        yield node
        node.kill()

    @pytest.fixture
    def kill(self, node):
        return node.kill


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """One process for all tests, which is started again after a test has killed it; and its directory."""
    root = tmp_path_factory.mktemp("agents")
    with node_processes(ONE, root) as (processes, nodes):
        yield processes, nodes, root


class TestProcessNode(InstancesOnSpark, CheckpointsOnSpark):
    @pytest.fixture
    def root(self, agents):
        """That of the agent; what a test has left there is removed."""
        yield agents[2]
        for folder in ("channels", "results", "control", "nodes/n1/checkpoints"):
            shutil.rmtree(agents[2] / folder, ignore_errors=True)

    @pytest.fixture
    def node(self, agents, root):  # noqa: ARG002 - it is to be stopped before its files are removed
        processes, nodes, _ = agents
        for node in processes.revive():
            nodes[node.name] = node
        yield nodes["n1"]
        if not processes.dead():
            for status in nodes["n1"].statuses():
                nodes["n1"].stop(status.name)

    @pytest.fixture
    def kill(self, agents):
        return lambda: agents[0].kill("n1")
