"""A policy that is found with CMA-ES over the Gymnasium environment runs under the application manager."""

import json

import pytest
from examples.learned_policy.train import KNOWN, OBJECTIVE_MS, cost_under_the_manager, scenario
from examples.learned_policy.training import episode_cost, load, save, trained

from rheostat.policies.operators.linear import Linear
from rheostat.simulation.studies.scaling_environment import ScalingEnvironment, Task


@pytest.fixture(scope="module")
def task():
    return Task(scenario(KNOWN), OBJECTIVE_MS, periods=60)


@pytest.fixture(scope="module")
def learned(task):
    return trained(task, evaluations=24)


def test_what_is_learned_is_cheaper_than_where_it_began(task, learned):
    environment = ScalingEnvironment(task)
    assert episode_cost(environment, learned, 0) < episode_cost(environment, Linear(), 0)


def test_the_same_seed_learns_the_same(task, learned):
    assert trained(task, evaluations=24) == learned


def test_what_is_learned_is_kept_as_plain_data(learned, tmp_path):
    path = tmp_path / "learned.json"
    save(learned, path)
    assert json.loads(path.read_text()) == {
        "policy": "linear",
        "options": {"coefficients": list(learned.coefficients)},
    }
    assert load(path) == learned


def test_it_runs_under_the_application_manager_on_rates_it_has_not_seen(learned):
    held, none = cost_under_the_manager("hold", {})
    cost, changes = cost_under_the_manager("linear", {"coefficients": learned.coefficients})
    assert none == 0
    assert changes > 0
    assert cost < held
