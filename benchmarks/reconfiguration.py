"""Pause of an operator during a change, beside the time that Spark itself needs for the same.

`python -m benchmarks.reconfiguration [--keys 1000 100000] [--repeat 3] [--write docs/results/reconfiguration.md]`

One application in one run: a source, an operator that counts by key, a sink. Each kind of change is carried out by the
protocol and, in turns with it, by bare operations on the same query with the same state: stop, repartition, start;
stop, copy, start. Both are measured with the same stick, from outside: the time between the last batch the operator
published before and the first ones all its new instances have published after.
"""

import argparse
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.counting import RATE_TPS, application
from experiments.folders import passing_folder
from pyspark.sql import SparkSession

from rheostat.control.loop.ports import Done
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.channels.port.channel import ChannelLog
from rheostat.runtime.channels.port.places import FIRST_EPOCH
from rheostat.runtime.channels.records.manifest import Manifest, ManifestKind
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.repartition import repartition
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.plan.instance_spec import InstanceSpec
from rheostat.runtime.plan.physical_plan import Instance
from rheostat.runtime.reconfigure.channel_ends import ChannelEnds
from rheostat.runtime.reconfigure.embedded_nodes import embedded
from rheostat.runtime.reconfigure.runtime import Runtime
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

NODES = ("n1", "n2", "n3")
TRIGGER_MS = 100
QUIET_SECONDS = 4.0
"""Time between two measurements, in which everything comes back to its pace."""
USUAL_BATCHES = 20
SHARE, ALLOWANCE_SECONDS, SPLIT_SHARE = 0.3, 0.3, 2.5
"""Goals: what the protocol may add to the bare operation, and how much longer splitting may take than rescaling."""


