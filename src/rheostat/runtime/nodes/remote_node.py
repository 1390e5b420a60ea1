"""A node behind HTTP."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import httpx

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus

HEARTBEAT_PATIENCE_SECONDS = 5.0
PEER_HEADER = "Rheostat-Peer"
"""Says that another node asks, not a controller."""
PATIENCE_SECONDS = 300.0
"""So long an order may take: state is moved, queries are started on a busy machine."""


class RemoteNode:
    """The contract of `Node` over HTTP. What the agent complains of is raised here."""

    def __init__(self, name: str, port: int, token: str, *, by_peer: bool = False) -> None:
        self.name = name
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}", **({PEER_HEADER: "yes"} if by_peer else {})},
            timeout=PATIENCE_SECONDS,
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

    def exchange(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Tells the managers there what they should do, and is told what they ask for."""
        found: dict[str, Any] = self._told(
            lambda: self._client.post("/control", json=document, timeout=HEARTBEAT_PATIENCE_SECONDS)
        )
        return found

    def heartbeat(self, patience_seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether the agent answers, within so long; one whose Spark is starting does so when that is up."""
        try:
            told = self._told(lambda: self._client.get("/heartbeat", timeout=patience_seconds))
        except NodeUnreachable:
            return False
        return bool(told["node"] == self.name)

    def is_warm(self) -> bool:
        """Whether its Spark has rehearsed, or has found that it cannot."""
        return bool(self._get("/heartbeat")["warm"])

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
