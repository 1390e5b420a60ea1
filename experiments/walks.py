"""Random walks through deployments while data arrives, and what came out in the end."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from experiments.subjects import subject
from rheostat.control.loop.ports import Done
from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.checkpoints.log_entries import NO_OFFSET
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.reconfigure.embedded_nodes import embedded
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.spark_settings import SparkSettings

NODES = ("n1", "n2", "n3")
MOST_REPLICAS = 4
PATIENCE_SECONDS = 300.0
SETTINGS = RuntimeSettings(trigger_ms=100)
SPARK = SparkSettings(overrides={"spark.sql.streaming.stateStore.maintenanceInterval": "2s"})
"""A walk lasts half a minute: Spark is to write snapshots and to remove old state in that time too, more than once."""


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk did and what was wrong with its output."""

    name: str
    seed: int
    changes: int
    rolled_back: int
    tuples: int
    lost: int
    duplicated: int
    late: int
    """Rows that a watermark dropped."""
    paused_seconds: float
    """Mean pause of a change."""
    seconds: float

    @property
    def is_exact(self) -> bool:
        """Nothing missing, nothing too much."""
        return self.lost == self.duplicated == self.late == 0


class WatchedNode(SparkNode):
    """A node that remembers how many rows the watermarks of its queries have dropped."""

    def __init__(self, name: str, spark: SparkSession, root: Path) -> None:
        super().__init__(name, spark, root)
        self._late: dict[tuple[str, int], int] = {}

    def stop(self, instance: str, *, gently: bool = False) -> None:
        """Looks at the reports before they are gone."""
        self._look(instance)
        super().stop(instance, gently=gently)

    def late(self) -> int:
        """Of all queries so far."""
        for status in self.statuses():
            self._look(status.name)
        return sum(self._late.values())

    def _look(self, instance: str) -> None:
        for report in self.progress(instance):
            self._late[report.query, report.number] = report.late_rows


def three_nodes() -> Infrastructure:
    """Three nodes with room for everything."""
    return Infrastructure("three", tuple(Node(name, 64) for name in NODES))


def random_deployment(app: Application, random: Random, nodes: Sequence[str] = NODES) -> Deployment:
    """Any multiset over the nodes for every operator; sources stay single."""
    placed = {}
    for operator in app.operators:
        most = 1 if operator.kind is Kind.SOURCE else min(MOST_REPLICAS, operator.max_replicas)
        chosen = [random.choice(nodes) for _ in range(random.randint(1, most))]
        placed[operator.name] = Replicas.on(*chosen)
    return Deployment.of(placed)


def walk(name: str, seed: int, spark: SparkSession, root: Path, *, changes: int = 6, rate_tps: float = 60.0) -> Walked:
    """Changes the deployment again and again while rows arrive; compares the output with the answer."""
    random = Random(seed)  # noqa: S311 - a walk that can be repeated, not a secret
    # Rows go on arriving through most of the changes; what comes late is taken up after the last.
    one = subject(name, seed, rate_tps, 2.0 * changes + 4)
    began, pauses = time.monotonic(), list[float]()
    nodes = {name: WatchedNode(name, spark, root) for name in NODES}
    with embedded(one.application, three_nodes(), root, spark, SETTINGS, nodes=nodes) as runtime:
        runtime.launch(random_deployment(one.application, random))
        for _ in range(changes):
            effect = runtime.deploy(random_deployment(one.application, random))
            pauses += [effect.downtime_seconds] if isinstance(effect, Done) else []
            if not isinstance(effect, Done):
                print(f"{name} {seed}: {effect}", file=sys.stderr)
        finish(runtime, one.total)
        late = sum(node.late() for node in nodes.values())
        lost, duplicated = one.differences(runtime.results(one.sink).to_pylist())
    mean = sum(pauses) / max(1, len(pauses))
    tuples, seconds = one.total * one.sources, time.monotonic() - began
    return Walked(name, seed, changes, changes - len(pauses), tuples, lost, duplicated, late, mean, seconds)


def finish(runtime: Runtime, total: int, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Waits until the sources have brought everything and nothing is on its way any more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    calm = 0
    while calm < 3:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the application did not finish: {runtime.statuses()}")
        meanwhile()
        failed = [status.error for status in runtime.heal().values() if status.state == "failed" and status.by_user]
        if failed:
            raise RuntimeError("; ".join(failed))
        calm = calm + 1 if _is_calm(runtime, total) else 0
        time.sleep(0.1)


def _is_calm(runtime: Runtime, total: int) -> bool:
    for instance in runtime.plan.instances:
        if not instance.groups:
            (offset,) = runtime.positions().source_line([instance])
            if offset == NO_OFFSET or json.loads(offset)["rows"] < total:
                return False
    settled = all(status.planned == status.committed for status in runtime.statuses().values())
    return settled and runtime.is_drained()
