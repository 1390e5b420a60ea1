"""Cost of monitoring and control: Word Count at saturation, alternately with and without control, in one run.

`python -m benchmarks.control_overhead [--pairs 20] [--most-pairs 80] [--seconds 6] [--short] [--write FILE]`

On: the controller's loop, everything measured every 4/3 s, EDF's managers deciding every 4 s; a dry run, so that what
runs is the same. Off: no measuring, no managers. It is one query all the time, and control is switched: two runs of
the same thing differ by a sixth on a shared machine, and become faster for minutes while Java compiles. Times with
and without are neighbours and each is first as often as second. Pairs are added until it is known well enough what is
typical of them, whatever that is; the goal, at least 0.95 of the throughput, is for that. The processor time of the
process that looks and decides is told as well: it is hardly noisy.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pairs import typical
from benchmarks.pipeline_parts.batches import throughput
from examples.word_count.app import application
from experiments.folders import passing_folder

from rheostat.control.loop.clocks import SystemClock
from rheostat.control.managers.decisions import DECISION
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller import Controller
from rheostat.controller.bring_up import Opened
from rheostat.controller.recorder import RecordingFile
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.metrics.collector import CollectorSettings
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.query.progress_report import BatchReport
from rheostat.runtime.reconfigure.embedded_nodes import embedded
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

GOAL = 0.95
THREADS = 2
PER_BATCH = 5_000
ENDLESS = 1_000_000_000
PERIOD_SECONDS = 4.0
WARM_UP_SECONDS = 60.0
WELL_ENOUGH = 0.025
"""So far what is typical may be off, with a confidence of 90 %, when no more pairs are needed."""
SETTLE_SECONDS = 0.5
"""After a switch what goes on is still a bit of both."""
CONTROL = ControlSettings(
    "edf", period_seconds=PERIOD_SECONDS, averaging_seconds=PERIOD_SECONDS, settle_seconds=5.0, dry_run=True
)
REPORTS = "spark.sql.streaming.numRecentProgressUpdates"
"""Spark remembers a hundred batches unless it is told to remember more."""


@dataclass(frozen=True, slots=True)
class Time:
    """Some seconds with control, or without."""

    controlled: bool
    begin: float
    end: float
    busy: float
    """Processor time of this process, without Spark's, per second."""
    decisions: int

    def rate(self, batches: Sequence[BatchReport]) -> float:
        """Sentences per second of the batches that lie in it."""
        return throughput(
            [one for one in batches if one.start_seconds >= self.begin + SETTLE_SECONDS and one.end_seconds <= self.end]
        )


