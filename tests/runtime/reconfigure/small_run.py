"""A small run on three nodes in memory: a source, a stateful operator and a sink; in virtual time with a clock."""

import json
import time

from rheostat.control.history.journal import MemoryJournal
from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.memory_node import MemoryDisk, MemoryNode
from rheostat.runtime.plan.blueprint import Blueprint, RuntimeSettings
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime

WORDS = Application(
    "words",
    (
        Operator("lines", Kind.SOURCE, code="words:lines", rate_tps=10),
        Operator("count", Kind.STATEFUL, key=("word",), max_replicas=4, code="words:count"),
        Operator("out", Kind.SINK, code=RESULTS_SINK),
    ),
    (Stream("lines", "count", Grouping.KEY), Stream("count", "out", Grouping.SINGLE)),
)
NODES = Infrastructure("three", tuple(Node(name, 8) for name in ("n1", "n2", "n3")))
SCHEMA = json.dumps({"type": "struct", "fields": []})
SETTINGS = RuntimeSettings(key_groups=4, patience_seconds=1000.0)


class SystemTime:
    def __call__(self):
        return time.monotonic()

    def pause(self, seconds):
        time.sleep(seconds)


class SmallRun:
    """The runtime and its nodes; everything is on n1 at first."""

    def __init__(self, root, clock=None):
        clock = clock or SystemTime()
        self.journal, disk = MemoryJournal(), MemoryDisk()
        self.nodes = {node.name: MemoryNode(node.name, disk) for node in NODES.nodes}
        self.disk = disk
        columns = {operator.name: Columns(SCHEMA) for operator in WORDS.operators}
        blueprint = Blueprint(WORDS, NODES, RunPaths(root), columns, SETTINGS)
        self._blueprint, self._clock = blueprint, clock
        self.runtime = self._new_runtime()
        self.deployment = Deployment.of({operator.name: {"n1": 1} for operator in WORDS.operators})

    def _new_runtime(self):
        return Runtime(self._blueprint, self.nodes, self.journal, clock=self._clock, pause=self._clock.pause)

    def take_over(self):
        """Another controller takes the application up from the journal."""
        self.runtime = self._new_runtime()
        self.runtime.launch(self.deployment)

    def moved(self, *nodes):
        """The deployment with the stateful operator on these nodes."""
        return self.deployment.having("count", Replicas.on(*nodes))

    def epochs(self):
        """Newest epoch of every instance of the plan."""
        channels = self.runtime._operations.channels
        return {one.name: channels.last_epoch(one) for one in self.runtime.plan.instances}

    def events(self):
        """Steps of all changes so far, in order."""
        return [entry.facts["event"] for _, entry in self.journal.read(kind="change")]
