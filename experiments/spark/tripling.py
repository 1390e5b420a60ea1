"""A load that triples and falls back, on Spark, under every control system and under none.

`python -m experiments.spark.tripling [--controls "edf, threshold" s-edrp ...] [--phase-seconds 80] [--period 10]`

Writes `docs/results/spark_tripling.md` and its picture.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

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
from rheostat.runtime.spark_session import create_session
from rheostat.runtime.spark_settings import SparkSettings

NAME = "spark_tripling"
LOW_TPS, HIGH_TPS = 20.0, 60.0
SLOWER = 2.5
"""The objective: so many times the median response time before the load rose."""
PERIODS_ALLOWED = 3


def main() -> int:
    """Runs all of them, one after the other; 1 if anything was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controls", nargs="+", choices=CONTROLS, default=list(CONTROLS))
    parser.add_argument("--phase-seconds", type=float, default=80.0)
    parser.add_argument("--period", type=float, default=10.0, help="seconds between two decisions")
    chosen = parser.parse_args()
    seconds = chosen.phase_seconds
    load = Load((Phase(LOW_TPS, seconds), Phase(HIGH_TPS, seconds), Phase(LOW_TPS, seconds)))
    spark = create_session(SparkSettings(), 12, "tripling")
    done = []
    for name in chosen.controls:
        with tempfile.TemporaryDirectory(prefix="rheostat-tripling-", ignore_cleanup_errors=True) as folder:
            done.append(run_controlled(name, spark, Path(folder), load, chosen.period))
    spark.stop()
    write_report(NAME, _page(done, seconds, chosen.period))
    _draw(done, seconds)
    return int(any(one.lost or one.duplicated for one in done))


def objective_ms(run: Controlled, seconds: float) -> float | None:
    """What the response time of a run should return to."""
    column = zip(run.recording.seconds, run.recording.column("response_mean_ms"), strict=True)
    before = [ms for at, ms in column if ms is not None and seconds / 3 <= at < seconds]
    return SLOWER * median(before) if before else None


def back_after(run: Controlled, seconds: float) -> list[float | None]:
    """Seconds after the rise and after the fall of the load until the response time was back; None if it never was."""
    bound = objective_ms(run, seconds)
    phases = (seconds, 2 * seconds), (2 * seconds, 3 * seconds)
    return [None if bound is None else run.back_under_ms(bound, *phase) for phase in phases]


def _row(run: Controlled, seconds: float) -> list[object]:
    high = (seconds, 2 * seconds)
    bound, back = objective_ms(run, seconds), back_after(run, seconds)
    pauses = [note.downtime_seconds for note in run.recording.notes if note.kind == "done"]
    first = next((move.at_seconds - seconds for move in run.moves if move.by > 0 and move.at_seconds >= seconds), None)
    replicas = run.replicas("split", *high)
    return [
        run.name,
        len(run.moves),
        None if first is None else f"{first:.0f}",
        f"{max(replicas):.0f}" if replicas else None,
        f"{run.replicas('split', 0, 1e9)[-1]:.0f}",
        None if bound is None else f"{bound:.0f}",
        *("never" if one is None else f"{one:.0f}" for one in back),
        f"{mean(pauses):.1f}" if pauses else None,
        run.flaps(SETTLE_SECONDS),
        run.lost,
        run.duplicated,
    ]


def _page(runs: Sequence[Controlled], seconds: float, period: float) -> list[str]:
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
        f"`python -m experiments.spark.tripling --phase-seconds {seconds:g} --period {period:g}`",
        "",
        prose(
            f"Word Count on three embedded nodes; a sentence costs a replica of `split` {SERVICE_MS:g} ms, so one can",
            f"do {1000 / SERVICE_MS:.0f} a second. {LOW_TPS:g} sentences a second for {seconds:g} s, then",
            f"{HIGH_TPS:g}, then {LOW_TPS:g} again. Managers act every {period:g} s and leave what they have",
            f"changed alone for {SETTLE_SECONDS:g} s. The objective is {SLOWER:g} times the median response time",
            f"before the load rose; goal: back under it {allowed:g} s after the load has changed. A flap is an",
            f"operator that changes its direction twice within {SETTLE_SECONDS:g} s. Every word was counted again",
            "without Spark.",
        ),
        "",
        *markdown_table(headers, [_row(run, seconds) for run in runs]),
        "",
        *(line for run in runs if run.name != "none" for line in _verdicts(run, seconds, allowed)),
        "",
        f"![Rate, replicas and response time]({NAME}.svg)",
    ]


def _verdicts(run: Controlled, seconds: float, allowed: float) -> list[str]:
    back = back_after(run, seconds)
    told = " and ".join("never" if one is None else f"{one:.0f} s" for one in back)
    in_time = all(one is not None and one <= allowed for one in back)
    return [
        verdict(f"{run.name}: back under the objective within {allowed:g} s of each change", in_time, told),
        verdict(f"{run.name}: no flapping", not run.flaps(SETTLE_SECONDS), f"{run.flaps(SETTLE_SECONDS)} flaps"),
        verdict(f"{run.name}: exact", run.is_exact, f"{run.lost} words lost, {run.duplicated} repeated"),
    ]


def _draw(runs: Sequence[Controlled], seconds: float) -> None:
    figure = new_figure(8, 5)
    replicas, responses = figure.subplots(2, 1, sharex=True)
    for colour, run in zip(COLOURS, runs, strict=False):
        at = run.recording.seconds
        replicas.step(at, drawable(run.recording.replicas["split"]), where="post", color=colour, label=run.name)
        known = [(x, y) for x, y in zip(at, run.recording.column("response_mean_ms"), strict=True) if y is not None]
        responses.plot([x for x, _ in known], [y / 1000 for _, y in known], color=colour)
    for axes in (replicas, responses):
        axes.axvspan(seconds, 2 * seconds, color="#f1f4f7", zorder=0)
    replicas.set_ylabel("replicas of split")
    replicas.legend(loc="upper right", frameon=False)
    responses.set_ylabel("response time, s")
    responses.set_xlabel(f"seconds; {HIGH_TPS:g} sentences/s where it is grey, {LOW_TPS:g} elsewhere")
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
