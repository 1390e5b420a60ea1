"""Processes that a killed agent has left running end before a failover; processes of others are left alone."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

import pytest
from tests.cli.quiet_nodes import WORDS

from rheostat.controller.bring_up import Launch, dismiss_strays
from rheostat.machine.processes import environment_of, group_of, is_alive
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.run_settings import NodeForm
from rheostat.runtime.nodes import agent_process
from rheostat.runtime.nodes.agent_address import address_file
from rheostat.runtime.nodes.agent_process import AGENT_MODULE, AgentProcess
from rheostat.runtime.spark.spark_settings import SparkSettings

LEADER = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
print(child.pid, flush=True)
time.sleep(120)
"""
WORKERS = "/nowhere/rheostat-workers-of-this-test"


@dataclass
class Group:
    """A process that leads a group, as an agent does, and what it has started."""

    leader: subprocess.Popen
    child: int

    def kill_leader(self):
        self.leader.kill()
        self.leader.wait()


@pytest.fixture
def group(request, tmp_path):
    environment = {**os.environ, "PYSPARK_PYTHON": f"{getattr(request, 'param', WORKERS)}/python"}
    command = [sys.executable, "-c", LEADER, AGENT_MODULE, "--node", "n1", "--root", str(tmp_path)]
    leader = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    yield Group(leader, int(leader.stdout.readline()))
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()
    leader.stdout.close()


def left_in(root, group, name="n1", port=1):
    """A controller that comes later, and finds only what the agent told of itself."""
    path = address_file(root, name)
    path.parent.mkdir(parents=True)
    told = {"port": port, "pid": group.leader.pid, "token": "", "up": True, "workers": WORKERS}
    path.write_text(json.dumps(told))
    return AgentProcess(name, 1, root, SparkSettings())


@pytest.fixture
def deaf_port(monkeypatch):
    """Where everybody is let in and nobody is answered, as by a process that was stopped."""
    monkeypatch.setattr(agent_process, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        yield deaf.getsockname()[1]


def test_what_a_killed_agent_has_left_is_ended(group, tmp_path):
    agent = left_in(tmp_path, group)
    assert agent.is_up
    group.kill_leader()
    assert not agent.is_up
    assert is_alive(group.child)
    agent.bury()
    assert group_of(group.leader.pid) == []
    assert not is_alive(group.child)


LEADER_OF_ONE_BEING_BORN = """
import subprocess, sys, time
asleep = [sys.executable, "-c", "import time; time.sleep(120)"]
born = "import os, sys; sys.stdin.readline(); os.execve(sys.argv[2], sys.argv[2:], {'WORKERS': sys.argv[1]})"
child = subprocess.Popen([sys.executable, "-c", born, sys.argv[1], *asleep], env={})
print(child.pid, flush=True)
time.sleep(120)
"""


def test_a_process_that_is_only_just_being_started_is_asked_again_for_its_environment():
    """Else it would be taken for a process of another group, and left alone when its agent was killed."""
    command = [sys.executable, "-c", LEADER_OF_ONE_BEING_BORN, WORKERS]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, bufsize=1, start_new_session=True) as leader:
        child, pauses = int(leader.stdout.readline()), iter(["now\n"])

        def give_birth(seconds):
            leader.stdin.write(next(pauses, ""))
            time.sleep(seconds)

        try:
            assert environment_of(child, give_birth) == {"WORKERS": WORKERS}
        finally:
            with suppress(ProcessLookupError):
                os.killpg(leader.pid, signal.SIGKILL)


@pytest.mark.parametrize("group", ["/nowhere/of-somebody-else"], indirect=True)
def test_a_group_of_somebody_else_with_the_same_number_is_left_alone(group, tmp_path):
    agent = left_in(tmp_path, group)
    group.kill_leader()
    agent.bury()
    assert is_alive(group.child)


def test_an_agent_that_runs_is_left_alone(group, tmp_path):
    left_in(tmp_path, group).bury()
    assert group.leader.poll() is None
    assert is_alive(group.child)


def test_an_agent_that_was_never_there_has_left_nothing(tmp_path):
    agent = AgentProcess("n1", 1, tmp_path, SparkSettings())
    agent.bury()
    assert not agent.is_up


def test_one_that_stands_still_is_ended_by_whoever_comes_to_adopt_it(group, tmp_path, deaf_port):
    os.killpg(group.leader.pid, signal.SIGSTOP)
    agent = left_in(tmp_path, group, port=deaf_port)
    assert agent.adopt() is None
    assert group.leader.wait(20) == -signal.SIGKILL
    assert group_of(group.leader.pid) == []
    assert "ended: it did not answer within 0.2 s" in (tmp_path / "agents" / "n1" / "agent.log").read_text()


def test_a_process_of_somebody_else_that_has_an_agents_number_by_now_is_left_alone(group, tmp_path, deaf_port):
    assert left_in(tmp_path, group, name="n2", port=deaf_port).adopt() is None
    assert group.leader.poll() is None
    assert is_alive(group.child)


class Deaf:
    """A node that can be told to answer."""

    answers = False

    def heartbeat(self, _patience_seconds):
        return self.answers

    def close(self):
        pass


def test_silent_is_who_is_there_and_does_not_answer(group, tmp_path):
    agent = left_in(tmp_path, group)
    assert not agent.is_silent(0.1), "it was never reached"
    agent._node, agent._adopted = Deaf(), group.leader.pid
    assert agent.is_silent(0.1)
    agent._node.answers = True
    assert not agent.is_silent(0.1)
    agent._node.answers = False
    group.kill_leader()
    assert not agent.is_silent(0.1), "a dead one need not answer"


def test_one_that_is_put_down_goes_with_all_it_has_started_even_if_it_was_stopped(group, tmp_path):
    agent = left_in(tmp_path, group)
    agent._adopted = group.leader.pid
    os.killpg(group.leader.pid, signal.SIGSTOP)
    agent.put_down("it is in the way")
    assert group.leader.wait(20) == -signal.SIGKILL
    assert group_of(group.leader.pid) == []
    assert "n1 was ended: it is in the way" in (tmp_path / "agents" / "n1" / "agent.log").read_text()


def launch(root, form, *names):
    infrastructure = Infrastructure("some", tuple(Node(name, 1.0) for name in names))
    return Launch(WORDS, infrastructure, root, form=form)


@pytest.mark.parametrize(
    ("form", "names", "stays"),
    [
        pytest.param(NodeForm.PROCESS, ("n1", "n2"), True, id="a node of the run: it goes on there"),
        pytest.param(NodeForm.PROCESS, ("n2",), False, id="a node that never joined, or was released"),
        pytest.param(NodeForm.EMBEDDED, ("n1", "n2"), False, id="the node is embedded now: it would be there twice"),
    ],
)
def test_agents_that_a_killed_controller_left_stay_if_the_run_has_their_node(group, tmp_path, form, names, stays):
    left_in(tmp_path, group)
    dismiss_strays(launch(tmp_path, form, *names))
    assert is_alive(group.leader.pid) == is_alive(group.child) == stays
    assert address_file(tmp_path, "n1").exists() == stays


def test_what_a_stray_that_is_dead_has_left_is_ended_and_a_process_of_somebody_else_is_not(group, tmp_path):
    left_in(tmp_path, group, name="n3")  # with the number of the agent of n1
    dismiss_strays(launch(tmp_path, NodeForm.PROCESS, "n2"))
    assert is_alive(group.leader.pid)
    left_in(tmp_path, group)
    group.kill_leader()
    dismiss_strays(launch(tmp_path, NodeForm.PROCESS, "n2"))
    assert not is_alive(group.child)
