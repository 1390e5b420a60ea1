"""A load that triples and falls back, on Spark, under every control system and under none.

`python -m experiments.spark.tripling [--controls s-edrp ...] [--calm-seconds 120] [--phase-seconds 80] [--period 10]`

Writes `docs/results/spark_tripling.md` and its picture.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from experiments.folders import passing_folder
from experiments.planning.report import (
    COLOURS,
    drawable,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    verdict,
    write_report,
)
from experiments.spark.controlled import CONTROLS, SETTLE_SECONDS, run_controlled
from experiments.spark.outcome import Controlled
from experiments.spark.workload import SERVICE_MS, Load, Phase
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

NAME = "spark_tripling"
LOW_TPS, HIGH_TPS = 20.0, 60.0
SLOWER = 2.5
"""The objective: so many times the median response time before the load rose."""
PERIODS_ALLOWED = 3


@dataclass(frozen=True, slots=True)
class Times:
    """When the load rises and falls, seconds from the start."""

    calm: float
    """Long enough to learn what there is to learn: planners rely on hops that were measured sixty times."""
    phase: float

    @property
    def rise(self) -> tuple[float, float]:
        """From the rise to the fall."""
        return self.calm, self.calm + self.phase

    @property
    def fall(self) -> tuple[float, float]:
        """From the fall to the end."""
        return self.calm + self.phase, self.calm + 2 * self.phase


def main() -> int:
    """Runs all of them, one after the other; 1 if anything was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controls", nargs="+", choices=CONTROLS, default=list(CONTROLS))
    parser.add_argument("--calm-seconds", type=float, default=120.0, help="before the load rises")
    parser.add_argument("--phase-seconds", type=float, default=80.0, help="of the high load, and after it")
    parser.add_argument("--period", type=float, default=10.0, help="seconds between two decisions")
    chosen = parser.parse_args()
    times = Times(chosen.calm_seconds, chosen.phase_seconds)
    load = Load((Phase(LOW_TPS, times.calm), Phase(HIGH_TPS, times.phase), Phase(LOW_TPS, times.phase)))
    spark = create_session(SparkSettings(), 12, "tripling")
    done = []
    for name in chosen.controls:
        with passing_folder("tripling") as folder:
            done.append(run_controlled(name, spark, folder, load, chosen.period))
    spark.stop()
    write_report(NAME, _page(done, times, chosen.period))
    _draw(done, times)
    return int(any(one.lost or one.duplicated for one in done))


def objective_ms(run: Controlled, times: Times) -> float | None:
    """What the response time of a run should return to."""
    column = zip(run.recording.seconds, run.recording.column("response_mean_ms"), strict=True)
    before = [ms for at, ms in column if ms is not None and times.calm / 3 <= at < times.calm]
    return SLOWER * median(before) if before else None


def back_after(run: Controlled, times: Times) -> list[float | None]:
    """Seconds after the rise and after the fall of the load until the response time was back; None if it never was."""
    bound = objective_ms(run, times)
    return [None if bound is None else run.back_under_ms(bound, *phase) for phase in (times.rise, times.fall)]


def _command(runs: Sequence[Controlled], times: Times, period: float) -> str:
    controls = " ".join(f'"{run.name}"' for run in runs)
    phases = f"--calm-seconds {times.calm:g} --phase-seconds {times.phase:g} --period {period:g}"
    return f"`python -m experiments.spark.tripling {phases} --controls {controls}`"


def _row(run: Controlled, times: Times) -> list[object]:
    bound, back, risen = objective_ms(run, times), back_after(run, times), times.calm
    pauses = [note.downtime_seconds for note in run.recording.notes if note.kind == "done"]
    first = next((move.at_seconds - risen for move in run.moves if move.by > 0 and move.at_seconds >= risen), None)
    replicas = run.replicas("split", *times.rise)
    return [
        run.name,
        len(run.moves),
        None if first is None else f"{first:.0f}",
        f"{max(replicas):.0f}" if replicas else None,
        f"{run.replicas('split', 0, 1e9)[-1]:.0f}",
        None if bound is None else f"{bound:.0f}",
        *("never" if one is None else f"{one:.0f}" for one in back),
        f"{mean(pauses):.1f}" if pauses else None,
        run.flaps(times.calm),
        run.lost,
        run.duplicated,
    ]


