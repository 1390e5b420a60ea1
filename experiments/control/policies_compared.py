"""All policies on the same workloads: what they violate, use, change and cost, beside one that knows the future.

python -m experiments.control.policies_compared [--trace FILE.csv ...] [--processes N] [--seed N]

Without traces there are the built-in days and two curves. A trace is named by its file.
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.control import edf
from experiments.control.edf_table_1 import five_days
from experiments.control.rows import EVEN, RATE_LEVELS, SETTLE_SECONDS
from experiments.planning.report import (
    COLOURS,
    Stopwatch,
    markdown_table,
    new_figure,
    prose,
    save_figure,
    tell,
    write_report,
)
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.policies.operators.period_cost import Weights, change_price
from rheostat.report.run_summary import EDF
from rheostat.simulation.load.city_days import city_days
from rheostat.simulation.load.rate_traces import read_trace
from rheostat.simulation.load.workload import CurveWorkload, Workload
from rheostat.simulation.studies.contest import Contest, Entrant, compare, limit
from rheostat.simulation.world.scenario import Scenario

NAME = "policies_compared"
OURS = ("predictive", "true-rate", "flink")
"""Beside the papers' own."""
HEADERS = (
    "policy",
    "violations %",
    "replicas",
    "downtime %",
    "changes",
    "P95 ms",
    "total cost",
    "by oracle",
    "by limit",
)


def settings() -> dict[str, ControlSettings]:
    """All control systems with the settings of the papers or the policies, and the same weights for all."""
    learner = {"weights": EVEN, "rate_levels": RATE_LEVELS}
    chosen: dict[str, tuple[str, dict[str, object], str]] = {
        "hold": ("hold", {}, "all"),
        "threshold .7": ("threshold", {"scale_out": 0.7}, "all"),
        "threshold .4": ("threshold", {"scale_out": 0.4}, "all"),
        "threshold .3 + token bucket": ("threshold", {"scale_out": 0.3}, "token-bucket"),
        "doubling": ("doubling", {}, "all"),
        "q-learning + token bucket": ("q-learning", learner, "token-bucket"),
        "model-based": ("model-based", learner, "all"),
        "model-based + token bucket": ("model-based", learner, "token-bucket"),
        "true-rate": ("true-rate", {}, "all"),
        "flink": ("flink", {}, "all"),
        "predictive": ("predictive", {"weights": EVEN}, "all"),
        "oracle": ("oracle", {"weights": EVEN}, "all"),
    }
    return {
        name: ControlSettings(
            "edf",
            policy,
            options,
            granting,
            period_seconds=edf.PERIOD_SECONDS,
            settle_seconds=SETTLE_SECONDS,
            latency_bounds_ms=edf.BOUNDS_MS,
        )
        for name, (policy, options, granting) in chosen.items()
    }


def workloads(traces: list[Path]) -> dict[str, Workload]:
    """Built-in ones first; traces are five days in twelve hours, scaled to the same rates."""
    return {
        "city days": city_days(),
        "sine": CurveWorkload.of("sine 150 500 7200"),
        "spikes": CurveWorkload.of("spikes 200 480 5400 900"),
        **{path.stem: five_days(read_trace(path)) for path in traces},
    }


@dataclass(frozen=True)
class Table:
    """All policies on one workload."""

    name: str
    entrants: dict[str, Entrant]
    limit: float

    def ratio(self, policy: str) -> float:
        """Its cost by that of the oracle's run."""
        return self.entrants[policy].cost / self.entrants["oracle"].cost


def measured_exactly(seed: int) -> float:
    """What `predictive` pays by what the oracle does, on city days, if nothing is measured with an error."""
    scenario = edf.scenario(seed=seed)
    contest = _contest(replace(scenario, noise=replace(scenario.noise, measurement=0.0)), seed)
    both = {name: each for name, each in settings().items() if name in ("predictive", "oracle")}
    found = compare(contest, both, processes=1)
    return found["predictive"].cost / found["oracle"].cost


def _contest(scenario: Scenario, seed: int) -> Contest:
    weights = Weights(**EVEN)
    return Contest(
        scenario, edf.SECONDS, edf.OBJECTIVE_MS, edf.BOUNDS_MS, weights, edf.PERIOD_SECONDS, exclusion=EDF, seed=seed
    )


def table(name: str, workload: Workload, processes: int, seed: int) -> Table:
    """Runs all control systems on one workload."""
    contest = _contest(edf.scenario(workload, seed), seed)
    return Table(name, compare(contest, settings(), processes), limit(contest))


