"""Node agents as processes: reached only with the token, killed with kill -9, exact all the same."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import httpx
import psutil
import pytest
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish, random_deployment

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.ports import Done
from rheostat.model.documents import write
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.agent_process import AgentProcess
from rheostat.runtime.nodes.node_processes import node_processes
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def test_agents_that_are_killed_during_changes_lose_nothing(tmp_path):
    one = subject("window", 6, 40.0, 40.0)
    two = Infrastructure("two", (Node("n1", 64), Node("n2", 64)))
    random = Random(11)
    with node_processes(two, tmp_path) as (processes, nodes):
        journal = SqliteJournal(RunPaths(tmp_path).journal)
        columns = nodes["n1"].columns(write(one.application))
        blueprint = Blueprint(one.application, two, RunPaths(tmp_path), columns, SETTINGS)
        runtime = Runtime(blueprint, nodes, journal)

        def anywhere():
            wanted = random_deployment(one.application, random)
            replaced = {name: {node.replace("n3", "n1"): n for node, n in r.counts} for name, r in wanted.items()}
            return type(wanted).of(replaced)

        runtime.launch(anywhere())
        kills = 0
        for number in range(4):
            if number == 1:
                processes.kill("n1")
                kills += 1
            elif number == 3:
                kill_java(processes.pid("n2"))
                wait_until(lambda: processes.dead() == ["n2"])
                kills += 1
            runtime.deploy(anywhere())
            for node in processes.revive():
                runtime.use(node)
            runtime.heal()
        assert kills == 2
        assert isinstance(runtime.deploy(anywhere()), Done)
        finish(runtime, one.total)
        assert one.differences(runtime.results(one.sink).to_pylist()) == (0, 0)
        port = next(iter(nodes.values())).port
        runtime.stop()
        journal.close()
        assert processes.dead() == []
        assert port is not None
        assert "node n2 has lost its Spark, and ends with it" in (tmp_path / "agents" / "n2" / "agent.log").read_text()
    wait_until(lambda: not is_answered(port))


def kill_java(agent):
    """What a machine that runs out of memory does; the agent itself lives on, and is of no use."""
    (java,) = [child for child in psutil.Process(agent).children() if child.name() == "java"]
    java.kill()


def is_answered(port):
    try:
        httpx.get(f"http://127.0.0.1:{port}/heartbeat", timeout=1)
    except httpx.TransportError:
        return False
    return True


def wait_until(reached, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_node_has_one_agent_however_many_start_one(tmp_path):
    """A controller that is killed while it starts an agent leaves it on its way; the next one starts another."""
    starters = [AgentProcess("n1", 2, tmp_path, SparkSettings()) for _ in range(2)]
    try:
        with ThreadPoolExecutor(2) as threads:
            nodes = list(threads.map(AgentProcess.start, starters))
        assert all(node.heartbeat() for node in nodes)
        assert starters[0].pid == starters[1].pid
        assert agents_of(tmp_path) == [starters[0].pid]
        late = AgentProcess("n1", 2, tmp_path, SparkSettings())
        starters.append(late)
        assert late.adopt().heartbeat()
        assert late.start().heartbeat(), "whoever does not look starts another, which ends, and finds it"
        assert agents_of(tmp_path) == [starters[0].pid]
    finally:
        for starter in starters:
            starter.stop()
    assert agents_of(tmp_path) == []
    assert not list(tmp_path.rglob("agent.json"))


def agents_of(root):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"rheostat.runtime.agent" in words and str(root).encode() in words:
                found.append(int(entry.name))
    return found
