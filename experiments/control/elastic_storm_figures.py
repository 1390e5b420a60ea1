"""Figs. 4 to 6 of Elastic Storm: five phases with and without elasticity.

python -m experiments.control.elastic_storm_figures
"""

from dataclasses import dataclass
from itertools import groupby

from experiments.control import elastic_storm
from experiments.planning.report import (
    COLOURS,
    drawable,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    write_report,
)
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.reference.patterns import PHASES_TPS
from rheostat.report.recording import Recording
from rheostat.simulation.studies.simulated_run import simulate

NAME = "elastic_storm_figures"
SETTINGS = ControlSettings(
    "elastic-storm",
    options={"scale_out": 0.7, "scale_in": 0.2, "cooldown_invocations": 12},
    averaging_seconds=elastic_storm.PERIOD_SECONDS,
    settle_seconds=0.0,
)
"""The paper's thresholds; its own cool-down of 12 invocations takes the place of ours."""

OTHER_SEEDS = (1, 2)
"""Besides 0, which all numbers of the page are of."""


@dataclass(frozen=True)
class Result:
    """Both runs."""

    elastic: Recording
    fixed: Recording

    def steps(self, operator: str) -> tuple[int, ...]:
        """How many executors an operator had, one after the other."""
        counts = [round(value or 0) for value in self.elastic.replicas[operator]]
        return tuple(count for count, _ in groupby([counts[0] if counts else 0, *counts]))

    def executors(self, seconds: float) -> int:
        """Of the whole application at a moment of the elastic run."""
        position = next(i for i, moment in enumerate(self.elastic.seconds) if moment >= seconds)
        return round(self.elastic.total_replicas()[position] or 0)


def result(seed: int = 0) -> Result:
    """Runs both."""
    runs = {
        elastic: simulate(
            elastic_storm.scenario(elastic=elastic),
            SETTINGS if elastic else ControlSettings("none"),
            elastic_storm.SECONDS,
            seed=seed,
        ).recording
        for elastic in (True, False)
    }
    return Result(runs[True], runs[False])


def detector_steps(found: Result) -> tuple[int, ...]:
    """With the executors it started from, which the first change may replace before anything was recorded."""
    steps = found.steps("Detector")
    return steps if steps[0] == elastic_storm.START_DETECTORS else (elastic_storm.START_DETECTORS, *steps)


def main() -> None:
    """Runs both and writes them down."""
    found = result()
    _draw(found)
    steps = detector_steps(found)
    length = elastic_storm.PHASE_SECONDS
    rows = []
    for i, rate in enumerate(PHASES_TPS):
        begin, end = i * length, (i + 1) * length
        rows.append(
            [
                i + 1,
                f"{rate:g}",
                _mean(found.elastic, begin, end),
                _mean(found.fixed, begin, end),
                found.executors(end - 1),
            ]
        )
    same = "yes" if steps == elastic_storm.DETECTORS else "no"
    others = {seed: detector_steps(result(seed)) for seed in OTHER_SEEDS}
    again = "; ".join(f"seed {seed}: {', '.join(map(str, went))}" for seed, went in others.items())
    lines = [
        "# Elastic Storm Figs. 4 to 6: five phases, with and without elasticity",
        "",
        "Written by `python -m experiments.control.elastic_storm_figures`; every number was measured by it.",
        "",
        *markdown_table(
            ("phase", "tweets/s", "latency with, ms", "latency without, ms", "executors at the end of the phase"), rows
        ),
        "",
        f"![Latency and executors over the five phases]({NAME}.svg)",
        "",
        "## Does the shape hold?",
        "",
        f"- Detector goes through {', '.join(map(str, steps))} executors (paper: 20, 10, 5, 10, 20, 10, 5): {same}.",
        f"- Under other seeds: {again}.",
        prose(
            f"- Generator is halved in the first phase, then left alone: {found.steps('Generator')}.",
            f"In the third phase {found.executors(3 * length - 1)} executors run (paper: 23), at the end",
            f"{found.executors(5 * length - 1)} (paper: 8).",
        ),
        prose(
            "- Without elasticity the application keeps up with 120 tweets/s and not with 350: yes, since the cost was",
            "derived so.",
        ),
        "",
        "## What was taken, and why the numbers differ",
        "",
        prose(
            "- The Detector's cost of 15 ms per tweet was fixed before the run, from thresholds and rates",
            "(`docs/assumptions.md`): the sequence of executors is a check of thresholds, cool-down and halving, not",
            "independent evidence of the cost.",
        ),
        prose(
            "- Without elasticity the paper's latency stays below 1500 ms and its buffers are empty 600 s after the",
            "peak. No queue that is fed 900 tweets/s and serves 333 can do that: the prototype's source must have been",
            "held back. Here nothing holds it back: tuples wait for minutes, and the queue does not drain in the run.",
        ),
        prose(
            "- With elasticity the paper sees up to 900 ms in the third phase, from three reassignments and buffers.",
            "The scheduler of Xu et al. does not run here: nothing is reassigned but what is scaled.",
        ),
    ]
    write_report(NAME, lines)


def _mean(recording: Recording, begin: float, end: float) -> str:
    known = [
        value
        for moment, value in zip(recording.seconds, recording.column("response_mean_ms"), strict=True)
        if begin < moment <= end and value is not None
    ]
    return f"{sum(known) / len(known):,.0f}" if known else "-"


def _draw(found: Result) -> None:
    figure = new_figure(9.0, 6.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for recording, name, colour in ((found.elastic, "with", COLOURS[0]), (found.fixed, "without", COLOURS[3])):
        values = drawable(recording.column("response_mean_ms"))
        above.semilogy(recording.seconds, values, color=colour, label=f"{name} elasticity", linewidth=1.0)
    for i, operator in enumerate(("Detector", "Generator")):
        below.step(
            found.elastic.seconds, found.elastic.replicas[operator], where="post", color=COLOURS[i], label=operator
        )
    for place in (above, below):
        for phase in range(1, len(PHASES_TPS)):
            place.axvline(phase * elastic_storm.PHASE_SECONDS, color=COLOURS[5], linestyle=":", linewidth=0.8)
        place.legend(frameon=False, loc="upper left")
    above.set(ylabel="latency, ms", title="Elastic Storm Fig. 4 and 5, simulated")
    below.set(ylabel="executors", xlabel="seconds")
    save_figure(NAME, figure)


if __name__ == "__main__":
    main()
