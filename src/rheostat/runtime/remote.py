"""A node behind HTTP, and the process it runs in."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.runtime.agent import TOKEN_VARIABLE, address_file
from rheostat.runtime.instance import InstanceSpec, InstanceStatus
from rheostat.runtime.layout import Layout
from rheostat.runtime.node_usage import Usage
from rheostat.runtime.schemas import Columns
from rheostat.runtime.spark_settings import SparkSettings
from rheostat.runtime.state_job import StateJob
from rheostat.runtime.workers.serving import WORKERS_PREFIX

HEARTBEAT_PATIENCE_SECONDS = 5.0


class RemoteNode:
    """The contract of `Node` over HTTP. What the agent complains of is raised here."""

    def __init__(self, name: str, port: int, token: str) -> None:
        self.name = name
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}, timeout=300
        )

    def start(self, spec: InstanceSpec) -> None:
        """Starts an instance."""
        self._post("/start", asdict(spec))

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Stops an instance."""
        self._post("/stop", {"instance": instance, "gently": gently})

    def settle(self, spec: InstanceSpec) -> None:
        """Ends the last batch of a stopped instance."""
        self._post("/settle", asdict(spec))

    def statuses(self) -> Sequence[InstanceStatus]:
        """Every instance there."""
        return [InstanceStatus(**status) for status in self._get("/statuses")]

    def progress(self, instance: str, after: int = -1) -> Sequence[dict[str, Any]]:
        """The recent progress reports of an instance."""
        return list(self._get(f"/progress/{instance}?after={after}"))

    def usage(self) -> Usage:
        """What the agent uses, with its Spark and its workers."""
        return Usage.from_dict(self._get("/usage"))

    def round_trip_ms(self) -> float | None:
        """Of a heartbeat; an agent that takes too long is as good as silent."""
        begin = time.perf_counter()
        self._told(lambda: self._client.get("/heartbeat", timeout=HEARTBEAT_PATIENCE_SECONDS))
        return 1000 * (time.perf_counter() - begin)

    def prepare(self, job: StateJob) -> None:
        """Does what can be done of a state job ahead."""
        self._post("/prepare", asdict(job))

    def run(self, job: StateJob) -> None:
        """Does a state job."""
        self._post("/run", asdict(job))

    def quiesce(self) -> None:
        """Waits for orders under way there."""
        self._post("/quiesce", {})

    def columns(self, application: str) -> dict[str, Columns]:
        """What flows on every stream of an application, given as a document."""
        return {name: Columns(**found) for name, found in self._post("/columns", {"application": application}).items()}

    def heartbeat(self) -> bool:
        """Whether the agent answers."""
        try:
            return bool(self._get("/heartbeat")["node"] == self.name)
        except NodeUnreachable:
            return False

    def close(self) -> None:
        """Gives the connections back; whoever asks afterwards is told that nobody answers."""
        self._client.close()

    def kill(self) -> None:
        """A remote agent is killed by its process, see `AgentProcess`."""
        raise RuntimeFault(f"node {self.name} runs in a process of its own: kill that")

    def _get(self, path: str) -> Any:
        return self._told(lambda: self._client.get(path))

    def _post(self, path: str, document: Mapping[str, Any]) -> Any:
        return self._told(lambda: self._client.post(path, json=document))

    def _told(self, ask: Any) -> Any:
        try:
            answer: httpx.Response = ask()
        except (httpx.TransportError, RuntimeError) as silence:  # a client that was closed raises the latter
            raise NodeUnreachable(self.name, str(silence) or type(silence).__name__) from silence
        if answer.status_code != httpx.codes.OK:
            raise RuntimeFault(_error_in(answer))
        return answer.json()


def _error_in(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"])
    except (json.JSONDecodeError, KeyError):
        return f"the agent answered {answer.status_code}"


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


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
        self._scratch = Layout(root).scratch(name)
        self._settings = settings.with_scratch(self._scratch)
        self._token = token or secrets.token_urlsafe(32)
        self._process: subprocess.Popen[bytes] | None = None
        self._adopted: int | None = None
        self._node: RemoteNode | None = None

    def adopt(self) -> RemoteNode | None:
        """The agent that a former controller has left at work, None if there is none that answers."""
        try:
            found = json.loads(address_file(self._root, self.name).read_text())
            node = RemoteNode(self.name, int(found["port"]), str(found["token"]))
        except (FileNotFoundError, json.JSONDecodeError, KeyError):
            return None
        if not is_alive(int(found["pid"])) or not node.heartbeat():
            node.close()
            return None
        self._adopted, self._token, self._node = int(found["pid"]), str(found["token"]), node
        return node

    def start(self, patience_seconds: float = 120.0) -> RemoteNode:
        """Starts the process and waits until it answers."""
        self._adopted = None
        self._clear()
        told = address_file(self._root, self.name)
        self._scratch.mkdir(parents=True)
        command = [sys.executable, "-m", "rheostat.runtime.agent", "--node", self.name, "--slots", str(self._slots)]
        command += ["--root", str(self._root), "--master", self._settings.master]
        bound = ["--linger", str(self._linger_seconds)] if self._linger_seconds else ["--while-alive", str(os.getpid())]
        command += bound
        for key, value in self._settings.overrides.items():
            command += ["--setting", f"{key}={value}"]
        path = os.pathsep.join(part for part in sys.path if part)
        environment = {**os.environ, TOKEN_VARIABLE: self._token, "PYTHONPATH": path}
        log = self._root / "nodes" / self.name / "agent.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            # A group of its own: killing it takes Spark and the Python workers along.
            self._process = subprocess.Popen(  # noqa: S603 - our own module by this interpreter
                command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True
            )
        deadline = time.monotonic() + patience_seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise NodeUnreachable(self.name, f"its agent ended with {self._process.returncode}, see {log}")
            if told.exists():
                node = RemoteNode(self.name, int(json.loads(told.read_text())["port"]), self._token)
                if node.heartbeat():
                    self._node = node
                    return node
                node.close()
            time.sleep(0.1)
        self.kill()
        raise NodeUnreachable(self.name, f"its agent did not answer within {patience_seconds:g} s, see {log}")

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
        if self.is_alive:
            self._signal(signal.SIGKILL)
            self._wait(20)

    def stop(self) -> None:
        """Asks it to end, and sees to it."""
        if self.is_alive:
            self._signal(signal.SIGTERM)
            if not self._wait(20):
                self.kill()
        self._clear()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _wait(self, seconds: float) -> bool:
        """Until it has ended; False if it has not within so long. One that was adopted is not our child to wait for."""
        deadline = time.monotonic() + seconds
        while self.is_alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _clear(self) -> None:
        """Removes what an agent that was killed has left behind, and the way to it."""
        if self._node is not None:
            self._node.close()
            self._node = None
        shutil.rmtree(self._scratch, ignore_errors=True)
        told = address_file(self._root, self.name)
        with suppress(FileNotFoundError, json.JSONDecodeError, KeyError):
            folder = Path(json.loads(told.read_text())["workers"])
            if folder.name.startswith(WORKERS_PREFIX):
                shutil.rmtree(folder, ignore_errors=True)
        told.unlink(missing_ok=True)
