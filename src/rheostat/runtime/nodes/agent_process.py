"""The process of an agent: started or found at work, and sure to end."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.runtime.nodes.agent_address import TAKEN, TOKEN_VARIABLE, address_file, clear_leftovers
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.spark.spark_settings import SparkSettings


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def group_of(leader: int) -> list[int]:
    """The processes that run in a process group; those that have ended and were not waited for do not."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and state != "Z":
                found.append(int(entry.name))
    return found


def _has_left(found: Mapping[str, Any]) -> bool:
    """Whether an agent that told this of itself is gone, and what it had started is not.

    Its number may be somebody else's by now: what it had started was born with its workers' Python in the environment.
    """
    pid, workers = int(found["pid"]), str(found.get("workers") or "")
    if is_alive(pid) or not workers:
        return False
    return any(workers.encode() in _environment(member) for member in group_of(pid))


def _environment(pid: int) -> bytes:
    """What a process was born with; nothing if it has gone.

    One that is only just being born has none yet, for up to 20 ms on a busy machine, and is looked at again.
    """
    deadline = time.monotonic() + BIRTH_SECONDS
    while True:
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return b""
        if environment or not is_alive(pid) or time.monotonic() > deadline:
            return environment
        time.sleep(0.01)


AGENT_MODULE = "rheostat.runtime.agent"
START_SECONDS = 120.0
"""So long an agent may take to start its Spark."""
BIRTH_SECONDS = 1.0
"""So long what it has started may take to have an environment; without one by then, it was born with none."""
ANSWER_SECONDS = 25.0
"""So long one whose Spark is up may take to answer somebody who comes along; then it stands still."""


class AgentProcess:
    """An agent process of ours: started or found at work, reached, and sure to end.

    With `linger_seconds` it outlives a controller that is killed for so long, and goes on with what it has to do.
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
        found = self._told()
        return found is not None and is_alive(int(found["pid"])) and bool(found.get("up", True))

    def bury(self) -> None:
        """Ends what an agent that is gone has left running: its Spark may outlive it by a moment."""
        found = self._told()
        if self._adopted is None and self._process is None and found is not None and _has_left(found):
            self._adopted = int(found["pid"])
        if not self.is_alive:
            self.kill()

    def dismiss(self) -> None:
        """Ends an agent that a former controller has left on a node that the run no longer has, and all it has left."""
        found = self._told()
        if found is not None and self._is_agent(int(found["pid"])):
            self._adopted = int(found["pid"])
            self.put_down("its node is no longer one of the run's")
        self.bury()
        clear_leftovers(self._root, self.name)

    def adopt(self) -> RemoteNode | None:
        """The agent that a former controller has left; one on its way is awaited. None if there is none."""
        found = self._told()
        if found is None or not is_alive(int(found["pid"])):
            return None
        node = RemoteNode(self.name, int(found["port"]), str(found["token"]))
        patience = ANSWER_SECONDS if found.get("up", True) else START_SECONDS
        if node.heartbeat(patience):
            self._adopted, self._token, self._node = int(found["pid"]), str(found["token"]), node
            return node
        node.close()
        if is_alive(int(found["pid"])) and self._is_agent(int(found["pid"])):
            self._adopted = int(found["pid"])
            self.put_down(f"it did not answer within {patience:g} s")
        return None

    def _is_agent(self, pid: int) -> bool:
        """Whether a process is an agent of this node: a number read somewhere may be somebody else's by now."""
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return {AGENT_MODULE.encode(), self.name.encode(), str(self._root).encode()} <= set(words)

    def is_silent(self, patience_seconds: float) -> bool:
        """Whether it has answered before, is still there, and does not answer now."""
        node = self._node
        if node is None or not self.is_alive:
            return False
        try:
            answers = node.heartbeat(patience_seconds)
        except RuntimeFault:
            answers = True  # with a complaint
        return not answers and self._node is node and self.is_alive

    def put_down(self, why: str) -> None:
        """Ends one that stands still, and tells why where it would have told itself."""
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"the agent of node {self.name} was ended: {why}\n")
        self.kill()

    def _told(self) -> dict[str, Any] | None:
        """What the agent of the node tells about itself; None if there is none."""
        try:
            found: dict[str, Any] = json.loads(address_file(self._root, self.name).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found

    def start(self, patience_seconds: float = START_SECONDS) -> RemoteNode:
        """Starts the process and waits until it answers; if the node has an agent by now, it is that one."""
        self._adopted = None
        self._disconnect()
        self._spawn()
        deadline = time.monotonic() + patience_seconds
        while time.monotonic() < deadline:
            if (node := self._answering(deadline)) is not None:
                return node
            time.sleep(0.1)
        self.kill()
        raise NodeUnreachable(self.name, f"its agent did not answer within {patience_seconds:g} s, see {self._log}")

    def _answering(self, deadline: float) -> RemoteNode | None:
        """The node, if its agent answers by now; NodeUnreachable if that has ended."""
        code = None if self._process is None else self._process.poll()
        if code == TAKEN:
            if (node := self.adopt()) is None:
                self._spawn()  # that one is gone as well
            return node
        if code is not None:
            raise NodeUnreachable(self.name, f"its agent ended with {code}, see {self._log}")
        told = self._told()
        if told is None or self._process is None or told["pid"] != self._process.pid:
            return None
        node = RemoteNode(self.name, int(told["port"]), self._token)
        if node.heartbeat(max(1.0, deadline - time.monotonic())):
            self._node = node
            return node
        node.close()
        return None

    @property
    def _log(self) -> Path:
        """Where it writes what it has to say."""
        return self._root / "nodes" / self.name / "agent.log"

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
        """Of the process, which leads a group of its own."""
        if self._adopted is not None:
            return self._adopted
        if self._process is None:
            raise RuntimeFault(f"the agent of node {self.name} was not started")
        return self._process.pid

    @property
    def address(self) -> tuple[int, str]:
        """Port and token."""
        return int(json.loads(address_file(self._root, self.name).read_text())["port"]), self._token

    def kill(self) -> None:
        """kill -9 of the agent with its Spark and its workers."""
        if self._runs():
            self._signal(signal.SIGKILL)
            self._wait(20)

    def stop(self) -> None:
        """Asks it to end, and sees to it."""
        if self._runs():
            self._signal(signal.SIGTERM)
            if not self._wait(20):
                self.kill()
        self._disconnect()
        clear_leftovers(self._root, self.name)

    def _runs(self) -> bool:
        """Whether the agent or anything it has started does; what it has started may outlive it."""
        if self.is_alive:
            return True
        if self._adopted is None and self._process is None:
            return False
        left = group_of(self.pid)
        # With a leader it is a group of somebody else's: the number has been given away again.
        return bool(left) and self.pid not in left

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _wait(self, seconds: float) -> bool:
        """Until it has ended with its Spark, which takes a moment longer; False if it has not within so long.

        One that was adopted is not our child to wait for.
        """
        deadline = time.monotonic() + seconds
        while self._runs():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _disconnect(self) -> None:
        if self._node is not None:
            self._node.close()
            self._node = None
