"""Validation of the simulator: one scenario, simulated and run on Spark, side by side.

`python -m experiments.spark.validation [--phase-seconds 90] [--calibration-seconds 60] [--short]`

First Word Count runs through some loads and one change, to learn what a batch and a change cost. With that a load that
triples and falls back under EDF's thresholds is simulated; then it is run. Nothing of the second run is used for the
simulation. Writes `docs/results/spark_validation.md` and its picture.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from pyspark.sql import SparkSession

from experiments.folders import passing_folder
from experiments.planning.report import (
    COLOURS,
    drawable,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    tell,
    verdict,
    write_report,
)
from experiments.spark.controlled import CONTROLS, PERIOD_SECONDS, SETTLE_SECONDS, timed
from experiments.spark.outcome import Controlled
from experiments.spark.side_by_side import Compared, Part, compared, mean_latencies_ms, parts
from experiments.spark.stage import Piece, Stage, on_embedded, perform
from experiments.spark.workload import AT_FIRST, SERVICE_MS, THREE_NODES, Load, Phase
from rheostat.control.loop.ports import Done
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller import Controller
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import Constant, MicroBatch
from rheostat.report.recording import Recording
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.studies.simulated_run import simulate
from rheostat.simulation.world.scenario import Scenario

NAME = "spark_validation"
LOW_TPS, HIGH_TPS = 20.0, 60.0
CALIBRATION_TPS = (10.0, 20.0, 40.0)
CONTROL = "edf, threshold"
BUSY = "split"
GOAL = 0.25
WARM_UP_SECONDS = 15.0
"""Spark compiles."""
SETTLING_PERIODS = 6
"""After a change of the load so many periods count as the time in which it is adapted to."""
TWO = Deployment.of({name: {"n2": 2} if name == BUSY else dict(at.counts) for name, at in AT_FIRST.items()})


@dataclass
class Calibration:
    """What was learned before."""

    run: Controlled
    pauses: list[float] = field(default_factory=list)
    """Seconds that changes of the busy operator took."""

    @property
    def capacity_tps(self) -> float:
        """Of a replica: as declared, since the service time is emulated."""
        return 1000 / SERVICE_MS

    def batches(self) -> MicroBatch:
        """How the busy operator answers to load."""
        points = [point for point in self.run.profile.operators[BUSY].points if point[0] < self.capacity_tps]
        return MicroBatch.fit([x for x, _ in points], [y for _, y in points], self.capacity_tps)

    def applied_to(self, application: Application) -> Application:
        """The busy operator in micro-batches; the others share what else the response time was, whatever the load.

        Not what they took by themselves: rows come in bursts, when the batch before ends, and do not wait half a batch.
        """
        warm = self.run.recording.seconds[-1] / 3
        taken = mean_latencies_ms(self.run.recording, warm, 1e9)
        others = {name: ms for name, ms in taken.items() if name != BUSY}
        known = [(at, ms) for at, ms in _responses(self.run.recording) if at >= warm]
        left = mean(ms for _, ms in known) - taken.get(BUSY, 0.0)
        share = max(0.0, left) / sum(others.values())
        latencies = {name: Constant(share * ms) for name, ms in others.items()} | {BUSY: self.batches()}
        return replace(
            application,
            operators=tuple(replace(op, latency=latencies.get(op.name, Constant())) for op in application.operators),
        )


def main() -> int:
    """Calibrates, simulates, runs, compares; 1 if anything was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phase-seconds", type=float, default=90.0)
    parser.add_argument("--calibration-seconds", type=float, default=60.0)
    parser.add_argument("--short", action="store_true", help="phases of 25 s, loads of 15 s")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.phase_seconds, chosen.calibration_seconds = 25.0, 15.0
    load = Load(tuple(Phase(rate, chosen.phase_seconds) for rate in (LOW_TPS, HIGH_TPS, LOW_TPS)))
    stage, settings = load.stage(), timed(CONTROLS[CONTROL])
    spark = create_session(SparkSettings(), 12, "validation")
    learned = calibrate(spark, chosen.calibration_seconds)
    foreseen = foresee(learned.applied_to(stage.application), load, settings, learned.pauses)
    declared = foresee(stage.application, load, settings, learned.pauses)
    with passing_folder("validation") as root:
        done = perform(stage, root, on_embedded(stage, root, spark), Piece(CONTROL, settings))
    spark.stop()
    command = f"python -m experiments.spark.validation --phase-seconds {chosen.phase_seconds:g}"
    command += f" --calibration-seconds {chosen.calibration_seconds:g}"
    write_report(NAME, _page(learned, (foreseen, declared), done, load, command))
    _draw(foreseen, done, chosen.phase_seconds)
    return int(not (done.is_exact and learned.run.is_exact))