@dataclass
class Follower:
    """Everything the operator publishes, seen from outside while it happens."""

    log: ChannelLog
    seen: dict[tuple[str, int, int], Manifest] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Until it is ended."""
        places: dict[str, tuple[int, int]] = {}
        while not self._ended.wait(0.05):
            for name in self.log.producers():
                places[name] = self._follow(name, *places.get(name, (FIRST_EPOCH, 0)))

    def _follow(self, name: str, epoch: int, slot: int) -> tuple[int, int]:
        while True:
            slot = max(slot, self.log.begin(name, epoch))
            manifest = self.log.entry(name, epoch, slot)
            if manifest is not None:
                self.seen[name, epoch, slot] = manifest
                slot += 1
            elif self.log.opening(name, epoch + 1) is not None:
                epoch, slot = epoch + 1, 0
            else:
                return epoch, slot

    def end(self) -> None:
        """Stops following."""
        self._ended.set()

    def batches(self, since_ms: float, until_ms: float) -> list[tuple[str, int, Manifest]]:
        """What was published in a time, with producer and epoch."""
        found = [
            (name, epoch, manifest)
            for (name, epoch, _), manifest in list(self.seen.items())
            if manifest.kind is ManifestKind.BATCH
            and manifest.segments
            and since_ms <= manifest.published_ms <= until_ms
        ]
        return sorted(found, key=lambda one: one[2].published_ms)


@dataclass(frozen=True, slots=True)
class Measured:
    """One change."""

    pause_seconds: float
    spike_seconds: float
    """Greatest age of a result published in the seconds after, less the median of those before."""


class Bench:
    """The running application and the measuring stick."""

    def __init__(self, spark: SparkSession, runtime: Runtime) -> None:
        self._spark, self._runtime = spark, runtime
        self._ends: ChannelEnds = runtime._operations.channels  # noqa: SLF001 - bare operations go below the protocol
        stream = next(one for one in runtime.blueprint.application.streams if one.source == "count")
        self._follower = Follower(runtime.blueprint.channel(stream).log())
        fed = next(one for one in runtime.blueprint.application.streams if one.target == "count")
        self._input = runtime.blueprint.channel(fed)
        threading.Thread(target=self._follower.run, daemon=True).start()

    def close(self) -> None:
        """Ends the following."""
        self._follower.end()

    def wait_for_keys(self, number: int) -> None:
        """Until all keys are in the state and the operator keeps pace again."""
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            time.sleep(1)
            found = [batch.state_rows or 0 for batch in self._runtime.progress(self._instance)[-1:]]
            if sum(found) >= number and subscription_backlog(self._input, "count").rows <= RATE_TPS:
                return
        raise TimeoutError("the keys did not all arrive")

    @property
    def _instance(self) -> Instance:
        (instance,) = self._runtime.plan.with_operator("count")
        return instance

    def change(self, counts: dict[str, int]) -> Measured:
        """By the protocol."""

        def deploy() -> None:
            wanted = Deployment.of({**_pinned(), "count": counts})
            effect = self._runtime.deploy(wanted)
            if not isinstance(effect, Done):
                raise RuntimeError(f"{counts}: {effect}")  # noqa: TRY004 - no type is wrong, the change is

        return self._measured(deploy, len(counts))

    def _node(self, instance: Instance) -> NodePort:
        return next(node for node in self._runtime.nodes_up() if node.name == instance.node)

    def _opened(self, instance: Instance) -> InstanceSpec:
        """The description of an instance, its producer's next epoch opened."""
        epoch = self._ends.open_epoch(instance)
        return self._runtime.blueprint.spec(instance, epoch.number, continues=epoch.continues, term=epoch.term)

    def bare_rescale(self, partitions: int) -> Measured:
        """Stop, repartition, start, as in a program written by hand."""
        instance = self._instance
        node, path = self._node(instance), self._runtime.blueprint.checkpoint(instance)

        def act() -> None:
            node.stop(instance.name, gently=True)
            # Under the old epoch: a batch that has to be replayed first is no sign of life of the new query.
            last = self._ends.present_epoch(instance)
            spec = self._runtime.blueprint.spec(instance, last.number, continues=True, term=last.term)
            node.checkpoints.take(spec)
            repartition(self._spark, Checkpoint(path), partitions)
            node.start(replace(self._opened(instance), replicas=partitions))

        return self._measured(act, 1)

    def bare_relocate(self) -> Measured:
        """Stop, copy, start; afterwards the copy takes the original's place, unmeasured."""
        instance = self._instance
        node, path = self._node(instance), self._runtime.blueprint.checkpoint(instance)
        # A name of its own: a state store may write there once more in the background when all is over.
        copied = path.with_name(f"copied-{time.time_ns()}")

        def act() -> None:
            node.stop(instance.name, gently=True)
            shutil.copytree(path, copied)
            node.start(replace(self._opened(instance), checkpoint=str(copied)))

        found = self._measured(act, 1)
        node.stop(instance.name)
        shutil.rmtree(path)
        copied.rename(path)
        node.start(self._opened(instance))
        time.sleep(QUIET_SECONDS)
        return found

    def _measured(self, act: Callable[[], None], instances: int) -> Measured:
        began_ms = 1000 * time.time()
        known = {(name, epoch) for name, epoch, _ in self._follower.seen}
        act()
        deadline = time.monotonic() + 300
        first: dict[tuple[str, int], int] = {}
        while len(first) < instances:
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {len(first)} of {instances} instances have published after the change")
            time.sleep(0.05)
            for name, epoch, manifest in self._follower.batches(began_ms, 1000 * time.time()):
                if (name, epoch) not in known:
                    first.setdefault((name, epoch), manifest.published_ms)
        resumed_ms = max(first.values())
        time.sleep(QUIET_SECONDS)
        before = [m for name, epoch, m in self._follower.batches(0, resumed_ms) if (name, epoch) in known]
        last_ms = before[-1].published_ms
        usual = [age for m in before[-USUAL_BATCHES:] for age, _ in m.ingest.ages_ms(m.published_ms)]
        after = self._follower.batches(last_ms, resumed_ms + 1000 * QUIET_SECONDS)
        worst = max(age for *_, m in after for age, _ in m.ingest.ages_ms(m.published_ms))
        return Measured((resumed_ms - last_ms) / 1000, (worst - statistics.median(usual)) / 1000)


