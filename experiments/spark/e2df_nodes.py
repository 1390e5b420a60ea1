"""E2DF on Spark: Word Count with nothing elastic, the application alone, or nodes as well, on real node processes.

`python -m experiments.spark.e2df_nodes [--loads tripling figure-2] [--phase-seconds 120] [--short]`

Node processes are really started and stopped. Writes `docs/results/spark_e2df_nodes.md` and its picture.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from experiments.spark.controlled import PERIOD_SECONDS, timed
from experiments.spark.journaled import Renting, renting
from experiments.spark.outcome import Controlled
from experiments.spark.stage import Piece, on_processes, perform
from experiments.spark.workload import SERVICE_MS, Load, Phase
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.report.run_summary import Exclusion, Summary, summarise

NAME = "spark_e2df_nodes"
REGION = "host"
KIND = Node("worker", 1.0, region=REGION, price_per_hour=1.0)
"""C_n = 1: one replica."""
FREE_SLOTS = 1
"""C_r. The paper's is 5, on 16 nodes."""
PAPER_PEAK_TPS = 550.0
PAPER = {
    "static": "11.4 ms, 15 replicas, 16 nodes",
    "application": "19.3 ms, 55 % fewer replicas, 16 nodes",
    "both": "about 19.3 ms, 24 % fewer nodes",
}
EXCLUSION = Exclusion(warm_up_seconds=15.0, settle_seconds=8.0)
"""The paper leaves out two minutes after every change, which are four of its periods; two of ours."""


@dataclass(frozen=True, slots=True)
class Case:
    """A load, and the replicas of `split` that its peak requires."""

    load: Load
    replicas: int

    @property
    def peak_tps(self) -> float:
        """The highest rate."""
        return max(rate for phase in self.load.phases for rate in (phase.rate_tps, phase.last_tps or 0.0))


@dataclass(frozen=True)
class Rented:
    """What came of a scenario."""

    done: Controlled
    summary: Summary
    nodes: Renting


def cases(seconds: float) -> dict[str, Case]:
    """A load that triples and falls back; and Fig. 2's, which grows and falls evenly, to 110 times as much."""
    return {
        "tripling": Case(Load((Phase(20, seconds), Phase(60, seconds), Phase(20, seconds))), 2),
        "figure-2": Case(Load((Phase(1, 1.5 * seconds, 100), Phase(100, 1.5 * seconds, 1))), 3),
    }


def nodes(workers: int) -> Infrastructure:
    """One for the ends of the flow, which stay there, and so many workers."""
    ends = Node("n1", 2.0, region=REGION, price_per_hour=1.0)
    return Infrastructure(REGION, (ends, *(replace(KIND, name=f"w{i}") for i in range(1, workers + 1))))


def deployment(replicas: int) -> Deployment:
    """One replica per worker, along the flow."""
    split = Replicas.on(*(f"w{i}" for i in range(1, replicas + 1)))
    ends = {name: Replicas.on("n1") for name in ("datasource", "consumer")}
    return Deployment.of({**ends, "split": split, "counter": Replicas.on(f"w{replicas + 1}")})


def settings(kind: str, most_nodes: int | None = None) -> ControlSettings:
    """Thresholds 0.7 and c = 0.75, U_low = 0.1; nodes are looked after half as often as operators."""
    return replace(
        timed(ControlSettings(kind)),
        options={} if kind == "none" else {"scale_out": 0.7, "slack": 0.75},
        placement="least-used",
        victims="two-busiest",
        region_period_seconds=2 * PERIOD_SECONDS,
        free_capacity=FREE_SLOTS,
        low_utilization=0.1,
        max_nodes=most_nodes,
    )


def run(name: str, case: Case) -> Rented:
    """One of the three scenarios."""
    most = case.replicas + 1 + FREE_SLOTS
    workers = {"static": most, "application": most, "both": 2 + FREE_SLOTS}[name]
    at_first = deployment(case.replicas if name == "static" else 1)
    stage = case.load.stage(nodes(workers), at_first)
    kind = {"static": "none", "application": "edf", "both": "e2df"}[name]
    piece = Piece(name, settings(kind, 1 + most if name == "both" else None))
    with passing_folder("e2df") as root:
        opening = on_processes(stage, root, (KIND,) if name == "both" else (), 1 + most)
        done = perform(stage, root, opening, piece)
    began = next(entry.at_seconds for entry in done.entries if entry.kind == "launch")
    first = [node.name for node in stage.infrastructure.nodes]
    rented = renting(first, done.entries, began, began + case.load.seconds)
    tell(f"{name}: {rented.node_minutes:.1f} node-minutes, {rented.started} started, {rented.stopped} stopped")
    return Rented(done, summarise(done.recording, EXCLUSION), rented)


