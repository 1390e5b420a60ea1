"""EDF on Spark: taxi routes under thresholds, Q-learning and model-based learning, with a token bucket and without.

`python -m experiments.spark.edf [--minutes 10] [--rows "TH U = 0.5" ...] [--short]`

Writes `docs/results/spark_edf.md` and its picture.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from experiments.control.edf import OBJECTIVE_MS, PIPELINE_TPS, RANKING_SECONDS_PER_TUPLE
from experiments.control.rows import ROWS, Row
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
from experiments.spark.controlled import PERIOD_SECONDS, SETTLE_SECONDS, timed
from experiments.spark.outcome import Controlled
from experiments.spark.stage import Piece, on_embedded, perform
from experiments.spark.taxi_stage import SCALED, S, Trips
from rheostat.control.managers.decisions import DECISION, Decision
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.report.run_summary import Exclusion, Summary, summarise
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

NAME = "spark_edf"
LEAST_TPS, GREATEST_TPS = 150.0, 500.0
CAPACITIES_TPS = {"parser": PIPELINE_TPS, "countByWindow": 1 / RANKING_SECONDS_PER_TUPLE}
"""Of a replica: derived from the paper's text in `experiments.control.edf`."""
R_MAX_MS = OBJECTIVE_MS * S
LOW_MS, HIGH_MS = 125.0 * S, 225.0 * S
"""τ_L and τ_H."""
QUANTUM_TPS, LEVELS = 50.0 / S, 12
PAPER_PERIOD_SECONDS = 30.0
MOST_REPLICAS = 3
DAYS = 5
EXCLUSION = Exclusion(warm_up_seconds=30.0, settle_seconds=8.0)
"""The paper leaves out half an hour, and two minutes after each change, which are four periods; two of ours."""
CHOSEN = (
    "TH U = 0.7",
    "TH U = 0.5",
    "TH U = 0.3",
    "TH U = 0.3 + token bucket",
    "QL perf = res = 2 rcf",
    "QL perf = res = 2 rcf + token bucket",
    "MB perf = res = 2 rcf",
    "MB perf = res = 2 rcf + token bucket",
)
"""Those whose rows in Table 1 say most; `--rows` takes any of the fifteen."""


@dataclass(frozen=True)
class Came:
    """What came of a row."""

    row: Row
    done: Controlled
    summary: Summary


def settings(row: Row, bounds_ms: Mapping[str, float]) -> ControlSettings:
    """The row's, with rates and times by s and periods of ours."""
    options = dict(row.options)
    if row.policy != "TH":
        options |= {"rate_quantum_tps": QUANTUM_TPS, "rate_levels": LEVELS, "learning_rate": 0.5}
    if row.policy == "MB":
        options["sweeps"] = 50
    bucket = {"period_seconds": 2 * PERIOD_SECONDS, "low_ms": LOW_MS, "high_ms": HIGH_MS} if row.bucket else {}
    kept = {name: ms for name, ms in bounds_ms.items() if name in SCALED}
    return replace(
        timed(row.settings),
        options=options,
        granting_options=bucket,
        latency_bounds_ms={} if row.policy == "TH" else kept,
    )


