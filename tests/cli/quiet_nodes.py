"""A real runtime and a real controller on nodes in memory: refusals and messages, without Spark."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.controller import Controller
from rheostat.controller.bring_up import Opened
from rheostat.controller.controller_api import serving
from rheostat.controller.controller_client import held
from rheostat.model.documents import write
from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.memory_node import MemoryDisk, MemoryNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime

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
class Running:
    """An application that other commands can talk to."""

    directory: Path
    nodes: dict[str, MemoryNode]
    controller: Controller


@contextmanager
def quiet_run(directory: Path) -> Iterator[Running]:
    """`words` on three nodes, everything on n1 at first, served as `rheostat run` does."""
    directory.mkdir(parents=True)
    (directory / "application.yaml").write_text(write(WORDS))
    (directory / "infrastructure.yaml").write_text(write(THREE))
    disk = MemoryDisk()
    nodes = {node.name: MemoryNode(node.name, disk) for node in THREE.nodes}
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