def _pinned() -> dict[str, dict[str, int]]:
    return {"source": {"n1": 1}, "out": {"n1": 1}}


KINDS = ("scale-out", "scale-in", "relocation", "split", "merge")


def measure(spark: SparkSession, number_of_keys: int, repeat: int) -> dict[str, list[tuple[Measured, Measured | None]]]:
    """Every kind of change, by the protocol and bare."""
    found: dict[str, list[tuple[Measured, Measured | None]]] = {kind: [] for kind in KINDS}
    infrastructure = Infrastructure("bench", tuple(Node(name, 16) for name in NODES))
    settings = RuntimeSettings(trigger_ms=TRIGGER_MS, max_lag_rows=0)
    with (
        passing_folder("bench") as folder,
        embedded(application(number_of_keys), infrastructure, folder, spark, settings) as runtime,
    ):
        runtime.launch(Deployment.of({**_pinned(), "count": {"n2": 1}}))
        bench = Bench(spark, runtime)
        bench.wait_for_keys(number_of_keys)
        for round_ in range(repeat + 1):
            done = [
                ("scale-out", bench.bare_rescale(2)),
                ("scale-in", bench.bare_rescale(1)),
                ("relocation", bench.bare_relocate()),
            ]
            bare = dict(done)
            protocol = {
                "scale-out": bench.change({"n2": 2}),
                "scale-in": bench.change({"n2": 1}),
                "relocation": bench.change({"n3": 1}),
                "split": bench.change({"n2": 1, "n3": 1}),
                "merge": bench.change({"n2": 1}),
            }
            print(f"{number_of_keys} keys, round {round_} of {repeat}", file=sys.stderr, flush=True)
            # The first round compiles and warms up.
            for kind in KINDS if round_ else ():
                found[kind].append((protocol[kind], bare.get(kind)))
        bench.close()
    return found


def table(number_of_keys: int, found: dict[str, list[tuple[Measured, Measured | None]]]) -> tuple[list[str], bool]:
    """Lines of the table, and whether the goals are met."""
    lines, met = [], True
    rescale = _median([ours.pause_seconds for ours, _ in found["scale-out"]])
    for kind in KINDS:
        ours = _median([one.pause_seconds for one, _ in found[kind]])
        spike = _median([one.spike_seconds for one, _ in found[kind]])
        bare = [one.pause_seconds for _, one in found[kind] if one is not None]
        if bare:
            limit = (1 + SHARE) * _median(bare) + ALLOWANCE_SECONDS
            beside = f"{_median(bare):.2f}"
        else:
            limit, beside = SPLIT_SHARE * rescale, "-"
        verdict = "met" if ours <= limit else "missed"
        met = met and ours <= limit
        lines.append(
            f"| {number_of_keys} | {kind} | {ours:.2f} | {beside} | {limit:.2f} | {verdict} | {spike:.2f} "
            f"| {len(found[kind])} |"
        )
    return lines, met


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


COLUMNS = ("keys", "change", "pause s", "bare operation s", "goal s", "goal", "latency spike s", "runs")
HEADER = "| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS)


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[1000, 100_000], choices=(1000, 100_000, 1_000_000))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    spark = create_session(SparkSettings(), 6, "reconfiguration")
    lines, met = [HEADER], True
    for number_of_keys in chosen.keys:
        found, fine = table(number_of_keys, measure(spark, number_of_keys, chosen.repeat))
        lines += found
        met = met and fine
    spark.stop()
    print("\n".join(lines))
    if chosen.write:
        chosen.write.write_text("\n".join(lines) + "\n")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
