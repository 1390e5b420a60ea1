"""What does being watched and controlled cost? Word Count at saturation, with control and without, in one run.

`python -m benchmarks.control_overhead [--repeat 6] [--sentences 400000] [--short] [--write FILE]`

On: the controller's loop, everything measured every 4/3 s, EDF's managers deciding every 4 s; a dry run, so that what
runs is the same. Off: the same queries, and nobody looks. They take turns, and change places with every repetition.
The goal is that with control the throughput is at least 0.95 of that without: the median of pairs that ran one after
the other. Throughput is noisy, so the processor time of the process that looks and decides is told as well.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pipeline_parts.batches import batches_of, throughput
from examples.word_count.app import application
from experiments.folders import passing_folder
from pyspark.sql import SparkSession

from rheostat.assembly import Controller
from rheostat.assembly.recording_file import RecordingFile
from rheostat.control.clocks import SystemClock
from rheostat.control.decisions import DECISION
from rheostat.control.settings import ControlSettings
from rheostat.model.application import Application
from rheostat.model.deployment import Deployment
from rheostat.model.resources import Infrastructure, Node
from rheostat.runtime.embedded import embedded
from rheostat.runtime.launching import Opened
from rheostat.runtime.monitor import MonitorSettings
from rheostat.runtime.node import SparkNode
from rheostat.runtime.spark_session import create_session
from rheostat.runtime.spark_settings import SparkSettings
from rheostat.runtime.specs import RuntimeSettings

GOAL = 0.95
THREADS = 6
PER_BATCH = 5_000
PERIOD_SECONDS = 4.0
PATIENCE_SECONDS = 600.0
CONTROL = ControlSettings(
    "edf", period_seconds=PERIOD_SECONDS, averaging_seconds=PERIOD_SECONDS, settle_seconds=5.0, dry_run=True
)
WARM_UPS = 3
REPORTS = "spark.sql.streaming.numRecentProgressUpdates"
"""Spark remembers a hundred batches unless it is told to remember more."""


def main() -> int:
    """Measures in turns; 1 if control costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=6, help="pairs; an even number, so that each is first as often")
    parser.add_argument("--sentences", type=int, default=400_000)
    parser.add_argument("--short", action="store_true", help="once, 100,000 sentences")
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    if chosen.short:
        chosen.repeat, chosen.sentences = 1, 100_000
    spark = create_session(SparkSettings(overrides={REPORTS: "100000"}), THREADS, "control overhead")
    found: dict[str, list[Measured]] = {"off": [], "on": []}
    # What comes first in a session pays for its warming up, which takes minutes: Java compiles what it does often.
    for _ in range(WARM_UPS):
        _measure(spark, chosen.sentences, controlled=True)
    for number in range(chosen.repeat):
        for way in ("off", "on") if number % 2 == 0 else ("on", "off"):
            one = _measure(spark, chosen.sentences, controlled=way == "on")
            found[way].append(one)
            told = f"{one.rate:,.0f} sentences/s, {one.decisions} decisions, {one.busy:.1%} of a core"
            print(f"control {way}, {number + 1} of {chosen.repeat}: {told}", file=sys.stderr, flush=True)
    spark.stop()
    # Each beside its neighbour in time: whatever makes all of them faster or slower makes both.
    share = statistics.median(on.rate / off.rate for on, off in zip(found["on"], found["off"], strict=True))
    table = _table(found, share)
    print(table)
    if chosen.write:
        chosen.write.write_text(table + "\n")
    return int(share < GOAL)


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    rate: float
    """Sentences per second."""
    decisions: int
    busy: float
    """Processor time of this process, without Spark's, per second."""


def _measure(spark: SparkSession, sentences: int, *, controlled: bool) -> Measured:
    app = application("1", pace="all", rows_per_batch=PER_BATCH, total=sentences)
    node = SparkNode("n1", spark)
    one = Infrastructure("one", (Node("n1", 16),))
    monitor = MonitorSettings(PERIOD_SECONDS / 3)
    runtime_settings = RuntimeSettings(trigger_ms=0)
    with (
        passing_folder("overhead") as root,
        embedded(app, one, root, spark, runtime_settings, nodes={"n1": node}, monitor=monitor) as runtime,
    ):
        runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in app.operators}))
        (instance,) = runtime.plan.instances

        def done() -> bool:
            return sum(report["numInputRows"] for report in node.progress(instance.name)) >= sentences

        began, used = time.monotonic(), time.process_time()
        if controlled:
            _tend(Controller(Opened(runtime), _recording(root, app)), done)
        else:
            _wait(done)
        busy = (time.process_time() - used) / (time.monotonic() - began)
        rate = throughput(batches_of(node.progress(instance.name)))
        return Measured(rate, sum(1 for _ in runtime.journal.read(kind=DECISION)), busy)


def _recording(root: Path, app: Application) -> RecordingFile:
    return RecordingFile(root, app, {"control": "edf, dry run"})


def _tend(controller: Controller, done: Callable[[], bool]) -> None:
    """As `rheostat run` does, once a second."""
    controller.steer(CONTROL, SystemClock())
    try:
        _wait(done, controller.tend)
    finally:
        controller.stop()
        controller.settle()


def _wait(done: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        meanwhile()
        if time.monotonic() > deadline:
            raise TimeoutError(f"not done after {PATIENCE_SECONDS:g} s")
        time.sleep(1.0)


def _table(found: Mapping[str, Sequence[Measured]], share: float) -> str:
    lines = ["| control | sentences/s at saturation, median | every run | of its neighbour off | of a core |"]
    lines.append("|" + "---|" * 5)
    for way, share_of in (("off", 1.0), ("on", share)):
        every = ", ".join(f"{one.rate:,.0f}" for one in found[way])
        median, busy = (statistics.median(getattr(one, name) for one in found[way]) for name in ("rate", "busy"))
        lines.append(f"| {way} | {median:,.0f} | {every} | {share_of:.3f} | {busy:.1%} |")
    decisions = sum(one.decisions for one in found["on"])
    lines += ["", f"Goal: at least {GOAL}; {decisions} decisions were made while it was on."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
