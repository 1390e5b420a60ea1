"""Comparison of control systems: many runs of one scenario in parallel on all processors."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning
from rheostat.policies.operators.period_cost import Weights
from rheostat.report.run_summary import EVERYTHING, Exclusion, Summary, summarise
from rheostat.simulation.studies.foresight import informed_policies
from rheostat.simulation.studies.run_cost import total_cost
from rheostat.simulation.studies.simulated_run import simulate
from rheostat.simulation.world.scenario import Scenario

ORACLE = "oracle"


@dataclass(frozen=True)
class Contest:
    """Common task of all control systems, and the criteria of the comparison."""

    scenario: Scenario
    until_seconds: float
    objective_ms: float
    bounds_ms: Mapping[str, float]
    weights: Weights = Weights()
    period_seconds: float = 30.0
    exclusion: Exclusion = EVERYTHING
    seed: int = 0
    planning: Planning | None = None
    """Settings of planning control systems."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """Result of one control system."""

    name: str
    summary: Summary
    cost: float
    """Sum of EDF's (1) over periods and operators."""


def compare(
    contest: Contest,
    entrants: Mapping[str, ControlSettings],
    processes: int = 2,
    told: Callable[[str], None] = lambda _: None,
) -> dict[str, Entrant]:
    """Runs all entrants in the given order; `told` is called with the name of each finished one."""
    found = {}
    for entrant in _run(contest, entrants.items(), processes):
        found[entrant.name] = entrant
        told(entrant.name)
    return {name: found[name] for name in entrants}


def limit(contest: Contest) -> float:
    """Least possible cost: every rate is known, changes take no time, nodes have reference speed.

    This is the cost of the best schedule on paper. The oracle also counts the slowdown by changes, so its run costs
    more; the run of another policy may be cheaper than the oracle's, but never cheaper than this.
    """
    settings = ControlSettings(
        "edf",
        ORACLE,
        {"weights": contest.weights, "slowed_by_a_change": 0.0},
        period_seconds=contest.period_seconds,
        latency_bounds_ms=contest.bounds_ms,
    )
    policy_for = informed_policies(contest.scenario, settings, contest.until_seconds, contest.seed)
    if policy_for is None:
        raise ValueError("the oracle takes no latency curve: nothing can be known ahead")
    operators = contest.scenario.application.operators
    known: list[Any] = [policy_for(op) for op in operators if op.max_replicas > op.min_replicas]
    return float(sum(policy.cost for policy in known))


def ratios(entrants: Mapping[str, Entrant]) -> dict[str, float | None]:
    """Cost of each entrant relative to the oracle's, where there is one."""
    oracle = entrants.get(ORACLE)
    return {name: each.cost / oracle.cost if oracle and oracle.cost > 0 else None for name, each in entrants.items()}


def _run(contest: Contest, entrants: Iterable[tuple[str, ControlSettings]], processes: int) -> Iterator[Entrant]:
    if processes <= 1:
        for name, settings in entrants:
            yield _one(contest, name, settings)
        return
    # New processes: a fork would inherit running threads.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_one, contest, name, settings) for name, settings in entrants]):
            yield future.result()


def _one(contest: Contest, name: str, settings: ControlSettings) -> Entrant:
    run = simulate(
        contest.scenario,
        settings,
        contest.until_seconds,
        seed=contest.seed,
        objective_ms=contest.objective_ms,
        planning=contest.planning,
    )
    cost = total_cost(
        run.recording, contest.scenario.application, contest.bounds_ms, contest.weights, contest.period_seconds
    )
    return Entrant(name, summarise(run.recording, contest.exclusion), cost)
