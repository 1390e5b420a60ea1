"""Random walks through deployments while data arrives, and what came out in the end."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from experiments.kinds import Kind, application, inputs, observed
from rheostat.control.ports import Done
from rheostat.model.application import Application
from rheostat.model.application import Kind as OperatorKind
from rheostat.model.deployment import Deployment, Replicas
from rheostat.model.resources import Infrastructure, Node
from rheostat.runtime.embedded import embedded
from rheostat.runtime.positions import source_offsets
from rheostat.runtime.specs import RuntimeSettings
from rheostat.runtime.world import Runtime

NODES = ("n1", "n2", "n3")
PATIENCE_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk did and what was wrong with its output."""

    kind: str
    seed: int
    changes: int
    rolled_back: int
    tuples: int
    lost: int
    duplicated: int
    seconds: float

    @property
    def is_exact(self) -> bool:
        """Nothing missing, nothing too much."""
        return self.lost == 0 and self.duplicated == 0


def three_nodes() -> Infrastructure:
    """Three nodes with room for everything."""
    return Infrastructure("three", tuple(Node(name, 32) for name in NODES))


def random_deployment(app: Application, random: Random) -> Deployment:
    """Any multiset over the nodes for every operator; sources stay single."""
    placed = {}
    for operator in app.operators:
        most = 1 if operator.kind is OperatorKind.SOURCE else operator.max_replicas
        chosen = [random.choice(NODES) for _ in range(random.randint(1, most))]
        placed[operator.name] = Replicas.on(*chosen)
    return Deployment.of(placed)


def walk(kind: Kind, seed: int, spark: SparkSession, root: Path, *, changes: int = 6, rate_tps: float = 60.0) -> Walked:
    """Changes the deployment again and again while rows arrive; compares the output with the answer."""
    random = Random(seed)  # noqa: S311 - a walk that can be repeated, not a secret
    # Rows go on arriving through all changes, and a little longer.
    total = int(rate_tps * 4 * (changes + 2))
    app = application(kind, rate_tps=rate_tps, total=total, seed=seed)
    began, rolled_back = time.monotonic(), 0
    with embedded(app, three_nodes(), root, spark, RuntimeSettings(trigger_ms=100)) as runtime:
        runtime.launch(random_deployment(app, random))
        for _ in range(changes):
            effect = runtime.deploy(random_deployment(app, random))
            rolled_back += not isinstance(effect, Done)
        finish(runtime, total)
        output = observed(kind, runtime.results("out").to_pylist())
    wanted = kind.answer(*inputs(kind, rate_tps=rate_tps, total=total, seed=seed))
    lost, duplicated = differences(wanted, output)
    tuples = total * kind.sources
    return Walked(kind.name, seed, changes, rolled_back, tuples, lost, duplicated, time.monotonic() - began)


def differences(wanted: Counter[tuple[object, ...]], output: Counter[tuple[object, ...]]) -> tuple[int, int]:
    """Rows that are missing, and rows that are too many."""
    return (wanted - output).total(), (output - wanted).total()


def finish(runtime: Runtime, total: int) -> None:
    """Waits until the sources have brought everything and nothing is on its way any more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    calm = 0
    while calm < 3:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the application did not finish: {runtime.statuses()}")
        failed = [status.error for status in runtime.heal().values() if status.state == "failed" and status.by_user]
        if failed:
            raise RuntimeError("; ".join(failed))
        calm = calm + 1 if _is_calm(runtime, total) else 0
        time.sleep(0.2)


def _is_calm(runtime: Runtime, total: int) -> bool:
    for instance in runtime.plan.instances:
        if not instance.groups:
            offsets = source_offsets(runtime.blueprint, instance)
            if not offsets or f'"rows": {total}' not in offsets[0].replace('":', '": ').replace(":  ", ": "):
                return False
    settled = all(status.planned == status.committed for status in runtime.statuses().values())
    return settled and runtime.is_drained()
