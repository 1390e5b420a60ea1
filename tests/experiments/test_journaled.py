"""Findings of the Spark experiments in a journal: open decisions, and nodes released too early."""

from random import Random

import pytest
from experiments.spark.journaled import decided, renting
from experiments.spark.kills import longest_silence, schedule, waves
from experiments.spark.stage import counted_differences
from experiments.spark.victims import CONTROLLER
from experiments.spark.workload import AT_FIRST, Load, Phase

from rheostat.control.loop.ports import NODE_JOINED, NODE_LEFT, Done, Entry, Refused, RolledBack
from rheostat.control.managers.decisions import DECISION, EFFECT, Decision, effect_facts
from rheostat.control.managers.region_manager import NODES
from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change
from rheostat.policies.contract.requests import Request
from rheostat.policies.grants.grants import GrantSituation
from rheostat.runtime.plan.physical_plan import physical_plan

OUT = Change("split", Replicas.on("n2"), Replicas.on("n2", "n2"))


def decision(*changes):
    requests = tuple(Request(change, 1.0, "somebody", "busy") for change in changes)
    seen = GrantSituation(0.0, 100.0, 4)
    return Entry(DECISION, 0.0, Decision("manager", seen, requests, requests).facts())


def effect(outcome):
    change = Decision.from_facts(decision(OUT).facts).change
    return Entry(EFFECT, 1.0, effect_facts("manager", change, outcome, {}))


@pytest.mark.parametrize(
    ("entries", "outcomes", "unfinished"),
    [
        pytest.param([decision()], (0, 0, 0), 0, id="a decision to hold needs no effect"),
        pytest.param([decision(OUT), effect(Done(1.0))], (1, 0, 0), 0, id="done"),
        pytest.param([decision(OUT), effect(RolledBack("x")), decision()], (0, 1, 0), 0, id="undone"),
        pytest.param([decision(OUT), effect(Refused(("x",)))], (0, 0, 1), 0, id="refused"),
        pytest.param([decision(OUT)], (0, 0, 0), 1, id="open at the end"),
        pytest.param([decision(OUT), decision(), effect(Done(1.0))], (1, 0, 0), 1, id="open, and another's effect"),
    ],
)
def test_every_decision_to_change_something_needs_its_effect(entries, outcomes, unfinished):
    found = decided(entries)
    assert (tuple(found.outcomes.values()), found.unfinished) == (outcomes, unfinished)
    assert found.made == sum(entry.kind == DECISION for entry in entries)


def asked(**facts):
    return Entry(NODES, 2.0, {"by": "region manager", "started": [], "stopped": [], "reason": "room", **facts})


@pytest.mark.parametrize(
    ("entries", "outcomes", "unfinished"),
    [
        pytest.param([asked(started=["n4"])], (0, 0, 0), 1, id="on its way"),
        pytest.param([asked(started=["n4"]), Entry(NODE_JOINED, 3.0, {"name": "n4"})], (1, 0, 0), 0, id="it came"),
        pytest.param([asked(started=["n4"]), asked(given_up=["n4"])], (0, 1, 0), 0, id="it was given up"),
        pytest.param([asked(stopped=["n4"])], (1, 0, 0), 0, id="let go"),
    ],
)
def test_decisions_about_nodes_need_an_end_as_well(entries, outcomes, unfinished):
    found = decided(entries)
    assert (found.made, tuple(found.outcomes.values()), found.unfinished) == (1, outcomes, unfinished)


def launched(at_seconds=100.0):
    plan = physical_plan(Load().application(), AT_FIRST, 4)
    return Entry("launch", at_seconds, {"plan": plan.to_dict()})


def test_node_minutes_are_those_of_all_nodes_while_they_were_up():
    entries = [
        launched(),
        Entry(NODE_JOINED, 160.0, {"name": "n4"}),
        Entry(NODE_LEFT, 220.0, {"name": "n4"}),
    ]
    found = renting(["n1", "n2", "n3"], entries, 100.0, 280.0)
    assert found.node_minutes == pytest.approx(3 * 3 + 1)
    assert (found.started, found.stopped, found.most, found.released_with_replicas) == (1, 1, 4, ())


def test_a_node_that_is_let_go_with_a_replica_on_it_is_told():
    found = renting(["n1", "n2", "n3"], [launched(), Entry(NODE_LEFT, 160.0, {"name": "n2"})], 100.0, 220.0)
    assert found.released_with_replicas == ("n2",)
    assert found.node_minutes == pytest.approx(2 * 2 + 1)


def test_deaths_are_as_many_as_wanted_in_order_and_repeatable():
    deaths = schedule(Random(1), 600.0, 5, 7, ["n1", "n2"])
    assert sum(death.who == CONTROLLER for death in deaths) == 5
    assert len(deaths) == 12
    assert [death.at_seconds for death in deaths] == sorted(death.at_seconds for death in deaths)
    assert deaths == schedule(Random(1), 600.0, 5, 7, ["n1", "n2"])


def test_a_load_brings_what_its_curve_says():
    assert waves(120.0).total == 60 * 20 + 60 * 60
    assert Load((Phase(0, 10, 20), Phase(20, 10))).total == 100 + 200


def test_words_that_are_missing_and_too_many_do_not_cancel_out():
    assert counted_differences({"a": 3}, {"a": 1, "b": 2}) == (2, 2)


@pytest.mark.parametrize(
    ("came", "at", "silence"),
    [
        pytest.param([1.0, 2.0, 9.0, 10.0, 60.0], 8.0, 50.0, id="it begins soon after"),
        pytest.param([1.0, 2.0, 9.0, 10.0, 11.0], 3.0, 7.0, id="it was just going on"),
        pytest.param([1.0, 2.0, 40.0, 41.0, 99.0], 3.0, 38.0, id="what begins much later has other reasons"),
        pytest.param([1.0, 2.0], 3.0, 0.0, id="everything was out before"),
    ],
)
def test_the_longest_silence_after_a_death(came, at, silence):
    assert longest_silence(came, at) == silence