def _responses(recording: Recording) -> list[tuple[float, float]]:
    column = recording.column("response_mean_ms")
    return [(at, ms) for at, ms in zip(recording.seconds, column, strict=True) if ms is not None]


def calibrate(spark: SparkSession, seconds: float) -> Calibration:
    """Runs through some loads, and changes the busy operator there and back."""
    load = Load(tuple(Phase(rate, seconds) for rate in CALIBRATION_TPS))
    stage: Stage = load.stage()
    pauses: list[float] = []
    wanted = [(1.5 * seconds, TWO), (2.0 * seconds, AT_FIRST)]

    def change(controller: Controller, now: float) -> None:
        if wanted and now >= wanted[0][0]:
            effect = controller.runtime.deploy(wanted.pop(0)[1])
            if isinstance(effect, Done):
                pauses.append(effect.downtime_seconds)

    with passing_folder("calibration") as root:
        piece = Piece("calibration", timed(ControlSettings("none")))
        run = perform(stage, root, on_embedded(stage, root, spark), piece, change)
    learned = Calibration(run, pauses)
    tell(f"learned: {learned.batches()}, changes took {', '.join(f'{pause:.1f} s' for pause in pauses)}")
    return learned


def foresee(application: Application, load: Load, settings: ControlSettings, pauses: Sequence[float]) -> Recording:
    """The same scenario in virtual time."""
    scenario = Scenario(
        application,
        THREE_NODES,
        AT_FIRST,
        CurveWorkload.of(load.curve),
        downtime=Measured({ChangeWay.STATELESS: Pause(mean(pauses) if pauses else 0.0)}),
        step_seconds=PERIOD_SECONDS / 12,
        sample_seconds=PERIOD_SECONDS / 3,
    )
    return simulate(scenario, settings, load.seconds).recording


def stretches(load: Load) -> list[tuple[str, float, float]]:
    """Calm and adapting times."""
    settling = min(SETTLING_PERIODS * PERIOD_SECONDS, load.phases[0].seconds / 2)
    rise, fall = load.phases[0].seconds, load.phases[0].seconds + load.phases[1].seconds
    return [
        ("low load, at rest", min(WARM_UP_SECONDS, rise / 2), rise),
        ("after the rise", rise, rise + settling),
        ("high load, adapted", rise + settling, fall),
        ("after the fall", fall, fall + settling),
        ("low load again", fall + settling, load.seconds),
    ]


ASSUMPTIONS = {
    "low load, at rest": "latency of operators at rest: split takes 1.5 a / (1 - λ/μ), the others a constant",
    "after the rise": "how soon managers see an overload and change something, and how fast what waits is worked off",
    "high load, adapted": "latency of several replicas: each is taken for one that gets its share of the rate",
    "after the fall": "how soon what waits is gone and managers scale in",
    "low load again": "latency of operators at rest, after changes",
}


def _page(
    learned: Calibration, simulated: tuple[Recording, Recording], done: Controlled, load: Load, command: str
) -> list[str]:
    foreseen, declared = simulated
    pieces = stretches(load)
    begin = pieces[0][1]
    whole = compared(foreseen, done.recording, BUSY, (begin, load.seconds))
    naive = compared(declared, done.recording, BUSY, (begin, load.seconds))
    divided = parts(foreseen, done.recording, pieces)
    model = learned.batches()
    lines = [
        "# The simulator against Spark: one scenario, simulated and run",
        "",
        f"`{command}`",
        "",
        prose(
            f"Word Count on three embedded nodes under `{CONTROL}`, a decision every {PERIOD_SECONDS:g} s,",
            f"{SETTLE_SECONDS:g} s to settle: {load.curve} sentences/s. A sentence costs a replica of `{BUSY}`",
            f"{SERVICE_MS:g} ms (s = 1: nothing is taken from a paper). Learned in a run before, under",
            f"{', '.join(f'{rate:g}' for rate in CALIBRATION_TPS)} sentences/s: a batch of `{BUSY}` has a fixed part",
            f"of {model.fixed_ms:.0f} ms, a change of it takes {_mean(learned.pauses)} s, the other operators take",
            f"what else the response time was. Compared from {begin:g} s on.",
        ),
        "",
        *markdown_table(
            ("figure", "simulated", "on Spark", "error", "simulated as declared (M/M/1)", "error"),
            [_row(one, other) for one, other in zip(whole, naive, strict=True)],
        ),
        "",
        *markdown_table(
            ("run", "words lost", "repeated", "changes"),
            [[run.name, run.lost, run.duplicated, len(run.moves)] for run in (learned.run, done)],
        ),
        "",
    ]
    for one in whole:
        holds = abs(one.error) <= GOAL
        lines.append(verdict(f"{one.name}: foreseen within {GOAL:.0%}", holds, f"{one.error:+.0%}"))
    lines += ["", "## Where the error comes from", "", *_where(divided), "", *_latencies(foreseen, done, pieces)]
    lines += ["", *_changes(foreseen, done, learned)]
    return [*lines, "", f"![Replicas and response time, simulated and on Spark]({NAME}.svg)"]


