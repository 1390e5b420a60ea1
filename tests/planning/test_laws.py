"""Laws between problems, for any numbers; normalisers are fixed where two problems are compared."""

from dataclasses import replace
from math import inf

import pytest

from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import DelayMatrix, Node
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.planner import Silent
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.candidate_sample import Sampled
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.restricted import Restricted
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.planning.solvers.local_search import LocalSearch
from rheostat.planning.solvers.milp import Milp
from rheostat.reference.networks import random_geographic
from rheostat.reference.taxi import taxi
from tests.planning.instances import random_problem

EXACT = Exact(explains=False)
SEEDS = range(25)


def is_no_worse(problem: Problem, better: Outcome, worse: Outcome) -> bool:
    if worse.objective is None:
        return True
    if better.objective is None:
        return False
    sign = 1 if problem.maximises else -1
    return sign * better.objective >= sign * worse.objective - 1e-7


@pytest.mark.parametrize("seed", SEEDS)
def test_another_node_never_worsens_the_optimum(seed: int) -> None:
    problem = normalised(random_problem("odp" if seed % 2 else "edrp pause", seed))
    infrastructure = problem.infrastructure
    if infrastructure.delays_ms is None:
        quality = LinkQuality(delay_ms=50.0)
        first = infrastructure.links[0]
        links = (*infrastructure.links, replace(first, source="new", target="n0", quality=quality, both_ways=True))
        larger = replace(infrastructure, nodes=(*infrastructure.nodes, Node("new", resources=3.0)), links=links)
    else:
        rows = [(*row, 20.0) for row in infrastructure.delays_ms.rows]
        rows.append(tuple([20.0] * len(rows) + [0.0]))
        nodes = (*infrastructure.nodes, Node("new", resources=3.0))
        larger = replace(infrastructure, nodes=nodes, delays_ms=DelayMatrix(tuple(rows)))
    assert is_no_worse(problem, EXACT.plan(replace(problem, infrastructure=larger)), EXACT.plan(problem))


@pytest.mark.parametrize("seed", SEEDS)
def test_without_weight_and_bound_of_downtime_the_current_deployment_does_not_matter(seed: int) -> None:
    problem = random_problem("edrp pause", seed)
    bounds = replace(problem.objective.bounds, downtime_seconds=inf)
    problem = replace(problem, objective=EdrpObjective(0.7, 0.3, 0.0, bounds))
    with_it, without = EXACT.plan(problem), EXACT.plan(replace(problem, current=None))
    assert with_it.status is without.status
    assert with_it.objective == (without.objective if without.objective is None else pytest.approx(without.objective))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", ["edrp pause", "edrp restart"])
def test_with_an_enormous_weight_of_downtime_a_feasible_deployment_stays(family: str, seed: int) -> None:
    problem = random_problem(family, seed)
    if problem.current is None:
        return
    bounds = Bounds(1e6, 1e6, 1e-3)
    problem = replace(problem, objective=EdrpObjective(0.0005, 0.0005, 0.999, bounds))
    if problem.broken_by(problem.current, problem.evaluated(problem.current)):
        return
    assert EXACT.plan(problem).deployment == problem.current


@pytest.mark.parametrize("seed", SEEDS)
def test_single_changes_lie_between_staying_and_the_optimum(seed: int) -> None:
    problem = random_problem("edrp measured", seed)
    if problem.current is None:
        return
    best, single = EXACT.plan(problem), Restricted().plan(problem)
    assert is_no_worse(problem, best, single)
    evaluation = problem.evaluated(problem.current)
    if not problem.broken_by(problem.current, evaluation):
        assert single.objective is not None
        assert single.objective <= problem.value_of(evaluation) + 1e-9
    if single.deployment is not None:
        for name, before in problem.current.items():
            after = single.deployment[name]
            added = sum(max(0, after[node] - before[node]) for node in after)
            removed = sum(max(0, before[node] - after[node]) for node in before)
            assert max(added, removed) <= 1