def main() -> int:
    """Runs all scenarios; 1 if anything was lost or repeated, or a node was let go too early."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", nargs="+", choices=cases(1.0), default=list(cases(1.0)))
    parser.add_argument("--scenarios", nargs="+", choices=PAPER, default=list(PAPER))
    parser.add_argument("--phase-seconds", type=float, default=120.0)
    parser.add_argument("--short", action="store_true", help="one load, phases of 40 s, without `application`")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.loads, chosen.scenarios, chosen.phase_seconds = ["tripling"], ["static", "both"], 40.0
    found: dict[str, dict[str, Rented]] = {}
    for load in chosen.loads:
        case = cases(chosen.phase_seconds)[load]
        found[load] = {name: run(name, case) for name in chosen.scenarios}
    command = f"python -m experiments.spark.e2df_nodes --loads {' '.join(chosen.loads)}"
    command += f" --scenarios {' '.join(chosen.scenarios)} --phase-seconds {chosen.phase_seconds:g}"
    write_report(NAME, _page(found, chosen.phase_seconds, command))
    _draw(found)
    every = [one for scenarios in found.values() for one in scenarios.values()]
    return int(not all(one.done.is_exact and not one.nodes.released_with_replicas for one in every))


def _rows(scenarios: Mapping[str, Rented]) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, one in scenarios.items():
        summary, rented = one.summary, one.nodes
        rows.append(
            [
                name,
                None if summary.mean_ms is None else f"{summary.mean_ms:.0f}",
                f"{summary.replicas:.2f}",
                f"{rented.node_minutes:.1f}",
                f"{100 * _share(scenarios, name):.0f} %",
                rented.most,
                rented.started,
                rented.stopped,
                len(rented.released_with_replicas),
                summary.reconfigurations,
                one.done.lost,
                one.done.duplicated,
                PAPER[name],
            ]
        )
    return rows


def _share(scenarios: Mapping[str, Rented], name: str) -> float:
    """Node-minutes, as a share of the static ones (of the dearest if these were not run)."""
    most = max(one.nodes.node_minutes for one in scenarios.values())
    base = scenarios["static"].nodes.node_minutes if "static" in scenarios else most
    return scenarios[name].nodes.node_minutes / base


def _page(found: Mapping[str, Mapping[str, Rented]], seconds: float, command: str) -> list[str]:
    headers = ["elastic", "response ms", "replicas", "node-minutes", "of static", "most nodes", "started", "stopped"]
    headers += ("let go with replicas", "changes", "words lost", "repeated", "paper")
    lines = [
        "# E2DF on Spark: node processes that come and go",
        "",
        f"`{command}`",
        "",
        prose(
            "Word Count on node processes of one slot each (and one of two for source and consumer, which stay there);",
            f"a sentence costs a replica of `split` {SERVICE_MS:g} ms. Operators and application are looked after",
            f"every {PERIOD_SECONDS:g} s, nodes every {2 * PERIOD_SECONDS:g} s; a region keeps room for",
            f"{FREE_SLOTS} replica. The static nodes are enough for the peak and as much room. Node-minutes are",
            "counted from the journal, from the launch to the end of the load. Every word was counted again without",
            "Spark.",
        ),
    ]
    for load, scenarios in found.items():
        case = cases(seconds)[load]
        lines += ["", f"## {load}: {case.load.curve} sentences/s", ""]
        if load == "figure-2":
            factor = PAPER_PEAK_TPS / case.peak_tps
            lines += [f"s = {factor:g}: the paper's rates of 5 to 550 tuples/s, divided by it.", ""]
        lines += markdown_table(headers, _rows(scenarios))
        if {"static", "both"} <= scenarios.keys():
            fewer = 100 * (1 - _share(scenarios, "both"))
            wrong = [name for one in scenarios.values() for name in one.nodes.released_with_replicas]
            exact = all(one.done.is_exact for one in scenarios.values())
            lines += [
                "",
                verdict("Elastic nodes are fewer", fewer > 0, f"{fewer:.0f} % fewer node-minutes; paper: 24 %"),
                verdict("No node was let go with a replica on it", not wrong, ", ".join(wrong) or "by the journal"),
                verdict("The output is exact", exact, "nothing lost, nothing repeated" if exact else "see the table"),
            ]
        lines += ["", f"![Rate, replicas and nodes]({NAME}_{load}.svg)"]
    lines += [
        "",
        prose(
            "What differs: the paper has 16 containers and C_r = 5, here are five or six processes and C_r = 1; it",
            "does not tell how long a ramp takes, nor its service times. Response times are those of micro-batches: to",
            "be compared with one another.",
        ),
    ]
    return lines


def _draw(found: Mapping[str, Mapping[str, Rented]]) -> None:
    for load, scenarios in found.items():
        figure = new_figure(9, 6)
        axes = figure.subplots(3, 1, sharex=True)
        for colour, (name, one) in zip(COLOURS, scenarios.items(), strict=False):
            at = one.done.recording.seconds
            known = [(x, y) for x, y in zip(at, one.done.recording.column("response_mean_ms"), strict=True) if y]
            axes[0].plot([x for x, _ in known], [y / 1000 for _, y in known], color=colour, label=name)
            axes[1].step(at, drawable(one.done.recording.replicas["split"]), where="post", color=colour)
            axes[2].step(at, drawable(one.done.recording.column("nodes")), where="post", color=colour)
        axes[0].legend(frameon=False)
        for each, label in zip(axes, ("response time, s", "replicas of split", "nodes"), strict=True):
            each.set_ylabel(label)
        axes[2].set_xlabel("seconds")
        save_figure(f"{NAME}_{load}", figure)


if __name__ == "__main__":
    sys.exit(main())
