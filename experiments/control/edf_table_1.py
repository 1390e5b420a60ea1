"""Table 1 and Fig. 5 of EDF: twelve hours under fifteen control systems.

python -m experiments.control.edf_table_1 [--trace FILE.csv] [--seed N] [--processes N]
"""

import argparse
from pathlib import Path

from experiments.control import edf
from experiments.control.claims import CUT_CLAIMED, Claim, claims, cut_by_the_bucket, robustness
from experiments.control.rows import ROWS, SETTLE_SECONDS, Outcome, outcomes
from experiments.planning.report import (
    COLOURS,
    Stopwatch,
    drawable,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    tell,
    verdict,
    write_report,
)
from rheostat.simulation.load.rate_traces import read_trace
from rheostat.simulation.load.workload import TraceWorkload

OTHER_NOISE = (0.10, 0.15)
"""Relative errors of measurement beside the one that is taken."""
NAME, FIGURE = "edf_table_1", "edf_figure_5"
HEADERS = (
    "policy",
    "mean ms",
    "P50 ms",
    "P95 ms",
    "replicas",
    "downtime %",
    "R > R_max %",
    "changes",
    "granted of asked",
)
DRAWN = (
    ("TH U = 0.3", "a: thresholds"),
    ("TH U = 0.3 + token bucket", "b: thresholds, token bucket"),
    ("QL perf = res = 2 rcf", "c: Q-learning"),
    ("QL perf = res = 2 rcf + token bucket", "d: Q-learning, token bucket"),
    ("MB perf = res = 2 rcf", "e: model-based"),
    ("MB perf = res = 2 rcf + token bucket", "f: model-based, token bucket"),
)
"""The six panels of Fig. 5."""