def _row(one: Compared, other: Compared) -> list[object]:
    return [
        one.name,
        f"{one.foreseen:.2f}" if one.foreseen < 100 else f"{one.foreseen:.0f}",
        f"{one.measured:.2f}" if one.measured < 100 else f"{one.measured:.0f}",
        f"{one.error:+.0%}",
        f"{other.foreseen:.2f}",
        f"{other.error:+.0%}",
    ]


def _mean(values: Sequence[float]) -> str:
    return f"{mean(values):.1f}" if values else "an unknown number of"


def _where(divided: Sequence[Part]) -> list[str]:
    rows = [
        [
            part.name,
            f"{part.from_seconds:.0f} to {part.to_seconds:.0f}",
            f"{part.foreseen_ms:.0f}",
            f"{part.measured_ms:.0f}",
            f"{part.error_ms:+.0f}",
        ]
        for part in divided
    ]
    lines = markdown_table(("time", "s", "simulated ms", "on Spark ms", "adds to the error of the mean, ms"), rows)
    if divided:
        worst = max(divided, key=lambda part: abs(part.error_ms))
        total = sum(abs(part.error_ms) for part in divided)
        share = abs(worst.error_ms) / total if total else 0.0
        lines += ["", f"The largest part, {share:.0%} of all, is *{worst.name}*: {ASSUMPTIONS[worst.name]}."]
    return lines


def _latencies(foreseen: Recording, done: Controlled, pieces: Sequence[tuple[str, float, float]]) -> list[str]:
    """Operator by operator while nothing has changed yet, and what they leave unexplained of the response time."""
    _, begin, end = pieces[0]
    ours, theirs = (mean_latencies_ms(one, begin, end) for one in (foreseen, done.recording))
    rows = [
        [name, f"{ours[name]:.0f}" if name in ours else None, f"{theirs[name]:.0f}" if name in theirs else None]
        for name in foreseen.replicas
    ]
    for calm in parts(foreseen, done.recording, pieces[:1]):
        left = calm.measured_ms - sum(theirs.values())
        rows.append(["between operators", f"{calm.foreseen_ms - sum(ours.values()):.0f}", f"{left:.0f}"])
    return [
        f"At rest, {begin:g} to {end:g} s, operator by operator:",
        "",
        *markdown_table(("", "simulated ms", "on Spark ms"), rows),
    ]


def _changes(foreseen: Recording, done: Controlled, learned: Calibration) -> list[str]:
    rows = []
    for name, recording in (("simulated", foreseen), ("on Spark", done.recording)):
        notes = [note for note in recording.notes if note.kind == "done"]
        when = ", ".join(f"{note.at_seconds:.0f}" for note in notes)
        rows.append([name, len(notes), when, _mean([note.downtime_seconds for note in notes])])
    rows.append(["calibration", len(learned.pauses), None, _mean(learned.pauses)])
    return markdown_table(("changes", "number", "at s", "mean pause s"), rows)


def _draw(foreseen: Recording, done: Controlled, seconds: float) -> None:
    figure = new_figure(8, 5)
    replicas, responses = figure.subplots(2, 1, sharex=True)
    for colour, name, recording in ((COLOURS[1], "simulated", foreseen), (COLOURS[0], "on Spark", done.recording)):
        replicas.step(recording.seconds, drawable(recording.replicas[BUSY]), where="post", color=colour, label=name)
        column = recording.column("response_mean_ms")
        known = [(x, y) for x, y in zip(recording.seconds, column, strict=True) if y is not None]
        responses.plot([x for x, _ in known], [y / 1000 for _, y in known], color=colour)
    for axes in (replicas, responses):
        axes.axvspan(seconds, 2 * seconds, color="#f1f4f7", zorder=0)
    replicas.set_ylabel(f"replicas of {BUSY}")
    replicas.legend(frameon=False)
    responses.set_ylabel("response time, s")
    responses.set_xlabel(f"seconds; {HIGH_TPS:g} sentences/s where it is grey, {LOW_TPS:g} elsewhere")
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
