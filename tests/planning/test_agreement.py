"""Three ways to the same optimum: everything tried, the papers' programs, and the structured search."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.expansion import collapse_deployment, expand
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.problem import Problem
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.restricted import restricted
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.planning.solvers.milp import Milp
from rheostat.reference.generators import fat, heterogeneous, sequential
from rheostat.reference.networks import random_gaussian
from tests.planning.instances import FAMILIES, random_problem

EXACT, ORACLE = Exact(explains=False), Exhaustive(explains=False)
PER_FAMILY = 300


def assert_same(ours: Outcome, theirs: Outcome, what: str) -> None:
    assert ours.status is theirs.status, what
    if theirs.objective is not None:
        assert ours.objective == pytest.approx(theirs.objective, abs=1e-6), what


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tenth", range(10))
def test_all_three_agree(family: str, tenth: int) -> None:
    for seed in range(tenth, PER_FAMILY, 10):
        problem = random_problem(family, seed)
        truth = ORACLE.plan(problem)
        assert_same(EXACT.plan(problem), truth, f"exact, {family} {seed}")
        program = Milp(by_paths=seed % 2 == 0, pairwise_and=seed % 3 == 0, explains=False)
        assert_same(program.plan(problem), truth, f"milp, {family} {seed}")


@pytest.mark.parametrize("family", FAMILIES)
def test_infeasible_problems_are_among_them_and_feasible_ones_too(family: str) -> None:
    statuses = [ORACLE.plan(random_problem(family, seed)).status for seed in range(60)]
    assert statuses.count(PlanStatus.INFEASIBLE) >= 5
    assert statuses.count(PlanStatus.OPTIMAL) >= 30


@pytest.mark.parametrize("family", FAMILIES)
def test_the_price_of_a_hop_is_planned_exactly(family: str) -> None:
    for seed in range(1000, 1005):
        problem = replace(random_problem(family, seed), hop_ms=5.0)
        assert_same(EXACT.plan(problem), ORACLE.plan(problem), f"{family} {seed}")


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("make", [fat, sequential])
def test_side_by_side_and_one_after_the_other(make: Callable[[int], Application], seed: int) -> None:
    rng = np.random.default_rng(seed)
    application = make(5)
    if seed % 2:
        application = heterogeneous(application, seed)
    infrastructure = random_gaussian(4, seed, symmetric=seed % 3 == 0)
    nodes = tuple(
        replace(node, resources=float(rng.integers(1, 4)), speedup=float(rng.uniform(0.5, 2)), availability=0.9)
        for node in infrastructure.nodes
    )
    objective = random_problem("odp network", seed).objective
    objective = replace(objective, bounds=replace(objective.bounds, cost_per_hour=np.inf, availability=0.0))
    objective = replace(objective, bounds=replace(objective.bounds, response_time_ms=np.inf))
    problem = Problem(application, replace(infrastructure, nodes=nodes), objective)
    assert_same(EXACT.plan(problem), ORACLE.plan(problem), str(seed))


@pytest.mark.parametrize("family", ["edrp pause", "edrp restart", "edrp measured"])
def test_among_single_changes_the_best_is_found_too(family: str) -> None:
    for seed in range(40):
        problem = random_problem(family, seed)
        if problem.current is not None:
            few = restricted(problem)
            assert_same(EXACT.plan(few), ORACLE.plan(few), f"{family} {seed}")


@pytest.mark.parametrize("seed", range(10))
def test_executors_placed_one_by_one_are_multisets(seed: int) -> None:
    problem = random_problem("odp network", seed)
    degrees = {operator.name: operator.max_replicas for operator in problem.application.operators}
    fixed = replace(
        problem.application,
        operators=tuple(replace(op, min_replicas=degrees[op.name]) for op in problem.application.operators),
    )
    ranges = Exhaustive(explains=False).plan(replace(problem, application=fixed))
    executors = expand(problem.application, degrees)
    if ranges.objective is None:
        return
    single = Milp(explains=False).plan(replace(problem, application=executors))
    assert single.deployment is not None
    together = collapse_deployment(problem.application, single.deployment)
    assert ranges.evaluation is not None
    evaluation = replace(problem, application=fixed).evaluated(together)
    assert evaluation.traffic_tps == pytest.approx(single.evaluation.traffic_tps if single.evaluation else None)


@pytest.mark.parametrize("seed", range(40))
def test_equal_nodes_that_only_delays_tell_apart(seed: int) -> None:
    """Without a weight of the response time nodes are exchangeable, but its bound still tells them apart."""
    rng = np.random.default_rng(seed)
    problem = random_problem("edrp pause", seed)
    delays = DelayMatrix.of(rng.uniform(1, 40, (4, 4)))
    nodes = tuple(Node(f"n{u}", resources=float(1 + seed % 2)) for u in range(4))
    at = Infrastructure("equal", nodes, delays_ms=delays, default_link=LinkQuality(price=0.002))
    operators = tuple(
        replace(op, pin=None, resources=1.0, min_replicas=1, max_replicas=min(op.max_replicas, 2))
        for op in problem.application.operators
    )
    application = replace(problem.application, operators=operators)
    bounds = Bounds(float(rng.uniform(20, 90)), 30.0, 20.0)
    problem = Problem(application, at, EdrpObjective(0.0, 1.0, 0.0, bounds))
    assert_same(EXACT.plan(problem), ORACLE.plan(problem), str(seed))


@pytest.mark.parametrize("seed", range(40))
def test_cheap_deployments_that_are_late(seed: int) -> None:
    """More replicas are faster and dearer, so that the bound of the response time decides who has how many."""
    rng = np.random.default_rng(seed)
    rate = float(rng.uniform(70, 95))
    operators = tuple(
        Operator(
            f"o{i}",
            Kind.SOURCE if i == 0 else Kind.STATELESS,
            max_replicas=1 if i in (0, 3) else 2,
            cost_per_hour=1.0,
            latency=MM1(100.0),
            rate_tps=rate if i == 0 else 0.0,
        )
        for i in range(4)
    )
    application = Application("late", operators, tuple(Stream(f"o{i}", f"o{i + 1}") for i in range(3)))
    nodes = tuple(Node(f"n{u}", resources=2.0) for u in range(4))
    delays = DelayMatrix.of(rng.uniform(1, 30, (4, 4)))
    at = Infrastructure("equal", nodes, delays_ms=delays, default_link=LinkQuality(price=0.002))
    alone = 1000 / (100 - rate)
    bounds = Bounds(float(rng.uniform(2.2, 4.5)) * alone, 30.0, 20.0)
    problem = Problem(application, at, EdrpObjective(0.0, 0.6, 0.4, bounds))
    if seed % 2:
        slow = replace(problem, objective=replace(problem.objective, bounds=Bounds(1e6, 30.0, 20.0)))
        problem = replace(problem, current=ORACLE.plan(slow).deployment)
    assert_same(EXACT.plan(problem), ORACLE.plan(problem), str(seed))


@pytest.mark.parametrize("seed", range(12))
def test_an_operator_beside_the_path_that_is_late_or_early(seed: int) -> None:
    """It is decided last; the others must wait for it all the same, where it is the slower way."""
    rng = np.random.default_rng(seed)
    most = (1, 2, 2, 1, 1)
    operators = tuple(
        Operator(
            f"o{i}",
            Kind.SOURCE if i == 0 else Kind.STATELESS,
            max_replicas=m,
            cost_per_hour=1.0,
            latency=Constant(float(rng.uniform(1, 90 if i == 4 else 20))),
            rate_tps=50.0 if i == 0 else 0.0,
        )
        for i, m in enumerate(most)
    )
    ends = ((0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (4, 3))
    application = Application("beside", operators, tuple(Stream(f"o{i}", f"o{j}") for i, j in ends))
    nodes = tuple(Node(f"n{u}", resources=float(rng.integers(1, 4))) for u in range(4))
    delays = DelayMatrix.of(rng.uniform(1, 60, (4, 4)))
    at = Infrastructure("four", nodes, delays_ms=delays, default_link=LinkQuality(price=0.01))
    weights = ((1.0, 0.0), (0.7, 0.3))[seed % 2]
    objective = EdrpObjective(*weights, 0.0, Bounds(float(rng.uniform(90, 300)), 30.0, 20.0))
    problem = Problem(application, at, objective, hop_ms=float(seed % 3))
    assert_same(EXACT.plan(problem), ORACLE.plan(problem), str(seed))
