"""The process of an agent: started by a controller or left by a former one, and sure to end."""

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.machine.processes import command_of, environment_of, group_of, is_alive
from rheostat.machine.waits import wait_until
from rheostat.runtime.nodes.agent_address import (
    TAKEN,
    TOKEN_VARIABLE,
    AgentAddress,
    agent_log,
    clear_leftovers,
    read_agent_address,
)
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.spark.spark_settings import SparkSettings

AGENT_MODULE = "rheostat.runtime.agent"
START_SECONDS = 120.0
"""Time limit for an agent to start its Spark."""
ANSWER_SECONDS = 25.0
"""Time limit for the answer of an agent whose Spark is up; after that it counts as hanging."""


def _has_left(found: AgentAddress) -> bool:
    """Whether an agent has ended, and a process that it had started has not.

    By now its number may be that of another process: those that it had started have its workers' Python in their
    environment.
    """
    if is_alive(found.pid) or not found.workers:
        return False
    members = (environment_of(member).values() for member in group_of(found.pid))
    return any(found.workers in value for values in members for value in values)


class AgentProcess:
    """The agent process of a node.

    With `linger_seconds` it outlives a controller that is killed for that time, and goes on with its work.
    """

    def __init__(
        self,
        name: str,
        slots: int,
        root: Path,
        settings: SparkSettings,
        *,
        token: str | None = None,
        linger_seconds: float = 0.0,
    ) -> None:
        self.name, self._slots, self._root, self._linger_seconds = name, slots, root, linger_seconds
        self._settings = settings.with_scratch(RunPaths(root).scratch(name))
        self._token = token or secrets.token_urlsafe(32)
        self._process: subprocess.Popen[bytes] | None = None
        self._adopted: int | None = None
        self._node: RemoteNode | None = None

    @property
    def is_up(self) -> bool:
        """Whether a former controller has left the agent running, with its Spark."""
        found = self._address()
        return found is not None and is_alive(found.pid) and found.up

    def bury(self) -> None:
        """Ends the processes that a dead agent has left: its Spark may outlive it by a moment."""
        found = self._address()
        if self._adopted is None and self._process is None and found is not None and _has_left(found):
            self._adopted = found.pid
        if not self.is_alive:
            self.kill()

    def dismiss(self) -> None:
        """Ends an agent with all its processes that was left on a node which the run no longer has."""
        found = self._address()
        if found is not None and self._is_agent(found.pid):
            self._adopted = found.pid
            self.put_down("its node is no longer one of the run's")
        self.bury()
        clear_leftovers(self._root, self.name)

    def adopt(self) -> RemoteNode | None:
        """Connects to the agent that a former controller has left, also to one that is starting; None if none is."""
        found = self._address()
        if found is None or not is_alive(found.pid):
            return None
        node = RemoteNode(self.name, found.port, found.token)
        patience = ANSWER_SECONDS if found.up else START_SECONDS
        if node.heartbeat(patience):
            self._adopted, self._token, self._node = found.pid, found.token, node
            return node
        node.close()
        if is_alive(found.pid) and self._is_agent(found.pid):
            self._adopted = found.pid
            self.put_down(f"it did not answer within {patience:g} s")
        return None

    def _is_agent(self, pid: int) -> bool:
        """Whether a process is an agent of this node: by now its number may be that of another process."""
        return {AGENT_MODULE, self.name, str(self._root)} <= set(command_of(pid))

    def is_silent(self, patience_seconds: float) -> bool:
        """Whether it has answered before, is still alive, and does not answer now."""
        node = self._node
        if node is None or not self.is_alive:
            return False
        try:
            answers = node.heartbeat(patience_seconds)
        except RuntimeFault:
            answers = True  # with a complaint
        return not answers and self._node is node and self.is_alive

    def put_down(self, why: str) -> None:
        """Ends a hanging agent, and writes the reason to its log."""
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"the agent of node {self.name} was ended: {why}\n")
        self.kill()

    def _address(self) -> AgentAddress | None:
        """The address of the node's agent; None if there is none."""
        return read_agent_address(self._root, self.name)

    def start(self, patience_seconds: float = START_SECONDS) -> RemoteNode:
        """Starts the process and waits until it answers; connects to the present agent if the node has one by now."""
        self._adopted = None
        self._disconnect()
        self._spawn()
        deadline = time.monotonic() + patience_seconds
        answering: list[RemoteNode] = []

        def answers() -> bool:
            if (node := self._answering(deadline)) is not None:
                answering.append(node)
            return bool(answering)

        if wait_until(answers, patience_seconds, look_seconds=0.1):
            return answering[0]
        self.kill()
        raise NodeUnreachable(self.name, f"its agent did not answer within {patience_seconds:g} s, see {self._log}")

    def _answering(self, deadline: float) -> RemoteNode | None:
        """The node, if its agent answers by now; NodeUnreachable if the agent has ended."""
        code = None if self._process is None else self._process.poll()
        if code == TAKEN:
            if (node := self.adopt()) is None:
                self._spawn()  # that one is gone as well
            return node
        if code is not None:
            raise NodeUnreachable(self.name, f"its agent ended with {code}, see {self._log}")
        found = self._address()
        if found is None or self._process is None or found.pid != self._process.pid:
            return None
        node = RemoteNode(self.name, found.port, self._token)
        if node.heartbeat(max(1.0, deadline - time.monotonic())):
            self._node = node
            return node
        node.close()
        return None

    @property
    def _log(self) -> Path:
        """Its log file."""
        return agent_log(self._root, self.name)

    def _spawn(self) -> None:
        command = [sys.executable, "-m", AGENT_MODULE, "--node", self.name, "--slots", str(self._slots)]
        command += ["--root", str(self._root), "--master", self._settings.master]
        bound = ["--linger", str(self._linger_seconds)] if self._linger_seconds else ["--while-alive", str(os.getpid())]
        command += bound
        for key, value in self._settings.overrides.items():
            command += ["--setting", f"{key}={value}"]
        path = os.pathsep.join(part for part in sys.path if part)
        environment = {**os.environ, TOKEN_VARIABLE: self._token, "PYTHONPATH": path}
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as output:
            # A group of its own: killing it takes Spark and the Python workers along.
            self._process = subprocess.Popen(  # noqa: S603 - our own module by this interpreter
                command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True
            )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        if self._adopted is not None:
            return is_alive(self._adopted)
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Number of the process, which leads a group of its own."""
        if self._adopted is not None:
            return self._adopted
        if self._process is None:
            raise RuntimeFault(f"the agent of node {self.name} was not started")
        return self._process.pid

    @property
    def address(self) -> tuple[int, str]:
        """Port and token of the agent."""
        found = self._address()
        if found is None:
            raise NodeUnreachable(self.name, "its agent has no address yet")
        return found.port, self._token

    def kill(self) -> None:
        """kill -9 of the agent with its Spark and its workers."""
        if self._runs():
            self._signal(signal.SIGKILL)
            self._wait(20)

    def stop(self) -> None:
        """Asks it to end, and kills it if it does not."""
        if self._runs():
            self._signal(signal.SIGTERM)
            if not self._wait(20):
                self.kill()
        self._disconnect()
        clear_leftovers(self._root, self.name)

    def _runs(self) -> bool:
        """Whether the agent or a process that it has started runs; these may outlive it."""
        if self.is_alive:
            return True
        if self._adopted is None and self._process is None:
            return False
        left = group_of(self.pid)
        # A group with a leader is another one: the number was given away again.
        return bool(left) and self.pid not in left

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _wait(self, seconds: float) -> bool:
        """Whether it ends in time, with its Spark, which takes a moment longer. An adopted agent is no child."""
        return wait_until(lambda: not self._runs(), seconds)

    def _disconnect(self) -> None:
        if self._node is not None:
            self._node.close()
            self._node = None
