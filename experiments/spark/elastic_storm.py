"""Elastic Storm Figs. 4 to 7 on Spark: frequent patterns over five phases, with and without elasticity.

`python -m experiments.spark.elastic_storm [--phase-seconds 120] [--runs with without] [--short]`

Writes `docs/results/spark_elastic_storm.md` and its picture.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import mean

from examples.frequent_patterns.answer import answer
from examples.frequent_patterns.app import application
from examples.frequent_patterns.definition import WINDOW_SECONDS
from pyspark.sql import SparkSession

from experiments.folders import passing_folder
from experiments.planning.report import (
    COLOURS,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    verdict,
    write_report,
)
from experiments.spark.controlled import PERIOD_SECONDS, SETTLE_SECONDS, timed
from experiments.spark.outcome import Controlled
from experiments.spark.stage import Piece, Rows, Stage, on_embedded, perform
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller import Controller
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.rate_curve import parse_curve
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.reference.patterns import DETECTOR_SECONDS_PER_TWEET, PATTERNS_PER_TWEET, PHASES_TPS
from rheostat.report.recording import Recording
from rheostat.runtime.ends.generation import generation_of
from rheostat.runtime.plan.blueprint import RuntimeSettings
from rheostat.runtime.plan.physical_plan import PhysicalPlan
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

NAME = "spark_elastic_storm"
S = 20.0
FEWER = 5
"""Detectors are so many times fewer than in the paper, and each so many times as fast."""
DETECTORS = (20, 10, 5, 10, 20, 10, 5)
"""What Fig. 5 shows."""
GENERATOR_TPS = 1500.0
"""Tweets per second of one in the paper, derived in `reference.patterns`."""
SINK, GROUPS, SEED = "Reporter", 8, 2
NODES = Infrastructure("workers", tuple(Node(f"w{i}", 6) for i in range(1, 6)))
PAPER_SHARES = {"scale-out": 0.0, "scale-in": 37.5, "migration": 65.0}
"""State that was relocated, in % [Fig. 7c]; migrations are those of the scheduler."""
PAPER_OVERHEAD_SECONDS = 10.0
WARM_UP_PHASE_SECONDS = 15.0
"""Five short phases that are not evaluated: while Java compiles, four Detectors with 9 % of their time to do seem to be
busy for 24 to 48 % of it, and nothing is scaled in."""
CONTROL = replace(
    timed(ControlSettings("elastic-storm")),
    options={"scale_out": 0.7, "scale_in": 0.2, "cooldown_invocations": 3},
)
"""The paper's thresholds; its cool-down of 12 invocations is an eighth of a phase, so it is a shorter one here."""


