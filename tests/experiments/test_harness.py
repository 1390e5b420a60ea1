"""The harness of the experiments on Spark, without Spark: a whole run on quiet nodes, and processes that are killed."""

import sys
import time
from contextlib import contextmanager

import pytest
from experiments.spark.stage import Piece, Stage, perform
from experiments.spark.victims import CONTROLLER, Victim
from experiments.spark.workload import Load
from tests.cli.quiet_nodes import SCHEMA, THREE, WORDS

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller.bring_up import Opened
from rheostat.machine.processes import is_alive
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.nodes.memory_node import MemoryNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime

AT_FIRST = Deployment.of({operator.name: {"n1": 1} for operator in WORDS.operators})
ELSEWHERE = Deployment.of({name: {"n2": 2} if name == "split" else {"n1": 1} for name in WORDS.by_name})


class DoneNode(MemoryNode):
    """One on which everything has done a batch, and has nothing more to do."""

    def start(self, spec):
        super().start(spec)
        self.show(InstanceStatus(spec.name, "running", planned=0, committed=0, resting=True))


def quietly(root):
    @contextmanager
    def opening(monitor):
        columns = {operator.name: Columns(SCHEMA) for operator in WORDS.operators}
        journal = SqliteJournal(RunPaths(root).journal)
        blueprint = Blueprint(WORDS, THREE, RunPaths(root), columns, RuntimeSettings(key_groups=4, patience_seconds=20))
        runtime = Runtime(blueprint, {node.name: DoneNode(node.name) for node in THREE.nodes}, journal, monitor)
        try:
            yield Opened(runtime)
        finally:
            runtime.stop()
            journal.close()

    return opening


def test_a_run_is_watched_until_nothing_comes_any_more_and_all_of_it_is_kept(tmp_path):
    seen = []

    def watch(controller, seconds):
        if not seen:
            controller.change(ELSEWHERE)
        seen.append(seconds)

    stage = Stage(WORDS, THREE, AT_FIRST, 1.0, "out", lambda rows: (3 - len(rows), 0))
    piece = Piece("hold", ControlSettings("none", period_seconds=0.9))
    done = perform(stage, tmp_path, quietly(tmp_path), piece, watch)
    assert (done.name, done.lost, done.duplicated, done.is_exact) == ("hold", 3, 0, False)
    assert seen == sorted(seen)
    assert seen[-1] > 1.0
    assert [(move.operator, move.by) for move in done.moves] == [("split", 1)]
    assert {"launch", "change"} <= {entry.kind for entry in done.entries}
    assert done.recording.replicas["split"][-1] == 2


def test_what_never_comes_to_an_end_is_given_up(tmp_path):
    stage = Stage(WORDS, THREE, AT_FIRST, 0.5, "out", lambda _: (0, 0), patience_seconds=0.5)
    with pytest.raises(TimeoutError, match=r"0\.5 s after the end"):
        perform(stage, tmp_path, quietly(tmp_path), Piece("hold", ControlSettings("none")))


AGENT = """
import json, os, pathlib, sys, time
path = pathlib.Path(sys.argv[1]) / "agents" / sys.argv[2]
path.mkdir(parents=True, exist_ok=True)
(path / "agent.tmp").write_text(json.dumps({"port": 1, "pid": os.getpid(), "token": ""}))
(path / "agent.tmp").replace(path / "agent.json")
time.sleep(120)
"""
RUN = f"""
import json, os, pathlib, subprocess, sys, time
from rheostat.machine.processes import is_alive
from rheostat.controller.controller_client import Address, write_address
root = pathlib.Path(sys.argv[1])
root.mkdir(exist_ok=True)
told = root / "agents" / "n1" / "agent.json"
def pid():
    return json.loads(told.read_text())["pid"] if told.exists() else 0
agent = None
while True:
    if not is_alive(pid()) and (agent is None or agent.poll() is not None):
        command = [sys.executable, "-c", {AGENT!r}, str(root), "n1", "like rheostat.runtime.agent"]
        agent = subprocess.Popen(command, start_new_session=True)
    write_address(root, Address(1, "", os.getpid()))
    time.sleep(0.05)
"""


class Pretended(Victim):
    """Something that keeps an agent as `rheostat run` does, and does nothing else."""

    def command(self):
        return [sys.executable, "-c", RUN, str(self.directory), "like rheostat.cli.main"]


def until(reached):
    deadline = time.monotonic() + 60
    while not (found := reached()):
        assert time.monotonic() < deadline, "out of patience"
        time.sleep(0.05)
    return found


def test_whoever_is_killed_is_told_of_when_it_is_back(tmp_path):
    victim = Pretended(Load().stage(), tmp_path, ("--control", "edf"))
    assert {path.name for path in tmp_path.glob("*.yaml")} == {"application.yaml", "nodes.yaml", "deployment.yaml"}
    assert not victim.kill(CONTROLLER)
    assert not victim.kill("n1")
    victim.start()
    try:
        first = until(lambda: victim.pid(CONTROLLER))
        agent = until(lambda: victim.pid("n1"))
        assert victim.kill("n1")
        assert [who for who, _ in until(victim.back)] == ["n1"]
        again = victim.pid("n1")
        assert again not in (None, agent)
        assert victim.kill(CONTROLLER)
        assert victim.ended() is not None
        assert is_alive(again), "agents outlive their controller"
        assert victim.back() == []
        victim.start()
        assert [who for who, _ in until(victim.back)] == [CONTROLLER]
        assert victim.pid(CONTROLLER) != first
        assert victim.pid("n1") == again
    finally:
        victim.end()
    assert victim.pid(CONTROLLER) is None
    until(lambda: victim.pid("n1") is None)
