"""Bad input is reported in words; never a traceback from inside, never a wrong "optimal"."""

from dataclasses import replace
from math import nan
from time import perf_counter

import pytest

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective
from rheostat.planning.contract.outcome import PlanStatus
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact.candidate_sample import Sampled
from rheostat.planning.exact.exact import Exact
from rheostat.planning.solvers.exhaustive import Exhaustive
from rheostat.planning.solvers.milp import Milp
from rheostat.reference.generators import fat, sequential
from rheostat.reference.networks import random_gaussian

PLANNERS = [
    pytest.param(Exact(), id="exact"),
    pytest.param(Milp(), id="milp"),
    pytest.param(Exhaustive(), id="exhaustive"),
]


def pipeline(**last: object) -> Application:
    return Application(
        "two",
        (
            Operator("source", Kind.SOURCE, latency=Constant(10.0), rate_tps=100.0, pin="edge-1"),
            Operator("sink", Kind.SINK, latency=Constant(20.0), **last),  # type: ignore[arg-type]
        ),
        (Stream("source", "sink"),),
    )


def nodes(*resources: float, bandwidth: float = float("inf")) -> Infrastructure:
    members = tuple(Node(f"edge-{number}", resources=room) for number, room in enumerate(resources, 1))
    delays = [[0.0 if u == v else 141.0 for v in members] for u in members]
    return Infrastructure(
        "few", members, delays_ms=DelayMatrix.of(delays), default_link=LinkQuality(bandwidth_tps=bandwidth)
    )


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("application", "infrastructure", "bounds", "words"),
    [
        pytest.param(
            pipeline(pin="edge-1", resources=2.0),
            nodes(2, 5),
            Bounds(),
            "pins need 3 slots on edge-1, it has 2",
            id="pins",
        ),
        pytest.param(
            pipeline(),
            nodes(1, 1),
            Bounds(response_time_ms=150.0),
            "no deployment meets 150 ms: the best is 171 ms",
            id="response time",
        ),
        pytest.param(pipeline(resources=9.0), nodes(2, 5), Bounds(), "has more than 5", id="no room for one"),
        pytest.param(pipeline(), nodes(1), Bounds(), "need 2 slots", id="no room for all"),
        pytest.param(
            pipeline(), nodes(1, 1, bandwidth=50.0), Bounds(), "cannot be carried by the links", id="bandwidth"
        ),
        pytest.param(
            Application("busy", (Operator("source", Kind.SOURCE, latency=MM1(50.0), rate_tps=100.0),)),
            nodes(1),
            Bounds(),
            "gets 100 tps, too much even for 1 replicas",
            id="saturated",
        ),
        pytest.param(
            pipeline(), nodes(2), Bounds(cost_per_hour=1.5), "no deployment meets 1.5 $/h: the best is 2", id="cost"
        ),
    ],
)
def test_an_infeasible_problem_says_what_conflicts(
    planner: Planner, application: Application, infrastructure: Infrastructure, bounds: Bounds, words: str
) -> None:
    outcome = planner.plan(Problem(application, infrastructure, OdpObjective(bounds=bounds)))
    assert outcome.status is PlanStatus.INFEASIBLE
    assert words in "; ".join(outcome.conflict)


@pytest.mark.parametrize("planner", PLANNERS)
def test_bounds_that_conflict_only_together_are_all_named(planner: Planner) -> None:
    application = Application("busy", (Operator("s", Kind.SOURCE, latency=MM1(101.0), rate_tps=100.0, max_replicas=2),))
    bounds = Bounds(response_time_ms=100.0, cost_per_hour=1.5)
    outcome = planner.plan(Problem(application, nodes(2), OdpObjective(bounds=bounds)))
    assert outcome.status is PlanStatus.INFEASIBLE
    assert any("100 ms" in words for words in outcome.conflict)
    assert any("1.5 $/h" in words for words in outcome.conflict)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Infrastructure("none", ()), id="empty network"),
        pytest.param(lambda: nodes(nan), id="no number of slots"),
        pytest.param(lambda: random_gaussian(2, mean_ms=nan), id="no delays"),
        pytest.param(lambda: pipeline(max_replicas=0), id="k = 0"),
        pytest.param(lambda: EdrpObjective(0.0, 0.0, 0.0), id="weights all zero"),
        pytest.param(lambda: OdpObjective(nan), id="no weight"),
        pytest.param(lambda: Problem(pipeline(pin="nowhere"), nodes(1)), id="a pin that is no node"),
        pytest.param(lambda: Problem(pipeline(), nodes(2), hop_ms=nan), id="no price of a hop"),
        pytest.param(lambda: Problem(pipeline(), nodes(2), restriction={"other": ()}), id="a restriction of nobody"),
    ],
)
def test_what_contradicts_itself_is_refused_at_birth(make: object) -> None:
    with pytest.raises(InvalidModel):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("make", [lambda: Limits(seconds=-1), lambda: Limits(seconds=nan), lambda: Limits(gap=nan)])
def test_limits_that_are_none_are_refused(make: object) -> None:
    with pytest.raises(ValueError, match="limit"):
        make()  # type: ignore[operator]


def test_a_program_that_knows_no_hops_refuses_them() -> None:
    with pytest.raises(ValueError, match="hop"):
        Milp().plan(Problem(pipeline(), nodes(2), hop_ms=1.0))


def test_too_many_combinations_are_refused_by_the_oracle() -> None:
    with pytest.raises(ValueError, match="too many"):
        Exhaustive().plan(Problem(sequential(20), random_gaussian(20)))


@pytest.mark.parametrize("application", [sequential(12), fat(12)])
def test_without_time_nothing_wrong_is_claimed(application: Application) -> None:
    outcome = Exact().plan(Problem(application, random_gaussian(10), limits=Limits(0.0)))
    best = Exact().plan(Problem(application, random_gaussian(10)))
    assert best.status is PlanStatus.OPTIMAL
    assert best.objective is not None
    if outcome.bound is not None:
        assert outcome.bound >= best.objective - 1e-9
    if outcome.status is PlanStatus.OPTIMAL:
        assert outcome.objective == pytest.approx(best.objective)


def test_a_time_limit_holds_on_many_nodes_too() -> None:
    problem = Problem(fat(30), random_gaussian(400), limits=Limits(0.2))
    # The first search on a machine compiles itself, which is no part of any limit here.
    Exact().plan(Problem(fat(6), random_gaussian(5)))
    started = perf_counter()
    outcome = Exact().plan(problem)
    # Bounds of all pairs of nodes alone take longer than this where nobody looks at the clock.
    assert perf_counter() - started < 3.0
    assert outcome.status is PlanStatus.FEASIBLE
    assert outcome.bound is not None
    assert outcome.objective is not None
    assert outcome.bound >= outcome.objective


def test_an_empty_restriction_is_infeasible() -> None:
    outcome = Exact(explains=False).plan(Problem(pipeline(), nodes(2), restriction={"sink": ()}))
    assert outcome.status is PlanStatus.INFEASIBLE


def test_a_sample_of_everything_is_the_problem_itself() -> None:
    problem = Problem(sequential(6), random_gaussian(5))
    assert Sampled(1.0).plan(problem).objective == pytest.approx(Exact().plan(problem).objective)
    assert Sampled(0.5, seed=3).plan(replace(problem)).status is PlanStatus.FEASIBLE
