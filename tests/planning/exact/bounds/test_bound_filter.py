"""Filtered multisets are never part of the optimum, however tight the limit is above it."""

from dataclasses import replace
from math import inf

import pytest
from tests.planning.instances import random_problem

from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.spread import least_delays_to_all
from rheostat.planning.exact.bounds.bound_filter import multisets_below
from rheostat.planning.exact.bounds.multiset_generation import PathCosts
from rheostat.planning.exact.branch.incumbent import internal_value
from rheostat.planning.exact.branch.node_level import at_node_level
from rheostat.planning.exact.branch.subproblem import Subproblem, narrow
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.reference.networks import random_gaussian
from rheostat.reference.taxi import taxi

ORACLE = Exhaustive(explains=False)


def first_plan(seed: int, weights: tuple[float, float]) -> Problem:
    """Without a current deployment, so that F has no downtime in it; of delays and prices."""
    problem = random_problem("edrp pause", seed)
    bounds = replace(problem.objective.bounds, response_time_ms=400.0, cost_per_hour=20.0)
    return replace(problem, current=None, objective=EdrpObjective(*weights, 0.0, bounds))


@pytest.mark.parametrize("weights", [(0.5, 0.5), (1.0, 0.0)])
@pytest.mark.parametrize("above", [1e-6, 0.02, 0.3])
def test_the_optimum_survives_every_filter(above: float, weights: tuple[float, float]) -> None:
    looked_at = 0
    for seed in range(60):
        problem = first_plan(seed, weights)
        best = ORACLE.plan(problem).deployment
        if best is None:
            continue
        instance = EncodedProblem(problem)
        upper = internal_value(instance, best) * (1 + above)
        relaxed = at_node_level(instance, best, upper, Deadline())
        assert relaxed.lower <= upper
        ground = PathCosts.below(relaxed.level, relaxed.path, relaxed.prices, 1.1 * upper)
        generated = multisets_below(ground, relaxed.values, upper)
        left = narrow(Subproblem(instance, generated, relaxed, 0.0, upper), Deadline())
        assert left is not None
        assert left.bound.value <= upper
        for i, name in enumerate(instance.names):
            wanted = instance.numbers(best[name])
            for options in (generated[i], left.candidates[i]):
                assert wanted in [options.chosen(row) for row in range(len(options))], (seed, name)
        looked_at += 1
    assert looked_at >= 30


@pytest.mark.parametrize(
    ("replicas", "taken", "which"),
    [
        pytest.param(2, 1.0, 1, id="one here, the second on the nearest other node"),
        pytest.param(3, 1.0, 1, id="one here, two on the nearest other node"),
        pytest.param(4, 1.0, 2, id="one here, two there, one farther away"),
        pytest.param(4, 2.0, 2, id="none here, two and two"),
        pytest.param(2, 0.0, 1, id="room for both here, but they are on different nodes"),
    ],
)
def test_who_has_no_room_nearby_is_far_away(replicas: int, taken: float, which: int) -> None:
    at = random_gaussian(6, 1)
    at = replace(at, nodes=tuple(replace(node, resources=2.0) for node in at.nodes))
    instance = EncodedProblem(Problem(taxi(70, 4, pins=None), at, EdrpObjective(1.0, 0.0, 0.0, Bounds(175.0))))
    operator = instance.position["parser"]
    for turned, delay in ((False, at.network.delay_ms), (True, at.network.delay_ms.T)):
        expected = [sorted(row)[which] for row in delay.tolist()]
        found = least_delays_to_all(instance, (operator, replicas), taken, turned=turned)
        assert found.tolist() == pytest.approx(expected)
    assert max(expected) < inf
