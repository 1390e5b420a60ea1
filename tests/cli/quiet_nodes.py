"""A real runtime and a real controller on nodes that do nothing: what is refused, and what is told, without Spark."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rheostat.controller import Controller
from rheostat.controller.bring_up import Opened
from rheostat.controller.controller_api import serving
from rheostat.controller.controller_client import held
from rheostat.errors import RuntimeFault
from rheostat.model.documents import write
from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.node_usage import Usage, measured_usage
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.reconfigure.sqlite_journal import SqliteJournal

WORDS = Application(
    "words",
    (
        Operator("lines", Kind.SOURCE, pin="n1", code="words:lines", rate_tps=10),
        Operator("split", max_replicas=4, code="words:split"),
        Operator("out", Kind.SINK, code=RESULTS_SINK),
    ),
    (Stream("lines", "split"), Stream("split", "out", Grouping.SINGLE)),
)
THREE = Infrastructure("three", (Node("n1", 3), Node("n2", 3), Node("n3", 1)))
SCHEMA = json.dumps({"type": "struct", "fields": []})


@dataclass
class QuietNode:
    """Starts everything, processes nothing, and rests whenever it is asked to."""

    name: str
    running: dict[str, InstanceStatus] = field(default_factory=dict)
    gate: threading.Event | None = None
    """If there is one, whatever is started waits for it: a change that takes its time."""
    stuck: set[str] = field(default_factory=set)
    """Instances that cannot be stopped."""

    def start(self, spec: InstanceSpec) -> None:
        if self.gate is not None:
            self.gate.wait(30)
        self.running[spec.name] = InstanceStatus(spec.name, "running", resting=True)

    def stop(self, instance: str, *, gently: bool = False) -> None:  # noqa: ARG002 - all is gentle here
        if instance in self.stuck:
            raise RuntimeFault(f"{instance} does not stop")
        self.running.pop(instance, None)

    def settle(self, spec: InstanceSpec) -> None:
        """Nothing was begun."""

    def statuses(self) -> Sequence[InstanceStatus]:
        return list(self.running.values())

    def progress(self, instance: str, after: int = -1) -> Sequence[dict[str, Any]]:  # noqa: ARG002 - the contract
        return []

    def usage(self) -> Usage:
        return measured_usage()

    def round_trip_ms(self) -> float | None:
        return None

    def prepare(self, job: StateJob) -> None:
        """There is no state."""

    def run(self, job: StateJob) -> None:
        """There is no state."""

    def quiesce(self) -> None:
        """All is done at once."""

    def kill(self) -> None:
        self.running.clear()

    def fail(self, instance: str, error: str) -> None:
        """The user's code raises there."""
        self.running[instance] = InstanceStatus(instance, "failed", error=error, by_user=True)


@dataclass
class Running:
    """An application that other commands can talk to."""

    directory: Path
    nodes: dict[str, QuietNode]
    controller: Controller


@contextmanager
def quiet_run(directory: Path) -> Iterator[Running]:
    """`words` on three nodes, everything on n1 at first, served as `rheostat run` does."""
    directory.mkdir(parents=True)
    (directory / "application.yaml").write_text(write(WORDS))
    (directory / "infrastructure.yaml").write_text(write(THREE))
    nodes = {node.name: QuietNode(node.name) for node in THREE.nodes}
    columns = {operator.name: Columns(SCHEMA) for operator in WORDS.operators}
    settings = RuntimeSettings(key_groups=4, patience_seconds=20)
    journal = SqliteJournal(RunPaths(directory).journal)
    runtime = Runtime(Blueprint(WORDS, THREE, RunPaths(directory), columns, settings), nodes, journal)
    runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in WORDS.operators}))
    controller = Controller(Opened(runtime))
    stopper = threading.Thread(target=controller.wait, args=(60,))
    with held(directory), serving(controller, directory):
        controller.tend()
        stopper.start()
        yield Running(directory, nodes, controller)
        controller.stop()
        stopper.join()
    runtime.stop()
    journal.close()
