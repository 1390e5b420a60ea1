"""Problems that weigh time only: with heavy stand-ins and a lower bound of the downtime the optimum stays the same."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.candidates import all_candidates, candidates_of
from rheostat.planning.encoded.change_cost import least_start_seconds, without_starts
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.exact.bounds.bound_filter import multisets_below, with_packed
from rheostat.planning.exact.bounds.choice_levels import NodeLevel
from rheostat.planning.exact.bounds.multiset_generation import PathCosts
from rheostat.planning.exact.branch.incumbent import internal_value
from rheostat.planning.exact.branch.node_level import at_node_level
from rheostat.planning.exact.branch.subproblem import Subproblem, narrow
from rheostat.planning.exact.exact import Exact
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.reference.networks import random_gaussian
from rheostat.reference.taxi import taxi
from tests.planning.instances import random_problem

EXACT, ORACLE = Exact(explains=False), Exhaustive(explains=False)


def several_replicas(seed: int, downtime: float, most: int = 3) -> Problem:
    """Up to three or four replicas on different nodes; nothing but time counts."""
    rng = np.random.default_rng(seed)
    while True:
        problem = random_problem("edrp pause", int(rng.integers(1_000_000)))
        if len(problem.application.operators) == 3:
            break
    operators = tuple(
        replace(operator, max_replicas=max(most - (i == 2), operator.max_replicas))
        for i, operator in enumerate(problem.application.operators)
    )
    nodes = tuple(replace(node, resources=float(rng.integers(1, 4))) for node in problem.infrastructure.nodes)
    bounds = replace(problem.objective.bounds, response_time_ms=300.0, cost_per_hour=40.0, downtime_seconds=5.0)
    return replace(
        problem,
        application=replace(problem.application, operators=operators),
        infrastructure=replace(problem.infrastructure, nodes=nodes),
        objective=EdrpObjective(1.0 - downtime, 0.0, downtime, bounds),
        hop_ms=5.0 if seed % 4 == 3 else 0.0,
    )


@pytest.mark.parametrize("downtime", [0.0, 0.4, 0.8])
def test_with_several_replicas_the_optimum_is_found(downtime: float) -> None:
    found = 0
    for seed in range(40):
        problem = several_replicas(seed, downtime)
        if seed % 5 == 0:
            problem = replace(problem, current=None)
        ours, theirs = EXACT.plan(problem), ORACLE.plan(problem)
        assert ours.status is theirs.status, seed
        if theirs.objective is not None:
            assert ours.objective == pytest.approx(theirs.objective, abs=1e-9), seed
            found += 1
    assert found >= 20


@pytest.mark.parametrize("above", [1e-6, 0.1])
def test_the_optimum_survives_every_filter_with_several_replicas(above: float) -> None:
    looked_at = 0
    for seed in range(40):
        problem = replace(several_replicas(seed, 0.0), current=None)
        best = ORACLE.plan(problem).deployment
        if best is None:
            continue
        instance = EncodedProblem(problem)
        assert instance.weighs_time_only
        upper = internal_value(instance, best) * (1 + above)
        relaxed = at_node_level(instance, best, upper, Deadline())
        assert relaxed.lower <= upper
        ground = PathCosts.below(relaxed.level, relaxed.path, relaxed.prices, upper, relaxed.free)
        generated = multisets_below(ground, relaxed.values, upper)
        left = narrow(Subproblem(instance, generated, relaxed, 0.0, upper), Deadline())
        assert left is not None
        for i, name in enumerate(instance.names):
            wanted = instance.numbers(best[name])
            for options in (generated[i], left.candidates[i]):
                rows = [options.chosen(row) for row in range(len(options))]
                assert wanted in rows, (seed, name)
                assert len(rows) == len(set(rows))
        looked_at += 1
    assert looked_at >= 20


def test_without_a_limit_every_multiset_that_has_room_grows_once() -> None:
    for seed in range(20):
        problem = replace(several_replicas(seed, 0.0, 4), current=None)
        # Room for everything: what no deployment has room for need not grow.
        nodes = tuple(replace(node, resources=30.0) for node in problem.infrastructure.nodes)
        instance = EncodedProblem(replace(problem, infrastructure=replace(problem.infrastructure, nodes=nodes)))
        relaxed = at_node_level(instance, None, float("inf"), Deadline())
        if min(relaxed.level.sizes()) == 0:
            continue
        ground = PathCosts.below(relaxed.level, relaxed.path, relaxed.prices, 1e15, relaxed.free)
        generated = multisets_below(ground, relaxed.values, 1e14)
        for i, options in enumerate(with_packed(relaxed.level, generated, relaxed.values, 1e14)):
            rows = sorted(options.chosen(row) for row in range(len(options)))
            expected = all_candidates(instance, i)
            assert rows == sorted(expected.chosen(row) for row in range(len(expected))), (seed, i)


@pytest.mark.parametrize(
    ("nodes", "stand_ins"),
    [((2, 2, 5), (2, 2, 2)), ((2, 5, 5), (5, 5, 5)), ((2, 5), (2, 5)), ((1, 1, 4, 4), (1, 1, 4, 4)), ((3,), (3,))],
)
def test_who_has_most_replicas_stands_for_all(nodes: tuple[int, ...], stand_ins: tuple[int, ...]) -> None:
    at = random_gaussian(6, 1)
    at = replace(at, nodes=tuple(replace(node, resources=2.0) for node in at.nodes))
    instance = EncodedProblem(Problem(taxi(70, 4), at, EdrpObjective(1.0, 0.0, 0.0, Bounds(175.0))))
    operator, level = instance.position["parser"], NodeLevel(instance)
    chosen = level.choices_of(operator, candidates_of(instance, operator, [nodes]))[0]
    assert tuple(level.nodes[operator][chosen[: len(nodes)]]) == stand_ins
    assert set(level.replicas[operator][chosen[: len(nodes)]].tolist()) == {len(nodes)}
    assert set(level.here[operator][chosen[: len(nodes)]].tolist()) == {max(map(nodes.count, nodes))}
    assert (chosen[len(nodes) :] == -1).all()


@pytest.mark.parametrize(("replicas", "heavy"), [(1, False), (2, True)])
def test_one_replica_stands_for_nobody_and_is_not_treated_as_if(replicas: int, heavy: bool) -> None:
    problem = Problem(taxi(70, replicas), random_gaussian(6, 1), EdrpObjective(1.0, 0.0, 0.0, Bounds(175.0)))
    assert NodeLevel(EncodedProblem(problem)).heavy == heavy


def test_whatever_is_not_listed_takes_as_long_as_the_floor() -> None:
    higher = 0
    for seed in range(40):
        instance = EncodedProblem(several_replicas(seed, 0.4))
        floor = least_start_seconds(instance)
        spawn = min(node.spawn_seconds for node in instance.problem.infrastructure.nodes)
        higher += floor > instance.problem.downtime.sync_seconds + spawn + 1e-3  # type: ignore[attr-defined]
        for i, listed in enumerate(without_starts(instance)):
            known = {listed.chosen(row) for row in range(len(listed))}
            nodes = range(len(instance.node_names))
            every = [m for size in (1, 2, 3) for m in combinations_with_replacement(nodes, size)]
            options = all_candidates(instance, i)
            possible = {options.chosen(row) for row in range(len(options))} & set(every)
            for row in range(len(options)):
                if options.chosen(row) in possible - known:
                    assert options.downtime[row] >= floor - 1e-9, (seed, i)
    assert higher >= 10