def test_a_single_change_mends_what_is_saturated_on_many_nodes() -> None:
    objective = EdrpObjective(0.3, 0.3, 0.4, Bounds(175.0, 30.0, 7.5))
    before = Problem(taxi(100, 2), random_geographic(60, 0), replace(objective, downtime=0.0, cost=0.7))
    running = LocalSearch(4000, 1).plan(before).deployment
    assert running is not None
    problem = replace(before, application=taxi(160, 2), objective=objective, current=running, limits=Limits(0.0))
    outcome = Restricted().plan(problem)
    assert outcome.deployment is not None, "even without time to search"
    assert len(outcome.deployment["partialRank"]) == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_better_than_the_optimum(seed: int) -> None:
    problem = normalised(random_problem("odp network", seed))
    best = EXACT.plan(problem)
    for planner in (LocalSearch(2000, 1), Sampled(0.6, seed)):
        assert is_no_worse(problem, best, planner.plan(problem))


@pytest.mark.parametrize("rounds", [0, 200, 5000])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_never_on_the_wrong_side(seed: int, rounds: int) -> None:
    problem = Problem(
        taxi(190, 2),
        random_geographic(8, seed),
        EdrpObjective(0.5, 0.5, 0.0, Bounds(175.0, 30.0, 7.5)),
        limits=Limits(0.02 * (seed + 1)),
    )
    hurried = Exact(LocalSearch(max(rounds, 1), 1), explains=False).plan(problem)
    best = EXACT.plan(replace(problem, limits=Limits()))
    assert best.status is PlanStatus.OPTIMAL
    assert best.objective is not None
    if hurried.bound is not None:
        assert hurried.bound <= best.objective + 1e-7
    if hurried.objective is not None:
        assert hurried.objective >= best.objective - 1e-7
    if hurried.status is PlanStatus.OPTIMAL:
        assert hurried.objective == pytest.approx(best.objective)


@pytest.mark.parametrize("gap", [0.02, 0.2])
def test_within_a_gap_limit_the_answer_and_its_bound_are_that_close(gap: float) -> None:
    problem = Problem(taxi(190, 2), random_geographic(8, 1), EdrpObjective(0.5, 0.5, 0.0, Bounds(175.0, 30.0, 7.5)))
    best = EXACT.plan(problem)
    rough = EXACT.plan(replace(problem, limits=Limits(gap=gap)))
    assert rough.gap <= gap + 1e-6
    assert best.objective is not None
    assert rough.bound is not None
    assert rough.bound <= best.objective + 1e-9


def test_an_infeasible_start_is_not_believed() -> None:
    problem = random_problem("edrp pause", 3)
    for seed in range(200):
        problem = random_problem("edrp pause", seed)
        if problem.current and problem.broken_by(problem.current, problem.evaluated(problem.current)):
            break
    truth = Exhaustive(explains=False).plan(problem)
    started = EXACT.plan(replace(problem, start=problem.current))
    assert started.status is truth.status
    assert started.objective == (truth.objective if truth.objective is None else pytest.approx(truth.objective))


def test_the_reference_application_agrees_with_its_program() -> None:
    problem = Problem(taxi(90, 2), random_geographic(5, 0), EdrpObjective(0.5, 0.5, 0.0, Bounds(175.0, 30.0, 7.5)))
    ours, theirs = EXACT.plan(problem), Milp(explains=False).plan(problem)
    assert ours.status is theirs.status is PlanStatus.OPTIMAL
    assert ours.objective == pytest.approx(theirs.objective, abs=1e-6)


def test_progress_is_reported_and_only_gets_better() -> None:
    heard: list[tuple[float | None, float | None, float]] = []

    class Listener(Silent):
        def report(self, incumbent: float | None, bound: float | None, gap: float) -> None:
            heard.append((incumbent, bound, gap))

    problem = Problem(taxi(190, 2), random_geographic(8, 1), EdrpObjective(0.5, 0.5, 0.0, Bounds(175.0, 30.0, 7.5)))
    outcome = EXACT.plan(problem, Listener())
    incumbents = [incumbent for incumbent, _, _ in heard if incumbent is not None]
    assert incumbents == sorted(incumbents, reverse=True)
    assert all(bound <= outcome.objective + 1e-7 for _, bound, _ in heard if bound is not None and outcome.objective)
    assert heard[-1][2] == 0.0
