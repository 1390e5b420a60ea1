"""The node behind HTTP: asks the agent of another process."""

import json
import time
from collections.abc import Sequence

import httpx
from pydantic import ValidationError

from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.checkpoints.capabilities import StateKind
from rheostat.runtime.checkpoints.checkpoint_port import CheckpointName
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes import node_messages as messages
from rheostat.runtime.nodes.node_messages import Answer, Call, Heartbeat, ManagerAnswer, ManagerQuestion, Question
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.query.progress_report import BatchReport

HEARTBEAT_PATIENCE_SECONDS = 5.0
PEER_HEADER = "Rheostat-Peer"
"""Says that another node asks, not a controller."""
PATIENCE_SECONDS = 300.0
"""Time limit of an order: state is moved, queries are started on a busy machine."""
NOTHING = messages.Nothing()


class AgentClient:
    """Sends messages to one agent. A complaint of the agent is raised here as a RuntimeFault."""

    def __init__(self, name: str, port: int, token: str, *, by_peer: bool) -> None:
        self._name, self._by_peer = name, by_peer
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                **({PEER_HEADER: "yes"} if by_peer else {}),
            },
            timeout=PATIENCE_SECONDS,
        )

    def ask(
        self, call: Call[Question, Answer], question: Question, patience_seconds: float = PATIENCE_SECONDS
    ) -> Answer:
        """The answer of the agent; NodeUnreachable if there is none in time."""
        if self._by_peer and not call.by_peer:
            raise ValueError(f"an agent may not send {call.path!r} to another agent")
        content = call.question.dump_json(question)
        try:
            answer = self._client.post(f"/{call.path}", content=content, timeout=patience_seconds)
        except (httpx.TransportError, RuntimeError) as silence:  # a client that was closed raises the latter
            raise NodeUnreachable(self._name, str(silence) or type(silence).__name__) from silence
        if answer.status_code != httpx.codes.OK:
            raise RuntimeFault(_error_in(answer))
        try:
            return call.answer.validate_json(answer.content, extra="forbid")
        except ValidationError as wrong:
            raise RuntimeFault(f"node {self._name} gave no valid answer to {call.path!r}: {wrong}") from wrong

    def close(self) -> None:
        """Closes the connections; later questions raise NodeUnreachable."""
        self._client.close()


class RemoteCheckpoints:
    """The checkpoints of a node, asked of its agent."""

    def __init__(self, client: AgentClient) -> None:
        self._client = client

    def names(self) -> Sequence[CheckpointName]:
        """Every checkpoint that is there."""
        return self._client.ask(messages.NAMES, NOTHING)

    def offsets(self, name: CheckpointName) -> tuple[str, ...] | None:
        """Source offsets of the last committed batch."""
        return self._client.ask(messages.OFFSETS, name)

    def state_kind(self, name: CheckpointName) -> StateKind | None:
        """Kind of the state in a checkpoint."""
        return self._client.ask(messages.STATE_KIND, name)

    def take(self, spec: InstanceSpec) -> None:
        """Completes the last planned batch of a stopped instance."""
        self._client.ask(messages.TAKE, spec)

    def place_ahead(self, job: StateJob) -> None:
        """Copies the files of a job that will not change any more."""
        self._client.ask(messages.PLACE_AHEAD, job)

    def build(self, job: StateJob) -> None:
        """Builds the checkpoint that a job describes."""
        self._client.ask(messages.BUILD, job)

    def remove(self, names: Sequence[CheckpointName]) -> None:
        """Removes checkpoints."""
        self._client.ask(messages.REMOVE, names)


class RemoteNode:
    """A node in another process of this machine."""

    def __init__(self, name: str, port: int, token: str, *, by_peer: bool = False) -> None:
        self.name, self.port = name, port
        self._client = AgentClient(name, port, token, by_peer=by_peer)
        self.checkpoints = RemoteCheckpoints(self._client)

    def start(self, spec: InstanceSpec) -> None:
        """Starts an instance."""
        self._client.ask(messages.START, spec)

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Stops an instance."""
        self._client.ask(messages.STOP, messages.StopOrder(instance, gently))

    def hold(self, instance: str, order: HoldOrder) -> None:
        """Gives an instance an order."""
        self._client.ask(messages.HOLD, messages.HoldMessage.of(instance, order))

    def statuses(self) -> Sequence[InstanceStatus]:
        """Every instance there."""
        return self._client.ask(messages.STATUSES, NOTHING)

    def progress(self, instance: str, after: int = -1) -> Sequence[BatchReport]:
        """The recent batches of an instance."""
        return self._client.ask(messages.PROGRESS, messages.BatchesAfter(instance, after))

    def usage(self) -> Usage:
        """What the agent uses, with its Spark and its workers."""
        return self._client.ask(messages.USAGE, NOTHING)

    def round_trip_ms(self) -> float | None:
        """Time of a heartbeat; NodeUnreachable if the agent takes too long."""
        begin = time.perf_counter()
        self._heartbeat(HEARTBEAT_PATIENCE_SECONDS)
        return 1000 * (time.perf_counter() - begin)

    def quiesce(self) -> None:
        """Waits for orders under way there."""
        self._client.ask(messages.QUIESCE, NOTHING)

    def columns(self, application: str) -> dict[str, Columns]:
        """Columns of every stream of an application, given as a document."""
        return self._client.ask(messages.COLUMNS, messages.ApplicationText(application))

    def exchange(self, question: ManagerQuestion) -> ManagerAnswer:
        """Gives orders to the managers there, and gets their report."""
        return self._client.ask(messages.MANAGERS, question, HEARTBEAT_PATIENCE_SECONDS)

    def heartbeat(self, patience_seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether the agent of this node answers in time; an agent whose Spark is starting answers when that is up."""
        try:
            return self._heartbeat(patience_seconds).node == self.name
        except NodeUnreachable:
            return False

    def is_warm(self) -> bool:
        """Whether its Spark has run a small application, or has found that it cannot."""
        return self._heartbeat(PATIENCE_SECONDS).warm

    def _heartbeat(self, patience_seconds: float) -> Heartbeat:
        return self._client.ask(messages.HEARTBEAT, NOTHING, patience_seconds)

    def close(self) -> None:
        """Closes the connections; later questions raise NodeUnreachable."""
        self._client.close()

    def kill(self) -> None:
        """Refused: a remote agent is killed by its process, see `AgentProcess`."""
        raise RuntimeFault(f"node {self.name} runs in a process of its own: kill that")


def _error_in(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"])
    except (json.JSONDecodeError, KeyError):
        return f"the agent answered {answer.status_code}"
