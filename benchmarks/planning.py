"""Speed of `exact`, against the papers' programs on HiGHS and against the goals of the project.

    python benchmarks/planning.py [--quick] [--only versus,suite,large,odp,beyond] [--highs-seconds 400]
                                  [--output docs/results/planning.md]

Every instance is seeded. Wall-clock and processor time are both told, since the machine may be shared: read ratios.
A part that is not asked for stays on the page as it was measured last.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from experiments.planning.report import measured_at

from rheostat.model.graph.application import Application
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import SILENT, Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.jit_warm_up import warm_up
from rheostat.planning.solvers.milp import Milp
from rheostat.reference.generators import fat, heterogeneous, sequential
from rheostat.reference.networks import edrp_infrastructure, random_gaussian, random_geographic
from rheostat.reference.taxi import taxi

BOUNDS = Bounds(response_time_ms=175.0, cost_per_hour=30.0, downtime_seconds=7.5)
WEIGHTS = {
    "baseline": (0.5, 0.5, 0.0),
    "balanced": (0.3, 0.3, 0.4),
    "response time": (0.6, 0.0, 0.4),
    "cost": (0.0, 0.6, 0.4),
}
EXACT = Exact(explains=False)
BEYOND_SECONDS = 60.0
"""Time limit of a plan that is not expected to be proven in seconds."""


@dataclass(frozen=True)
class Timed:
    """An answer and what it took."""

    outcome: Outcome
    wall: float
    cpu: float

    @property
    def is_proven(self) -> bool:
        """Whether nothing is left open."""
        return self.outcome.status in {PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE}


def timed(planner: Planner, problem: Problem) -> Timed:
    """Runs a planner once."""
    wall, cpu = perf_counter(), process_time()
    outcome = planner.plan(problem)
    return Timed(outcome, perf_counter() - wall, process_time() - cpu)


def network(kind: str, nodes: int, seed: int) -> Infrastructure:
    """Geographic or Gaussian delays, nodes as in EDRP 7.2."""
    if kind == "geographic":
        return random_geographic(nodes, seed)
    delays = np.array(random_gaussian(nodes, seed).network.delay_ms)
    return edrp_infrastructure(f"gaussian-{nodes}-{seed}", [f"n{u:03}" for u in range(nodes)], delays)


def application(rate: float, k: int, at: Infrastructure, *, pinned: bool) -> Application:
    """The reference application; data source and globalRank pinned as in EDRP 7.2, or nothing as in Table IV."""
    return taxi(rate, k, pins=(at.nodes[0].name, at.nodes[1].name) if pinned else None)


def suite(nodes: int, degrees: list[int], count: int, *, pinned: bool) -> Iterator[tuple[str, Problem]]:
    """Both kinds of delays, rates of 70 to 220, the four weightings, with and without a current deployment."""
    rng = np.random.default_rng(5)
    for number in range(count):
        kind = ("geographic", "Gaussian")[number % 2]
        weights = list(WEIGHTS)[number // 2 % 4]
        k, rate = degrees[number % len(degrees)], float(rng.uniform(70, 220))
        at = network(kind, nodes, number)
        current = None
        if number // 8 % 2:
            before = application(max(70.0, rate - 40), k, at, pinned=pinned)
            first = Problem(before, at, EdrpObjective(0.5, 0.5, 0.0, BOUNDS), limits=Limits(10))
            current = EXACT.plan(first).deployment
        objective = EdrpObjective(*WEIGHTS[weights], BOUNDS)
        problem = Problem(application(rate, k, at, pinned=pinned), at, objective, current)
        yield f"{kind} k={k} {weights} rate {rate:.0f} {'current' if current else 'first'}", problem


def versus(*, quick: bool, limit: float = 400.0) -> list[str]:
    """Exact against the papers' programs: same instances, same run."""
    problems: list[tuple[str, Problem]] = []
    for nodes, seed in [(6, 1), (8, 0)] if quick else [(6, 0), (8, 0), (8, 1), (10, 0), (12, 0)]:
        at = network("geographic", nodes, seed)
        for pinned in (True, False):
            objective = EdrpObjective(0.5, 0.5, 0.0, BOUNDS)
            name = f"EDRP {nodes} nodes k=2 {'pinned' if pinned else 'nothing pinned'} seed {seed}"
            problems.append((name, Problem(application(100, 2, at, pinned=pinned), at, objective)))
    small = [("sequential", sequential(8)), ("fat", fat(8))] if quick else [("sequential", sequential(20))]
    problems += [(f"ODP {name} {len(app.operators)}x8", Problem(app, random_gaussian(8, 3))) for name, app in small]
    lines = [
        "| instance | HiGHS s (CPU s) | HiGHS | exact s (CPU s) | exact | ratio (of CPU times) | objectives |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, problem in problems:
        ours = timed(EXACT, problem)
        theirs = timed(Milp(explains=False), replace(problem, limits=Limits(limit)))
        lines.append(f"| {name} | {theirs.wall:.1f} ({theirs.cpu:.1f}) | {theirs.outcome.status} | "
                     f"{ours.wall:.3f} ({ours.cpu:.3f}) | {ours.outcome.status} | {theirs.wall / ours.wall:.0f} "
                     f"({theirs.cpu / ours.cpu:.0f}) | {equality(ours, theirs)} |")  # fmt: skip
        print(lines[-1], flush=True)
    return [
        "## Against the papers' programs on HiGHS",
        "",
        f"HiGHS on one thread, limit {limit:.0f} s. Where it has not finished, the ratio is a lower bound.",
        "",
        *lines,
        "",
    ]


def equality(ours: Timed, theirs: Timed) -> str:
    """Whether two answers are the same, or which is better."""
    a, b = ours.outcome.objective, theirs.outcome.objective
    if theirs.outcome.status is not PlanStatus.OPTIMAL:
        return "HiGHS not finished"
    assert a is not None
    assert b is not None
    assert abs(a - b) <= 1e-6, (a, b)
    return f"equal, {a:.6f}"


def goal_of_the_suite(*, quick: bool) -> list[str]:
    """24 nodes, k in {2, 3, 4}: proven in 1 s."""
    lines = ["## Reference application, 24 nodes, k = 2, 3, 4", "", "Goal: proven in 1 s on 95 % of the suite.", ""]
    lines += table_of_suites(24, [2, 3, 4], 16 if quick else 96, 1.0)
    return lines


def goal_of_a_hundred_nodes(*, quick: bool) -> list[str]:
    """100 nodes, k = 4: proven in 2 s."""
    lines = ["## Reference application, 100 nodes, k = 4", "", "Goal: proven in 2 s.", ""]
    return lines + table_of_suites(100, [4], 4 if quick else 16, 2.0)


def table_of_suites(nodes: int, degrees: list[int], count: int, goal: float) -> list[str]:
    """Shares and quantiles, and every instance that missed the goal."""
    lines = [
        f"| pins | instances | proven | in {goal:g} s | in {goal:g} s CPU | median s (CPU) | 95 % s (CPU) |",
        "|---|---|---|---|---|---|---|",
    ]
    missed: list[str] = []
    for pinned in (True, False):
        results = []
        for name, problem in suite(nodes, degrees, count, pinned=pinned):
            result = timed(EXACT, replace(problem, limits=Limits(10 * goal)))
            results.append(result)
            if not result.is_proven or result.cpu > goal:
                what = f"{name}, {'pinned' if pinned else 'nothing pinned'}"
                missed.append(f"- {what}: {result.wall:.1f} s ({result.cpu:.1f} s CPU), gap {result.outcome.gap:.2%}")
        wall, cpu = [r.wall for r in results], [r.cpu for r in results]
        shares = [
            np.mean([r.is_proven for r in results]),
            np.mean([r.is_proven and r.wall <= goal for r in results]),
            np.mean([r.is_proven and r.cpu <= goal for r in results]),
        ]
        quantiles = [f"{np.quantile(wall, q):.2f} ({np.quantile(cpu, q):.2f})" for q in (0.5, 0.95)]
        pins = "source and globalRank (EDRP 7.2)" if pinned else "none (Table IV)"
        lines.append(f"| {pins} | {count} | " + " | ".join([*(f"{s:.0%}" for s in shares), *quantiles]) + " |")
        print(lines[-1], flush=True)
    return [*lines, "", *(["Missed (also in CPU time):", "", *missed, ""] if missed else [])]


def goals_of_odp(*, quick: bool) -> list[str]:
    """Sequential and fat, 20x20, 20x100, 50x20, each proven in 2 s."""
    lines = [
        "## ODP, response time",
        "",
        "Goal: proven in 2 s, with different operators and asymmetric delays too.",
        "",
        "| application | operators | delays | status | gap | s (CPU s) |",
        "|---|---|---|---|---|---|",
    ]
    sizes = [(20, 20)] if quick else [(20, 20), (20, 100), (50, 20)]
    for operators, nodes in sizes:
        for make in (sequential, fat):
            for different in (False, True):
                for symmetric in (True, False):
                    lines.append(odp_line(make, (operators, nodes), different=different, symmetric=symmetric))
                    print(lines[-1], flush=True)
    return [*lines, ""]


def odp_line(
    make: Callable[[int], Application], size: tuple[int, int], *, different: bool, symmetric: bool, limit: float = 20.0
) -> str:
    """One instance as a row."""
    operators, nodes = size
    app = heterogeneous(make(operators), 1) if different else make(operators)
    at = random_gaussian(nodes, 3, symmetric=symmetric)
    result = timed(EXACT, Problem(app, at, OdpObjective(1.0), limits=Limits(limit)))
    kind = "different" if different else "equal"
    delays = "symmetric" if symmetric else "asymmetric"
    return (f"| {make.__name__} {operators}x{nodes} | {kind} | {delays} | {result.outcome.status} | "
            f"{result.outcome.gap:.2%} | {result.wall:.2f} ({result.cpu:.2f}) |")  # fmt: skip


def beyond(*, quick: bool) -> list[str]:
    """What lies beyond the goals: measured, to be reached later."""
    if quick:
        return []
    lines = ["## Beyond", "", f"Limit {BEYOND_SECONDS:.0f} s.", ""]
    lines += ["| instance | status | gap | s (CPU s) |", "|---|---|---|---|"]
    at = network("geographic", 500, 0)
    problem = Problem(application(150, 4, at, pinned=True), at, EdrpObjective(0.5, 0.5, 0.0, BOUNDS))
    result = timed(EXACT, replace(problem, limits=Limits(BEYOND_SECONDS)))
    lines.append(f"| EDRP 500 nodes k=4 pinned | {result.outcome.status} | {result.outcome.gap:.2%} | "
                 f"{result.wall:.1f} ({result.cpu:.1f}) |")  # fmt: skip
    lines += ["", "| application | operators | delays | status | gap | s (CPU s) |", "|---|---|---|---|---|---|"]
    for make, size in ((sequential, (50, 100)), (fat, (50, 100)), (fat, (200, 1000))):
        lines.append(odp_line(make, size, different=False, symmetric=True, limit=BEYOND_SECONDS))
        print(lines[-1], flush=True)
    return [*lines, ""]


PARTS: dict[str, Callable[..., list[str]]] = {
    "versus": versus,
    "suite": goal_of_the_suite,
    "large": goal_of_a_hundred_nodes,
    "odp": goals_of_odp,
    "beyond": beyond,
}


_INTRODUCTION = (
    "Written by `benchmarks/planning.py`. Everything is seeded; one process, one thread, a shared machine:",
    "where wall clock and CPU time differ, others were running. Parts can be measured by themselves (`--only`); one",
    "that does not say how long it took is older than the others.",
)
_FIRST = (
    "Compiled code is loaded from numba's cache, or compiled (about a minute) where there is none, before a planner's "
    "clock starts; that is not part of what follows."
)


def sections(page: str) -> dict[str, list[str]]:
    """What stands on a page, by its headings."""
    found: dict[str, list[str]] = {}
    for line in page.splitlines():
        if line.startswith("## "):
            found[line] = []
        if found:
            found[list(found)[-1]].append(line)
    return found


def measured(name: str, *, quick: bool, highs_seconds: float) -> list[str]:
    """One part, with what it took."""
    wall, cpu = perf_counter(), process_time()
    options = {"limit": min(highs_seconds, 60.0 if quick else inf)} if name == "versus" else {}
    lines = PARTS[name](quick=quick, **options)
    took = f"This part took {perf_counter() - wall:.0f} s ({process_time() - cpu:.0f} s CPU)."
    return [*lines, took, ""] if lines else []


def main() -> None:
    """Runs the parts and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and small instances")
    parser.add_argument("--highs-seconds", type=float, default=400.0, help="limit of one program on HiGHS")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, by comma")
    parser.add_argument("--output", type=Path, default=Path("docs/results/planning.md"))
    arguments = parser.parse_args()
    warm_up(SILENT)
    page = arguments.output.read_text(encoding="utf-8") if arguments.output.exists() else ""
    known = sections(page)
    for name in arguments.only.split(","):
        lines = measured(name, quick=arguments.quick, highs_seconds=arguments.highs_seconds)
        known |= {lines[0]: lines} if lines else {}
        text = ["# How fast planning is", "", measured_at(), "", *_INTRODUCTION, "", _FIRST, ""]
        text += [line for section in known.values() for line in [*section, *([] if section[-1] == "" else [""])]]
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        # After every part: what has been measured is not lost if the next one is stopped.
        arguments.output.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
