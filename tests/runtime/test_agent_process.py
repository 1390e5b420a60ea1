"""What a killed agent has left running is ended before others take over; what is not its own is left alone."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

import pytest

from rheostat.runtime.agent_address import address_file
from rheostat.runtime.agent_process import AgentProcess, group_of, is_alive
from rheostat.runtime.spark_settings import SparkSettings

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
def group(request):
    environment = {**os.environ, "PYSPARK_PYTHON": f"{getattr(request, 'param', WORKERS)}/python"}
    command = [sys.executable, "-c", LEADER]
    leader = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    yield Group(leader, int(leader.stdout.readline()))
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()
    leader.stdout.close()


def left_in(root, group):
    """A controller that comes later, and finds only what the agent told of itself."""
    path = address_file(root, "n1")
    path.parent.mkdir(parents=True)
    told = {"port": 1, "pid": group.leader.pid, "token": "", "up": True, "workers": WORKERS}
    path.write_text(json.dumps(told))
    return AgentProcess("n1", 1, root, SparkSettings())


def test_what_a_killed_agent_has_left_is_ended(group, tmp_path):
    agent = left_in(tmp_path, group)
    assert agent.is_up
    group.kill_leader()
    assert not agent.is_up
    assert is_alive(group.child)
    agent.bury()
    assert group_of(group.leader.pid) == []
    assert not is_alive(group.child)


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