def main() -> int:
    """Measures in turns; 1 if control costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20, help="at least so many; even, so that each is first as often")
    parser.add_argument("--most-pairs", type=int, default=80, help="no more than so many, however little is known")
    parser.add_argument("--seconds", type=float, default=6.0, help="with control or without, each time")
    parser.add_argument("--short", action="store_true", help="two pairs of 8 s, warmed up for 20 s")
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    warm_up = WARM_UP_SECONDS
    if chosen.short:
        chosen.pairs, chosen.most_pairs, chosen.seconds, warm_up = 2, 2, 8.0, 20.0
    times, batches = _measured(range(chosen.pairs, chosen.most_pairs + 1), chosen.seconds, warm_up)
    table, share = _table(times, batches)
    print(table)
    if chosen.write:
        chosen.write.write_text(table + "\n")
    return int(share < GOAL)


def _measured(pairs: range, seconds: float, warm_up: float) -> tuple[list[Time], list[BatchReport]]:
    """All times in their order, two by two, and every batch; as many pairs of those allowed as are needed."""
    spark = create_session(SparkSettings(overrides={REPORTS: "100000"}), THREADS, "control overhead")
    app = application("1", pace="all", rows_per_batch=PER_BATCH, total=ENDLESS).build()
    one = Infrastructure("one", (Node("n1", 16),))
    monitor, settings = CollectorSettings(PERIOD_SECONDS / 3), RuntimeSettings(trigger_ms=0)
    with (
        passing_folder("overhead") as root,
        embedded(app, one, root, spark, settings, monitor=monitor) as runtime,
    ):
        runtime.launch(Deployment.of({operator.name: {"n1": 1} for operator in app.operators}))
        (instance,) = runtime.plan.instances
        controller = Controller(Opened(runtime), RecordingFile(root, app, {"control": "edf, dry run"}))
        controller.steer(CONTROL, SystemClock())

        def passed(length: float, *, controlled: bool) -> Time:
            (controller.resume_control if controlled else controller.pause_control)()
            begin, used = time.time(), time.process_time()
            before = sum(1 for _ in runtime.journal.read(kind=DECISION))
            _pass(length, controller.tend if controlled else lambda: None)
            end, used = time.time(), time.process_time() - used
            decisions = sum(1 for _ in runtime.journal.read(kind=DECISION)) - before
            return Time(controlled, begin, end, used / (end - begin), decisions)

        _tell("warming up")
        passed(warm_up, controlled=True)
        times: list[Time] = []
        batches: list[BatchReport] = []
        while (measured := len(times) // 2) < pairs.start or (
            measured + 1 < pairs.stop and typical(_shares(times, batches)).doubt > WELL_ENOUGH
        ):
            for controlled in (False, True, True, False):
                times.append(passed(seconds, controlled=controlled))
            batches += runtime.progress(instance, batches[-1].number if batches else -1)
            known = typical(_shares(times, batches))
            _tell(f"{measured + 2} pairs of {pairs.start} to {pairs.stop - 1}, known to {known.doubt:.1%}")
        controller.stop()
        controller.finish()
    spark.stop()
    return times, batches


def _pass(seconds: float, act: Callable[[], None]) -> None:
    """As `rheostat run` does, once a second."""
    deadline = time.monotonic() + seconds
    while (rest := deadline - time.monotonic()) > 0:
        act()
        time.sleep(min(1.0, rest))


def _rates(times: Sequence[Time], batches: Sequence[BatchReport], *, controlled: bool) -> list[float]:
    return [one.rate(batches) for one in times if one.controlled is controlled]


def _shares(times: Sequence[Time], batches: Sequence[BatchReport]) -> list[float]:
    """The throughput with control beside that without just before or after."""
    on, off = _rates(times, batches, controlled=True), _rates(times, batches, controlled=False)
    return [one / other for one, other in zip(on, off, strict=True)]


def _table(times: Sequence[Time], batches: Sequence[BatchReport]) -> tuple[str, float]:
    """The table, and the throughput with control beside that without."""
    lines = ["| control | sentences/s at saturation, median | least | most | processor time, of a core |"]
    lines.append("|" + "---|" * 5)
    for way, name in ((False, "off"), (True, "on")):
        busy = statistics.median(one.busy for one in times if one.controlled is way)
        rates = _rates(times, batches, controlled=way)
        least, most = min(rates), max(rates)
        lines.append(f"| {name} | {statistics.median(rates):,.0f} | {least:,.0f} | {most:,.0f} | {busy:.1%} |")
    shares = _shares(times, batches)
    found, (low, _, high) = typical(shares), statistics.quantiles(shares)
    verdict = "yes" if found.ratio >= GOAL else "**no**"
    decisions = sum(one.decisions for one in times)
    lines += [
        "",
        f"With control, of the throughput without just before or after: {found.ratio:.3f}, between {found.low:.3f} and",
        f"{found.high:.3f} with a confidence of 90 %. {len(shares)} pairs, half of them between {low:.3f} and",
        f"{high:.3f}; {decisions} decisions were made.",
        "",
        f"- At least {GOAL} of the throughput without control: {verdict} ({found.ratio:.3f}).",
    ]
    return "\n".join(lines), found.ratio


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
