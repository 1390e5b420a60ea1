"""Basis of the experiments: the hour of EDRP 7.2 keeps its shape, also if planned less often."""

from dataclasses import replace

import pytest
from experiments.planning.hour import BOUNDS, MINUTES, Hour, Setting, source_rate_tps, spent
from experiments.planning.report import markdown_table
from experiments.planning.sweep import Case
from experiments.planning.table_iii import WEIGHTS
from experiments.planning.table_iv import PAPER

from rheostat.model.quality.objective import EdrpObjective
from rheostat.model.quality.program_size import edrp_variables, odp_variables
from rheostat.planning.contract.problem import Problem
from rheostat.planning.exact.exact import Exact
from rheostat.planning.exact.restricted import Restricted
from rheostat.reference.networks import random_geographic
from rheostat.reference.taxi import taxi

EVERY = 6
"""Minutes between two plans: the papers' one would take longer than a test may."""


@pytest.fixture(scope="module")
def hours() -> dict[str, Hour]:
    # The first search on a machine compiles itself, which would not leave enough of a plan's time.
    objective = EdrpObjective(0.3, 0.3, 0.4, BOUNDS)
    first = Exact(explains=False).plan(Problem(taxi(100, 2), random_geographic(5), objective))
    Exact(explains=False).plan(Problem(taxi(160, 2), random_geographic(5), objective, first.deployment))
    return {name: spent(Setting(name, weights, every=EVERY)) for name, weights in WEIGHTS.items()}


def test_the_source_goes_up_and_down_again() -> None:
    rates = [source_rate_tps(minute) for minute in range(MINUTES + 1)]
    assert (rates[0], max(rates), rates[-1]) == (70, 220, 70)
    assert rates.index(220) == 30
    assert rates[10] - rates[9] == pytest.approx(5)


def test_all_settings_start_from_the_same_deployment_and_prove_every_plan(hours: dict[str, Hour]) -> None:
    assert len({hour.minutes[0].deployment for hour in hours.values()}) == 1
    assert [hour.unproven for hour in hours.values()] == [0, 0, 0, 0]


def test_without_a_price_of_changes_there_are_more_of_them_for_hardly_any_gain(hours: dict[str, Hour]) -> None:
    base, balanced = hours["baseline"], hours["balanced"]
    assert len(base.reconfigurations) > len(balanced.reconfigurations)
    assert base.downtime_seconds > balanced.downtime_seconds
    assert balanced.mean_response_time_ms == pytest.approx(base.mean_response_time_ms, rel=0.03)


def test_the_weight_of_cost_is_cheapest_and_slowest(hours: dict[str, Hour]) -> None:
    cost, *others = (hours[name] for name in ("cost", "baseline", "balanced", "response time"))
    for hour in others:
        assert cost.mean_cost_per_hour < hour.mean_cost_per_hour
        assert cost.mean_response_time_ms > hour.mean_response_time_ms


def test_partial_rank_is_replicated_first(hours: dict[str, Hour]) -> None:
    for hour in hours.values():
        first = hour.first_replicated()
        assert first is not None
        assert "partialRank" in first[1]


def test_single_changes_keep_the_bounds_as_well(hours: dict[str, Hour]) -> None:
    hour = spent(replace(hours["balanced"].setting, planner=Restricted(), every=10))
    assert all(minute.response_time_ms <= 175 + 1e-6 for minute in hour.minutes)
    assert hour.reconfigurations


@pytest.mark.parametrize(("nodes", "degree"), [(12, 2), (16, 2), (20, 2), (24, 2), (8, 3), (12, 3), (8, 4)])
def test_the_programs_are_as_large_as_the_paper_says(nodes: int, degree: int) -> None:
    counted = edrp_variables(taxi(100, degree), list(random_geographic(nodes).index)).total / 1000
    printed = float(PAPER[nodes, degree][0].split(" / ")[0])
    assert counted == pytest.approx(printed, abs=0.06)


def test_the_sizes_of_the_scalability_study_are_the_papers() -> None:
    sizes = {}
    for shape in ("sequential", "fat"):
        problem = Case(shape, 50, 20).problem(0)
        sizes[shape] = odp_variables(problem.application, list(problem.infrastructure.index))
    assert sizes["sequential"].operator_variables == 1000
    assert (sizes["sequential"].stream_variables, sizes["fat"].stream_variables) == (19_600, 38_400)


def test_a_table_shows_what_is_missing_as_a_dash() -> None:
    assert markdown_table(["a", "b"], [[1, None]]) == ["| a | b |", "|---|---|", "| 1 | - |"]