def main() -> int:
    """Runs the rows, one after the other; 1 if anything was lost or repeated."""
    known = {row.name: row for row in ROWS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rows", nargs="+", choices=known, default=list(CHOSEN), metavar="ROW")
    parser.add_argument("--short", action="store_true", help="one row, a minute and a half")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.minutes, chosen.rows = 1.0, ["TH U = 0.5"]
    trips = Trips(LEAST_TPS, GREATEST_TPS, DAYS if chosen.minutes >= DAYS else 1, 60 * chosen.minutes)
    spark = create_session(SparkSettings(), 24, "edf")
    bounds = calibrated(spark, 0.2 * trips.seconds) if any(known[name].policy != "TH" for name in chosen.rows) else {}
    found = [came(spark, known[name], trips, bounds) for name in chosen.rows]
    spark.stop()
    quoted = " ".join(f'"{name}"' for name in chosen.rows)
    write_report(
        NAME,
        _page(found, trips, bounds, f"python -m experiments.spark.edf --minutes {chosen.minutes:g} --rows {quoted}"),
    )
    _draw(found)
    return int(not all(one.done.is_exact for one in found))


def calibrated(spark: SparkSession, seconds: float) -> dict[str, float]:
    """R_max,op: what operators take when the response time is close to R_max, in a run of its own [EDF 9]."""
    trips = Trips(LEAST_TPS, GREATEST_TPS, 1, max(60.0, seconds))
    found = _run(spark, trips, Piece("calibration", timed(ControlSettings("none"))))
    bounds = found.profile.bounds_ms(R_MAX_MS)
    tell(f"R_max,op in ms: { {name: round(ms) for name, ms in bounds.items() if name in SCALED} }")
    return bounds


def came(spark: SparkSession, row: Row, trips: Trips, bounds_ms: Mapping[str, float]) -> Came:
    """One row."""
    done = _run(spark, trips, Piece(row.name, settings(row, bounds_ms)))
    recording = replace(done.recording, objective_ms=R_MAX_MS)
    return Came(row, done, summarise(recording, EXCLUSION))


def _run(spark: SparkSession, trips: Trips, piece: Piece) -> Controlled:
    stage = trips.stage(CAPACITIES_TPS, MOST_REPLICAS)
    with passing_folder("edf") as folder:
        return perform(stage, folder, on_embedded(stage, folder, spark), piece)


def asked(done: Controlled) -> tuple[int, int]:
    """Requests of managers, and how many of them were granted."""
    made = [Decision.from_facts(story.decision.facts) for story in done.told if story.decision.kind == DECISION]
    return sum(len(one.requests) for one in made), sum(len(one.granted) for one in made)


def _cells(one: Came) -> list[object]:
    summary, paper = one.summary, one.row.paper
    mean, p50, p95, replicas, downtime, violations = paper
    ours = (summary.mean_ms, summary.p50_ms, summary.p95_ms)
    requests, granted = asked(one.done)
    return [
        one.row.name,
        *(
            f"{value:.0f} ({S * other:.0f})" if value is not None else None
            for value, other in zip(ours, (mean, p50, p95), strict=True)
        ),
        f"{summary.replicas - 1:.2f} ({replicas:g})",
        f"{100 * summary.downtime:.2f} ({downtime:g})",
        None if summary.violations is None else f"{100 * summary.violations:.1f} ({violations:g})",
        summary.reconfigurations,
        f"{granted} of {requests}",
        one.done.lost,
        one.done.duplicated,
    ]


def _page(found: Sequence[Came], trips: Trips, bounds_ms: Mapping[str, float], command: str) -> list[str]:
    headers = ["policy", "mean ms", "P50 ms", "P95 ms", "replicas", "downtime %", "R > R_max %", "changes", "granted"]
    headers += ("rankings lost", "too many")
    told = ", ".join(f"{name} {ms:.0f} ms" for name, ms in sorted(bounds_ms.items()) if name in SCALED)
    return [
        "# EDF on Spark: taxi routes under the policies of Table 1",
        "",
        f"`{command}`",
        "",
        prose(
            f"s = {S:g}: rates of {LEAST_TPS:g} to {GREATEST_TPS:g} tuples/s are divided by it, service times, R_max,",
            f"τ_L and τ_H multiplied, and so are the paper's times in brackets. {trips.days} days pass in",
            f"{trips.seconds:g} s, {trips.total} trips; managers act every {PERIOD_SECONDS:g} s (paper:",
            f"{PAPER_PERIOD_SECONDS:g} s) and leave what has changed alone for {SETTLE_SECONDS:g} s. R_max is",
            f"{R_MAX_MS:g} ms; R_max,op, measured beforehand as the paper does: {told or 'nothing'}. The first",
            f"{EXCLUSION.warm_up_seconds:g} s and {EXCLUSION.settle_seconds:g} s after each change are left out of",
            "averages. Every ranking was computed again without Spark.",
        ),
        "",
        *markdown_table(headers, [_cells(one) for one in found]),
        "",
        *_claims(found),
        "",
        f"![Response time and replicas]({NAME}.svg)",
        "",
        "## What differs",
        "",
        "- A tuple crosses five queries, each in micro-batches of half a second: that is part of every response time.",
        prose(
            "- Two operators can have several replicas, one for each place in which something is done (see",
            "`experiments/spark/taxi_stage.py`), not five: so replicas and their changes are fewer.",
        ),
        prose(
            "- Learners have minutes instead of twelve hours: they learn at a rate of 0.5 instead of 0.1, and the",
            "model-based one backs its table up until it has settled.",
        ),
    ]


def _claims(found: Sequence[Came]) -> list[str]:
    """What the paper says of its table, as far as the rows are here."""
    by_name = {one.row.name: one for one in found}
    lines = []
    for plain, held in ((name, f"{name} + token bucket") for name in by_name if f"{name} + token bucket" in by_name):
        before, after = by_name[plain].summary, by_name[held].summary
        numbers = f"{100 * before.downtime:.2f} % without, {100 * after.downtime:.2f} % with"
        lines.append(
            verdict(f"The token bucket cuts the downtime of {plain}", after.downtime < before.downtime, numbers)
        )
    thresholds = [one for one in found if one.row.policy == "TH" and not one.row.bucket]
    ordered = sorted(thresholds, key=lambda one: -float(one.row.options["scale_out"]))
    if len(ordered) > 1:
        counts = [one.summary.replicas for one in ordered]
        numbers = ", ".join(f"{one.row.setting}: {count - 1:.2f}" for one, count in zip(ordered, counts, strict=True))
        lines.append(verdict("Lower thresholds have more replicas", counts == sorted(counts), numbers))
    return lines


def _draw(found: Sequence[Came]) -> None:
    figure = new_figure(9, 5)
    responses, replicas = figure.subplots(2, 1, sharex=True)
    for i, one in enumerate(found):
        recording, colour = one.done.recording, COLOURS[i % len(COLOURS)]
        style = "-" if i < len(COLOURS) else "--"
        known = [(x, y) for x, y in zip(recording.seconds, recording.column("response_mean_ms"), strict=True) if y]
        responses.plot([x for x, _ in known], [y / 1000 for _, y in known], style, color=colour, linewidth=0.8)
        replicas.step(
            recording.seconds,
            drawable(recording.total_replicas()),
            style,
            where="post",
            color=colour,
            label=one.row.name,
        )
    responses.axhline(R_MAX_MS / 1000, color=COLOURS[5], linestyle=":")
    responses.set_ylabel("response time, s")
    replicas.set(ylabel="replicas", xlabel="seconds")
    replicas.legend(frameon=False, fontsize=6, ncols=2)
    save_figure(NAME, figure)


if __name__ == "__main__":
    sys.exit(main())
