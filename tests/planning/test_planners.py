"""Contract of every planner, run on all of them by name."""

from dataclasses import replace
from math import inf

import pytest

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.latency import MM1, Constant
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import Bounds, OdpObjective
from rheostat.planning.contract.outcome import PlanStatus
from rheostat.planning.contract.planner import Silent, Unsuited
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.planner_registry import PLANNERS, PROVING
from rheostat.planning.solvers.exhaustive import Exhaustive
from tests.planning.instances import FAMILIES, random_problem

ORACLE = Exhaustive(explains=False)
FOUND = {PlanStatus.OPTIMAL, PlanStatus.FEASIBLE}


@pytest.fixture(params=list(PLANNERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_is_what_it_says_and_nothing_is_better_than_the_optimum(name: str, family: str) -> None:
    answered = 0
    for seed in range(5):
        problem = normalised(random_problem(family, seed))
        outcome, truth = PLANNERS[name].planner.plan(problem), ORACLE.plan(problem)
        assert (outcome.deployment is not None) == (outcome.status in FOUND)
        if outcome.status is PlanStatus.INFEASIBLE:
            assert truth.status is PlanStatus.INFEASIBLE
            assert outcome.conflict
        if outcome.status is PlanStatus.OPTIMAL:
            assert outcome.objective == pytest.approx(truth.objective, abs=1e-6)
        if outcome.deployment is None:
            continue
        answered += 1
        evaluation = problem.evaluated(outcome.deployment)
        assert problem.broken_by(outcome.deployment, evaluation) == ()
        assert outcome.objective == pytest.approx(problem.value_of(evaluation))
        assert truth.objective is not None
        worse = truth.objective - outcome.objective if problem.maximises else outcome.objective - truth.objective
        assert worse >= -1e-7
    assert answered or name not in PROVING


def test_the_same_question_gets_the_same_answer(name: str) -> None:
    problem = random_problem("edrp pause", 2)
    first, again = PLANNERS[name].planner.plan(problem), PLANNERS[name].planner.plan(problem)
    assert first.status is again.status
    assert first.deployment == again.deployment


def test_only_a_proof_is_called_optimal(name: str) -> None:
    statuses = {PLANNERS[name].planner.plan(random_problem("odp network", seed)).status for seed in range(8)}
    # Without a current deployment there is nothing to restrict changes to: rEDRP is then EDRP.
    assert (PlanStatus.OPTIMAL in statuses) == (name in (*PROVING, "restricted"))


def test_what_is_found_is_reported(name: str) -> None:
    heard: list[float] = []

    class Listener(Silent):
        def report(self, incumbent: float | None, *_: float | None) -> None:
            if incumbent is not None:
                heard.append(incumbent)

    outcome = PLANNERS[name].planner.plan(Problem(pair(), edges(2, 1)), Listener())
    assert outcome.objective is not None, outcome.conflict
    assert heard[-1] == pytest.approx(outcome.objective)


def test_without_time_nothing_wrong_is_said(name: str) -> None:
    for seed in range(3):
        problem = replace(random_problem("edrp restart", seed), limits=Limits(0.0))
        outcome, truth = PLANNERS[name].planner.plan(problem), ORACLE.plan(replace(problem, limits=Limits()))
        if outcome.status is PlanStatus.OPTIMAL:
            assert outcome.objective == pytest.approx(truth.objective, abs=1e-6)
        if outcome.status is PlanStatus.INFEASIBLE:
            assert truth.status is PlanStatus.INFEASIBLE


def test_the_price_of_a_hop_is_paid_or_refused(name: str) -> None:
    problem = replace(random_problem("edrp pause", 2), hop_ms=5.0)
    try:
        outcome = PLANNERS[name].planner.plan(problem)
    except Unsuited as refusal:
        assert "hop" in str(refusal)
    else:
        if outcome.deployment is not None:
            assert outcome.objective == pytest.approx(problem.value_of(problem.evaluated(outcome.deployment)))


def pair(**last: object) -> Application:
    source = Operator("source", Kind.SOURCE, latency=Constant(10.0), rate_tps=100.0, pin="edge-1")
    sink = Operator("sink", Kind.SINK, latency=Constant(20.0), **last)  # type: ignore[arg-type]
    return Application("pair", (source, sink), (Stream("source", "sink"),))


def edges(*resources: float) -> Infrastructure:
    nodes = tuple(Node(f"edge-{number}", resources=room) for number, room in enumerate(resources, 1))
    delays = [[0.0 if u == v else 141.0 for v in nodes] for u in nodes]
    return Infrastructure("edges", nodes, delays_ms=DelayMatrix.of(delays))


@pytest.mark.parametrize(
    ("application", "infrastructure", "words"),
    [
        pytest.param(pair(pin="edge-1", resources=2.0), edges(2, 5), "pins need 3 slots on edge-1", id="pins"),
        pytest.param(pair(resources=9.0), edges(2, 5), "has more than 5", id="no feasible node"),
        pytest.param(pair(), edges(1), "need 2 slots", id="no room for all"),
        pytest.param(
            Application("busy", (Operator("s", Kind.SOURCE, latency=MM1(50.0), rate_tps=100.0),)),
            edges(1),
            "too much even for 1 replicas",
            id="saturated",
        ),
    ],
)
def test_what_cannot_be_is_told_in_the_same_words_by_all(
    name: str, application: Application, infrastructure: Infrastructure, words: str
) -> None:
    outcome = PLANNERS[name].planner.plan(Problem(application, infrastructure))
    assert outcome.deployment is None
    assert outcome.status is PlanStatus.INFEASIBLE
    assert words in "; ".join(outcome.conflict)


def test_a_bound_that_cannot_be_kept_is_never_answered(name: str) -> None:
    objective = OdpObjective(bounds=Bounds(response_time_ms=150.0))
    outcome = PLANNERS[name].planner.plan(Problem(pair(), edges(1, 1), objective))
    assert outcome.deployment is None
    assert outcome.status in (
        {PlanStatus.INFEASIBLE} if name in PROVING else {PlanStatus.INFEASIBLE, PlanStatus.NO_ANSWER}
    )


def test_a_network_of_one_node_is_no_exception(name: str) -> None:
    outcome = PLANNERS[name].planner.plan(Problem(pair(), edges(2)))
    assert outcome.evaluation is not None, outcome.conflict
    assert outcome.evaluation.response_time_ms == 30.0
    assert outcome.gap in (0.0, inf)


def test_the_default_comes_first_and_every_planner_says_what_it_is() -> None:
    assert next(iter(PLANNERS)) == "exact"
    assert all(entry.about and not entry.about.endswith(".") for entry in PLANNERS.values())