def main() -> None:
    """Runs all rows and writes them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, help="recorded rates, scaled to 150-500 tuples/s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    workload = None if chosen.trace is None else five_days(read_trace(chosen.trace))
    watch = Stopwatch()
    found = outcomes(ROWS, workload, chosen.seed, chosen.processes)
    wall, _ = watch.seconds()
    tell(f"seed {chosen.seed}: {wall:.0f} s")
    if chosen.trace is not None:
        tell("\n".join(_table(found)))
        return
    by_seed = {chosen.seed: claims(found)}
    for other in (chosen.seed + 1, chosen.seed + 2):
        by_seed[other] = claims(outcomes(ROWS, None, other, chosen.processes))
        tell(f"seed {other}")
    _draw(found)
    write_report(NAME, _page(found, wall, chosen.seed, by_seed))


def five_days(trace: TraceWorkload) -> TraceWorkload:
    """The first five days of a trace in twelve hours, between 150 and 500 tuples/s, as EDF replays its own."""
    return trace.between(0.0, 5 * 86_400.0).faster(5 * 86_400.0 / edf.SECONDS).scaled(150.0, 500.0)


def _page(found: list[Outcome], wall: float, seed: int, by_seed: dict[int, list[Claim]]) -> list[str]:
    cuts = {noise: cut_by_the_bucket(noise, seed) for noise in OTHER_NOISE}
    return [
        "# EDF Table 1 and Fig. 5: twelve hours of taxis, simulated",
        "",
        prose(
            f"Written by `python -m experiments.control.edf_table_1`; every number was measured by it (seed {seed},",
            f"{wall:.0f} s for all rows on a shared machine). The paper's numbers are in brackets. As there, the",
            "first 30 minutes and 2 minutes after each change are left out of averages; downtime is over the whole",
            "run.",
        ),
        "",
        *_table(found),
        "",
        f"![Response time and replicas over twelve hours]({FIGURE}.svg)",
        "",
        "## Does the shape hold?",
        "",
        *(verdict(each.says, each.holds, each.found) for each in by_seed[seed]),
        "",
        "## Under other seeds",
        "",
        *robustness(by_seed),
        "",
        "## What was taken, and why the numbers differ",
        "",
        prose(
            "- Service times are not in the paper. `experiments/control/edf.py` derives three numbers from what the",
            "threshold policy did in Table 1: so the replicas and violations of its rows are partly fitted; the",
            "rows of the learners and of the token bucket are not. One set of numbers holds for all rows.",
        ),
        prose(
            "- The workload is a built-in one with the shape of New York's taxi days; the paper's five days of 2013",
            "are not named. `--trace` takes a recording instead.",
        ),
        prose(
            "- Downtime is lower in most rows: a change takes 7 s here (6 s of Storm's rebalance and the formulas of",
            "EDRP), and the prototype changed more often. How much measured figures scatter is not in the paper; 12 %",
            "was chosen after 2, 10, 12 and 15 % had been tried on these rows. The token bucket at .3 cuts the",
            "downtime "
            + " and ".join(f"by {100 * cut:.0f} % with {100 * noise:.0f} %" for noise, cut in cuts.items())
            + f", where {100 * CUT_CLAIMED:.0f} % are claimed: "
            + ("that depends on the choice." if min(cuts.values()) < CUT_CLAIMED else "that stands with each."),
        ),
        prose(
            f'- After a change no manager proposes anything for {SETTLE_SECONDS:g} s (the paper: "a short period").',
            "That bounds the changes of Q-learning without token bucket, and with it its downtime. As it changes all",
            "the time, hardly any moment is two minutes away from a change: its response times and violations are",
            "those of very few moments and say little.",
        ),
        prose(
            "- Q-learning with the token bucket depends on what a refused action counts as. Here it counts as taken,",
            "as Algorithm 1 reads (`books_refused`). If only what was really done counted, an action that is always",
            "refused would stay as promising as an untried one, and be asked for again and again.",
        ),
        prose(
            "- Response times of the rows TH .7 to .4 are lower than in the paper, and violations at .4. A burst is",
            "done within its period here, and nothing else makes a replica pause.",
        ),
    ]


def _table(found: list[Outcome]) -> list[str]:
    rows = []
    for each in found:
        ours, paper = each.summary, each.row.paper
        values = (
            ours.mean_ms,
            ours.p50_ms,
            ours.p95_ms,
            ours.replicas,
            100 * ours.downtime,
            None if ours.violations is None else 100 * ours.violations,
        )
        digits = (1, 1, 1, 2, 2, 2)
        cells = [
            f"{'-' if value is None else format(value, f'.{places}f')} ({theirs:g})"
            for value, theirs, places in zip(values, paper, digits, strict=True)
        ]
        rows.append([each.row.name, *cells, ours.reconfigurations, f"{each.granted} / {each.requests}"])
    return markdown_table(HEADERS, rows)


def _draw(found: list[Outcome]) -> None:
    """Response time over replicas, six panels."""
    by_name = {each.row.name: each.recording for each in found}
    figure = new_figure(10.0, 8.5)
    axes = figure.subplots(3, 2, sharex=True, sharey=True)
    for place, (name, title) in zip(axes.ravel(), DRAWN, strict=True):
        recording = by_name[name]
        hours = [moment / 3600 for moment in recording.seconds]
        means = drawable(recording.column("response_mean_ms"))
        place.plot(hours, means, color=COLOURS[0], linewidth=0.5)
        place.axhline(edf.OBJECTIVE_MS, color=COLOURS[3], linestyle="--", linewidth=0.8)
        place.set(ylim=(0, 700), title=title)
        beside = place.twinx()
        beside.step(hours, recording.total_replicas(), where="post", color=COLOURS[1], linewidth=0.8)
        beside.set(ylim=(0, 22))
        beside.set_ylabel("replicas", color=COLOURS[1])
        place.set_ylabel("ms", color=COLOURS[0])
    for place in axes[-1]:
        place.set_xlabel("hours")
    save_figure(FIGURE, figure)


if __name__ == "__main__":
    main()