@dataclass(frozen=True)
class Phases:
    """The five phases."""

    seconds_each: float

    @property
    def seconds(self) -> float:
        """All five."""
        return self.seconds_each * len(PHASES_TPS)

    @property
    def curve(self) -> str:
        """As text that a source understands."""
        return "; ".join(f"{rate / S:g} for {self.seconds_each:g}" for rate in PHASES_TPS)

    @property
    def total(self) -> int:
        """Tweets in all."""
        return parse_curve(self.curve).rows_after(self.seconds)

    def stage(self, detectors: int) -> Stage:
        """Ready to be run, with so many Detectors at first."""
        half = max(1, detectors // 2)
        placed = {"w3": half, "w4": detectors - half} if detectors > 1 else {"w3": 1}
        at_first = Deployment.of({"Input": {"w1": 1}, "Generator": {"w2": 2}, "Detector": placed, SINK: {"w1": 1}})
        settings = RuntimeSettings(key_groups=GROUPS, trigger_ms=500)
        return Stage(
            self._application(), NODES, at_first, self.seconds, SINK, self.differences, settings, 3 * self.seconds
        )

    def _application(self) -> Application:
        per_pattern_ms = 1000 * DETECTOR_SECONDS_PER_TWEET * S / FEWER / PATTERNS_PER_TWEET
        served = {"Generator": 1000 * S / GENERATOR_TPS, "Detector": per_pattern_ms}
        most = {"Generator": 2, "Detector": max(DETECTORS) // FEWER}
        made = application(self.curve, rate_tps=PHASES_TPS[0] / S, total=self.total, seed=SEED).build()
        operators = []
        for operator in made.operators:
            if operator.name not in served:
                operators.append(replace(operator, max_replicas=1, pin="w1"))
                continue
            parameters = {**dict(operator.parameters), "service_ms": served[operator.name]}
            operators.append(replace(operator, parameters=tuple(parameters.items()), max_replicas=most[operator.name]))
        return replace(made, operators=tuple(operators))

    def differences(self, rows: Rows) -> tuple[int, int]:
        """Frequent patterns of windows that are missing or wrong, and such that are too many or wrong."""
        got = Counter((int(row["window_end"].timestamp()), row["pattern"], row["tweets"]) for row in rows)
        described = {"rows": "examples.frequent_patterns.tweets:tweet", "curve": self.curve, "event_time": "ts"}
        limits = {"closing_gap_seconds": 2 * WINDOW_SECONDS, "total": self.total, "seed": SEED}
        source = generation_of({**described, **{name: str(value) for name, value in limits.items()}})
        wanted = answer([(at or 0, values[0]) for at, values in source.rows(0, self.total)])
        return (wanted - got).total(), (got - wanted).total()


@dataclass(frozen=True, slots=True)
class Relocation:
    """A change of the Detector: of which kind, and which share of its key groups went to another node."""

    kind: str
    share: float


@dataclass(frozen=True)
class Came:
    """What came of a run."""

    done: Controlled
    state_bytes: list[tuple[float, float]]
    """Of the Detector, over time."""


def relocations(entries: Sequence[Entry], operator: str) -> list[Relocation]:
    """What every change of an operator moved, from the plans in the journal."""
    plans = [PhysicalPlan.from_dict(entry.facts["plan"]) for entry in entries if "plan" in entry.facts]  # type: ignore[arg-type]
    found = []
    for before, after in pairwise(plans):
        more = len(after.deployment[operator]) - len(before.deployment[operator])
        if before.deployment[operator] == after.deployment[operator]:
            continue
        owners, heirs = _owners(before, operator), _owners(after, operator)
        moved = sum(heirs.get(group) != node for group, node in owners.items())
        kind = "scale-out" if more > 0 else "scale-in" if more < 0 else "migration"
        found.append(Relocation(kind, moved / len(owners) if owners else 0.0))
    return found


def _owners(plan: PhysicalPlan, operator: str) -> dict[int, str]:
    """Who has which key group."""
    holders = [instance for instance in plan.instances if operator in instance.operators]
    return {group: instance.node for instance in holders for group in instance.groups}


def run(name: str, spark: SparkSession, phases: Phases) -> Came:
    """One of the two runs."""
    elastic = name == "with"
    detectors = DETECTORS[0] if elastic else min(DETECTORS)
    stage = phases.stage(detectors // FEWER)
    sizes: list[tuple[float, float]] = []

    def look(controller: Controller, seconds: float) -> None:
        known = controller.profile.operators.get("Detector")
        if known is not None and known.state_bytes is not None:
            sizes.append((seconds, known.state_bytes))

    with passing_folder("elastic") as folder:
        piece = Piece(name, CONTROL if elastic else timed(ControlSettings("none")))
        done = perform(stage, folder, on_embedded(stage, folder, spark), piece, look)
    return Came(done, sizes)


def main() -> int:
    """Runs both; 1 if anything was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phase-seconds", type=float, default=120.0)
    parser.add_argument("--runs", nargs="+", choices=("with", "without"), default=["with", "without"])
    parser.add_argument("--short", action="store_true", help="with elasticity, phases of 20 s")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.phase_seconds, chosen.runs = 20.0, ["with"]
    phases = Phases(chosen.phase_seconds)
    spark = create_session(SparkSettings(), 16, "elastic storm")
    if not chosen.short:
        run("with", spark, Phases(WARM_UP_PHASE_SECONDS))
    found = {name: run(name, spark, phases) for name in chosen.runs}
    spark.stop()
    command = f"python -m experiments.spark.elastic_storm --phase-seconds {chosen.phase_seconds:g}"
    write_report(NAME, _page(found, phases, f"{command} --runs {' '.join(chosen.runs)}"))
    _draw(found, phases)
    return int(not all(one.done.is_exact for one in found.values()))


def latency_ms(recording: Recording) -> list[tuple[float, float]]:
    """Time in all operators together, each by its last batch: windows keep what comes out waiting, by definition.

    Batches of a busy Detector take longer than the time between two looks, so that most looks see none of them end.
    """
    found, last = [], dict[str, float]()
    for i, at in enumerate(recording.seconds):
        last |= {name: ms for name, series in recording.latencies_ms.items() if (ms := series[i]) is not None}
        if "Detector" in last:
            found.append((at, sum(last.values())))
    return found


def steps(recording: Recording, operator: str) -> tuple[int, ...]:
    """How many replicas an operator had, one after the other."""
    return tuple(count for count, _ in groupby(round(value or 0) for value in recording.replicas[operator]))


def _phase_rows(found: Mapping[str, Came], phases: Phases) -> list[list[object]]:
    rows: list[list[object]] = []
    for number, rate in enumerate(PHASES_TPS):
        begin, end = number * phases.seconds_each, (number + 1) * phases.seconds_each
        cells: list[object] = [number + 1, f"{rate / S:g} ({rate:g})"]
        for name in ("with", "without"):
            inside = (
                [ms for at, ms in latency_ms(found[name].done.recording) if begin < at <= end] if name in found else []
            )
            cells.append(f"{mean(inside):.0f}" if inside else None)
        size = [value for at, value in found[next(iter(found))].state_bytes if begin < at <= end]
        cells.append(f"{max(size) / 1e6:.2f}" if size else None)
        if "with" in found:
            detectors = found["with"].done.replicas("Detector", begin, end)
            cells.append(f"{detectors[-1]:.0f}" if detectors else None)
        rows.append(cells)
    return rows


def _page(found: Mapping[str, Came], phases: Phases, command: str) -> list[str]:
    headers = ["phase", "tweets/s (paper)", "latency with, ms", "without, ms", "state of Detector, MB"]
    if "with" in found:
        headers.append("Detectors at the end")
    exact = [
        [f"{name} elasticity", len(one.done.moves), one.done.lost, one.done.duplicated] for name, one in found.items()
    ]
    return [
        "# Elastic Storm Figs. 4 to 7 on Spark: five phases, with and without elasticity",
        "",
        f"`{command}`",
        "",
        prose(
            f"s = {S:g}: tweets are so many times fewer, and a tweet costs a Detector {S:g} times as much; there are",
            f"{FEWER} times fewer Detectors, each {FEWER} times as fast, so that they are as busy as the paper's.",
            f"Phases last {phases.seconds_each:g} s instead of 900; the manager acts every {PERIOD_SECONDS:g} s, not",
            f"every 10, and {SETTLE_SECONDS:g} s after a change at the earliest. Latency is the time in all operators",
            "together, each by its last batch. A short run before both, which warms Java up, is left out. Every",
            "window was computed again without Spark.",
        ),
        "",
        *markdown_table(headers, _phase_rows(found, phases)),
        "",
        *markdown_table(("run", "changes", "patterns lost", "too many"), exact),
        *(_elastic(found["with"]) if "with" in found else []),
        "",
        f"![Latency, Detectors and state]({NAME}.svg)",
        "",
        "## What differs",
        "",
        prose(
            "- A pattern is reported when its window has passed: the response time is mostly that of windows, so the",
            "latency here is that of the operators, micro-batches included.",
        ),
        "- The scheduler of Xu et al. does not run beside the manager: nothing is reassigned but what is scaled.",
        "- State is relocated by key groups; what stays on a node is not, however many replicas it has there.",
    ]


def _elastic(one: Came) -> list[str]:
    went = steps(one.done.recording, "Detector")
    wanted = tuple(count // FEWER for count in DETECTORS)
    moved = relocations(one.done.entries, "Detector")
    rows = []
    for kind, paper in PAPER_SHARES.items():
        shares = [100 * each.share for each in moved if each.kind == kind]
        rows.append([kind, len(shares), f"{mean(shares):.1f}" if shares else None, f"{paper:g}"])
    pauses = [note.downtime_seconds for note in one.done.recording.notes if note.kind == "done"]
    told = ", ".join(map(str, went))
    overhead = f"{mean(pauses):.1f} s on average, {max(pauses):.1f} s at most" if pauses else "nothing was changed"
    return [
        "",
        verdict(
            "Detectors go the paper's way, divided", went == wanted, f"{told}; paper: {', '.join(map(str, wanted))}"
        ),
        verdict(
            f"A change takes less than the paper's {PAPER_OVERHEAD_SECONDS:g} s",
            not pauses or mean(pauses) < PAPER_OVERHEAD_SECONDS,
            overhead,
        ),
        "",
        *markdown_table(("change of Detector", "times", "state relocated %", "paper %"), rows),
    ]


def _draw(found: Mapping[str, Came], phases: Phases) -> None:
    figure = new_figure(9, 6)
    axes = figure.subplots(3, 1, sharex=True)
    for colour, (name, one) in zip(COLOURS, found.items(), strict=False):
        recording = one.done.recording
        known = latency_ms(recording)
        axes[0].semilogy([at for at, _ in known], [ms for _, ms in known], color=colour, label=f"{name} elasticity")
        axes[1].step(recording.seconds, recording.replicas["Detector"], where="post", color=colour)
        axes[2].plot([at for at, _ in one.state_bytes], [size / 1e6 for _, size in one.state_bytes], color=colour)
    for each, label in zip(axes, ("latency, ms", "Detectors", "state, MB"), strict=True):
        each.set_ylabel(label)
        for number in range(1, len(PHASES_TPS)):
            each.axvline(number * phases.seconds_each, color=COLOURS[5], linestyle=":", linewidth=0.8)
    axes[0].legend(frameon=False)
    axes[2].set_xlabel("seconds")
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