def main() -> None:
    """Runs all control systems on all workloads and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, action="append", default=[])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    watch, tables = Stopwatch(), []
    for name, workload in workloads(chosen.trace).items():
        tables.append(table(name, workload, chosen.processes, chosen.seed))
        tell(f"done: {name}")
    exact = measured_exactly(chosen.seed)
    wall, _ = watch.seconds()
    _draw(tables)
    write_report(NAME, _page(tables, wall, exact))


def _page(tables: list[Table], wall: float, exact: float) -> list[str]:
    lines = [
        "# All policies on the same workloads",
        "",
        prose(
            "Written by `python -m experiments.control.policies_compared`; every number was measured by it, in",
            f"{wall:.0f} s on a shared machine. The application and all else is that of EDF's Table 1; twelve hours",
            "each. Recorded traces are five days of New York's taxi passengers, or of tweets about two companies",
            "(Numenta Anomaly Benchmark), replayed ten times as fast and scaled to 150 to 500 tuples/s.",
        ),
        "",
        prose(
            "*Total cost* is EDF's (1) with w_perf = w_res = .4 and w_rcf = .2, summed over the five operators that",
            "can be scaled and 1440 periods. *By oracle* is the ratio to the run of the oracle, which knows every",
            "rate and what a change slows down; *by limit* that to the least that could be paid if changes took no",
            "time.",
        ),
        "",
    ]
    for each in tables:
        lines += [f"## {each.name}", "", *_table(each), ""]
    lines += [f"![Cost of every policy by the oracle's]({NAME}.svg)", "", "## What this says", ""]
    for policy in OURS:
        found = [each.ratio(policy) for each in tables]
        within = sum(ratio <= 1.15 for ratio in found)
        lines.append(
            f"- `{policy}` is within 15 % of the oracle on {within} of {len(tables)} workloads "
            f"({', '.join(f'{each.name} {ratio:.2f}' for each, ratio in zip(tables, found, strict=True))})."
        )
    away = [each for each in tables if each.ratio("predictive") > 1.15]
    near = [each.name for each in tables if any(each.ratio(policy) <= 1.15 for policy in OURS)]
    best = {each.name: min((p for p in each.entrants if p != "oracle"), key=each.ratio) for each in tables}
    lines += [
        "- The cheapest policy that does not know the future: "
        + "; ".join(f"{name}: {policy}" for name, policy in best.items())
        + ".",
        f"- One of ours is within 15 % of the oracle on {len(near)} of {len(tables)}: {', '.join(near) or 'none'}.",
        *_what_keeps_away(away, exact),
        prose(
            "- `true-rate` wants one partialRank more or less whenever the measured rate crosses a line, and goes back",
            "and forth; it knows nothing of bursts, and one replica is too slow long before it is too busy.",
        ),
        prose(
            "- The engine restarts everything, so a period with a change is too slow for all five operators: a change",
            f"costs {change_price(Weights(**EVEN), 5):g}, not the {Weights(**EVEN).reconfiguration:g} of w_rcf alone.",
            "`predictive` and the oracle count that; the learners of EDF see each its own operator and do not. The",
            "oracle plans each operator for itself and does not know what waits after a change, so that a run can be",
            "cheaper than its own, never cheaper than the limit.",
        ),
        *_dearer_than_nothing(tables),
    ]
    return lines


def _dearer_than_nothing(tables: list[Table]) -> list[str]:
    """Who pays more than one who never changes anything, and on how many workloads."""
    names = [name for name in tables[0].entrants if name != "hold"]
    lost = {name: sum(each.ratio(name) > each.ratio("hold") for each in tables) for name in names}
    told = ", ".join(f"{name} on {count}" for name, count in lost.items() if count)
    if not told:
        return []
    return [
        prose(
            f"- More than `hold`, which never changes anything, is paid by some ({told} of {len(tables)} workloads): a",
            "partialRank that is always too slow is one operator of five, and every change makes all five slow.",
        )
    ]


def _what_keeps_away(away: list[Table], exact: float) -> list[str]:
    """Why `predictive` is not nearer where it is not near, from what it did there beside the oracle."""
    if not away:
        return []
    told = []
    for each in away:
        ours, best = (each.entrants[name].summary for name in ("predictive", "oracle"))
        told.append(
            f"{each.name}: {ours.reconfigurations} changes against {best.reconfigurations}, "
            f"{ours.replicas:.2f} replicas against {best.replicas:.2f}"
        )
    return [
        prose(
            "- What keeps `predictive` away: it plans on rates that are measured with an error of",
            f"{100 * edf.MEASUREMENT_NOISE:.0f} %, takes the error for what the rate may do, and does not know that",
            f"a fall will be over soon ({'; '.join(told)}). With exact measurements it pays {exact:.2f} times what the",
            "oracle does on city days.",
        )
    ]


def _table(each: Table) -> list[str]:
    rows = []
    for name, entrant in each.entrants.items():
        summary = entrant.summary
        rows.append(
            [
                name,
                None if summary.violations is None else f"{100 * summary.violations:.2f}",
                f"{summary.replicas:.2f}",
                f"{100 * summary.downtime:.2f}",
                summary.reconfigurations,
                None if summary.p95_ms is None else f"{summary.p95_ms:.0f}",
                f"{entrant.cost:.0f}",
                f"{each.ratio(name):.2f}",
                f"{entrant.cost / each.limit:.2f}",
            ]
        )
    return markdown_table(HEADERS, rows)


def _draw(tables: list[Table]) -> None:
    figure = new_figure(9.0, 0.5 + 0.42 * len(settings()))
    place = figure.subplots()
    names = list(settings())
    for i, each in enumerate(tables):
        heights = [y + (i - len(tables) / 2) * 0.8 / len(tables) for y in range(len(names))]
        place.barh(heights, [each.ratio(n) for n in names], 0.8 / len(tables), color=COLOURS[i % 6], label=each.name)
    place.axvline(1.0, color="#22303c", linewidth=0.8)
    place.set(yticks=range(len(names)), yticklabels=names, xlabel="total cost by that of the oracle's run")
    place.invert_yaxis()
    place.legend(frameon=False)
    save_figure(NAME, figure)


if __name__ == "__main__":
    main()