def _page(runs: Sequence[Controlled], times: Times, period: float) -> list[str]:
    headers = (
        "control",
        "changes",
        "first scale-out after s",
        "most replicas",
        "in the end",
        "objective ms",
        "back under it after s, load up",
        "load down",
        "mean pause s",
        "flaps",
        "words lost",
        "repeated",
    )
    allowed = PERIODS_ALLOWED * period
    return [
        "# A load that triples and falls back, on Spark",
        "",
        _command(runs, times, period),
        "",
        prose(
            f"Word Count on three embedded nodes; a sentence costs a replica of `split` {SERVICE_MS:g} ms, so one can",
            f"do {1000 / SERVICE_MS:.0f} a second. {LOW_TPS:g} sentences a second for {times.calm:g} s, then",
            f"{HIGH_TPS:g} for {times.phase:g} s, then {LOW_TPS:g} again. Managers act every {period:g} s and leave",
            f"what they have changed alone for {SETTLE_SECONDS:g} s. The objective is {SLOWER:g} times the median",
            f"response time before the load rose; goal: back under it {allowed:g} s after the load has changed.",
            "A flap is an operator that changes its direction a second time after the rise, however much later.",
            "Every word was counted again without Spark.",
        ),
        "",
        *markdown_table(headers, [_row(run, times) for run in runs]),
        "",
        *(line for run in runs if run.name != "none" for line in _verdicts(run, times, allowed)),
        "",
        "## What they did, and why",
        "",
        *markdown_table(
            ("control", "at s", "what", "why", "pause s"),
            [
                [run.name, f"{note.at_seconds:.0f}", note.what, note.why or None, f"{note.downtime_seconds:.1f}"]
                for run in runs
                for note in run.recording.notes
                if note.kind == "done"
            ],
        ),
        "",
        f"![Rate, replicas and response time]({NAME}.svg)",
    ]


def _verdicts(run: Controlled, times: Times, allowed: float) -> list[str]:
    back = back_after(run, times)
    told = " and ".join("never" if one is None else f"{one:.0f} s" for one in back)
    in_time = all(one is not None and one <= allowed for one in back)
    return [
        verdict(f"{run.name}: back under the objective within {allowed:g} s of each change", in_time, told),
        verdict(f"{run.name}: no flapping", not run.flaps(times.calm), f"{run.flaps(times.calm)} flaps"),
        verdict(f"{run.name}: exact", run.is_exact, f"{run.lost} words lost, {run.duplicated} repeated"),
    ]


def _draw(runs: Sequence[Controlled], times: Times) -> None:
    figure = new_figure(8, 5)
    replicas, responses = figure.subplots(2, 1, sharex=True)
    for colour, run in zip(COLOURS, runs, strict=False):
        at = run.recording.seconds
        replicas.step(at, drawable(run.recording.replicas["split"]), where="post", color=colour, label=run.name)
        known = [(x, y) for x, y in zip(at, run.recording.column("response_mean_ms"), strict=True) if y is not None]
        responses.plot([x for x, _ in known], [y / 1000 for _, y in known], color=colour)
    for axes in (replicas, responses):
        axes.axvspan(*times.rise, color="#f1f4f7", zorder=0)
    replicas.set_ylabel("replicas of split")
    replicas.legend(loc="upper right", frameon=False)
    responses.set_ylabel("response time, s")
    responses.set_xlabel(f"seconds; {HIGH_TPS:g} sentences/s where it is grey, {LOW_TPS:g} elsewhere")
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
