"""Findings of the Spark experiments in placements: streams across nodes, use of weak nodes, moved replicas."""

from collections import Counter

import pytest
from experiments.spark.elastic_storm import Phases, Relocation, relocations
from experiments.spark.tag_stage import busiest_seed, crossing_share, mean_age, network, on_weak_nodes, quantile

from rheostat.control.loop.ports import Entry
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.plan.physical_plan import physical_plan


@pytest.mark.parametrize(
    ("source", "target", "share"),
    [
        pytest.param({"a": 2}, {"a": 2}, 0.0, id="together: nothing crosses"),
        pytest.param({"a": 2}, {"b": 1}, 1.0, id="apart: everything"),
        pytest.param({"a": 1, "b": 1}, {"a": 1, "b": 1}, 0.5, id="spread evenly: half"),
        pytest.param({"a": 1}, {"a": 1, "b": 3}, 0.75, id="most is elsewhere"),
    ],
)
def test_what_crosses_nodes(source, target, share):
    assert crossing_share(Deployment.of({"x": source, "y": target}), "x", "y") == pytest.approx(share)


def test_executors_on_nodes_that_fail():
    placed = Deployment.of({"x": {"worker1": 1}, "y": {"worker5": 2, "worker2": 1}, "z": {"worker8": 1}})
    assert on_weak_nodes(placed, network(0)) == 3
    assert on_weak_nodes(placed, network(0, always_up=True)) == 0
    assert busiest_seed([(0, 2), (1, 5), (2, 5)]) == 1


def test_ages_of_rows():
    ages = Counter({100.0: 98, 1000.0: 2})
    assert (quantile(ages, 0.5), quantile(ages, 0.99)) == (100.0, 1000.0)
    assert mean_age(ages) == pytest.approx(118.0)
    assert (quantile(Counter(), 0.5), mean_age(Counter())) == (0.0, 0.0)


def test_state_is_relocated_if_its_key_groups_change_nodes():
    stage = Phases(20.0).stage(4)
    first = physical_plan(stage.application, stage.at_first, 8)
    halved = Deployment.of({name: {"w3": 2} if name == "Detector" else r for name, r in stage.at_first.items()})
    second = physical_plan(stage.application, halved, 8, first)
    grown = Deployment.of({name: {"w3": 4} if name == "Detector" else r for name, r in stage.at_first.items()})
    third = physical_plan(stage.application, grown, 8, second)
    entries = [Entry("change", 0.0, {"plan": plan.to_dict()}) for plan in (first, second, third)]
    assert relocations(entries, "Detector") == [Relocation("scale-in", 0.5), Relocation("scale-out", 0.0)]
