"""Operators that run in one query share its time: none is scaled in only to be scaled out again."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.control.still_world import StillWorld, nodes

from rheostat.control.history.replay_decisions import Replay
from rheostat.control.loop.loop_schedule import run
from rheostat.control.managers.fusion_guard import FusionGuard
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import build
from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.graph.fragments import fragments
from rheostat.model.graph.reconfiguration import Change
from rheostat.model.observation import Sample, Subject
from rheostat.policies.contract.requests import Request

CHAIN = ("parse", "judge", "tag")
APPLICATION = Application(
    "chain",
    (
        Operator("source", Kind.SOURCE, rate_tps=100, pin="n0"),
        *(Operator(name, max_replicas=4) for name in CHAIN),
    ),
    tuple(Stream(one, next_) for one, next_ in zip(("source", *CHAIN), CHAIN, strict=False)),
)
TOGETHER = Deployment.single({"source": "n0", **dict.fromkeys(CHAIN, "n1")})


@dataclass
class FusingWorld(StillWorld):
    """Operators with the same deployment are one query, measured as the runtime does it."""

    application: Application = APPLICATION
    deployed: Deployment = TOGETHER
    at: object = field(default_factory=lambda: nodes(5, resources=8.0))

    def samples(self):
        now, found = self.clock.now_seconds(), []
        for query in fragments(self.application, self.deployed):
            parts = {name: self.work[name] / len(query.replicas) for name in query.operators if name in self.work}
            for name, part in parts.items():
                busy = sum(parts.values()) if part == max(parts.values()) else part
                figures = {"utilization": busy, "own_utilization": part, "input_rate": 100.0}
                found.append(Sample(Subject.operator(name), now, figures))
        return found


def watched(world, *, fuses=True, until=1200.0, **settings):
    chosen = ControlSettings("edf", period_seconds=10.0, averaging_seconds=10.0, settle_seconds=5.0, **settings)
    parts = world.world()
    control = build(chosen, replace(parts, fuses=fuses))
    run(control.loops, world.clock, until)
    world.replay = Replay.of(control)
    return world


HOME = "stay-together"
"""New replicas come to the node where the others are: with one less, all would be one query again."""


def busy_together():
    return FusingWorld(work={"parse": 0.30, "judge": 0.35, "tag": 0.20})


def test_the_operator_that_makes_a_query_busy_is_scaled_out_of_it_and_stays_there():
    world = watched(busy_together(), placement=HOME)
    assert {name: len(world.deployed[name]) for name in CHAIN} == {"parse": 1, "judge": 2, "tag": 1}
    assert len(world.changes) == 1
    reasons = {refusal["reason"] for entry in world.entries("decision") for refusal in entry["refusals"]}
    assert reasons == {"in one query with parse and tag it would be 85% busy, more than 70%"}


def test_its_journal_can_be_repeated():
    world = watched(busy_together(), placement=HOME)
    assert any(entry["refusals"] for entry in world.entries("decision"))
    assert list(world.replay.differences(world.journal)) == []


def test_without_this_it_would_come_and_go():
    assert len(watched(busy_together(), placement=HOME, fuses=False).changes) > 20


LOADS = st.floats(0.0, 1.6).map(lambda load: round(load, 2))


ANYWHERE = st.sampled_from(["nearer-is-likelier", "least-used", HOME])


@given(st.tuples(LOADS, LOADS, LOADS), ANYWHERE, st.integers(0, 99))
def test_a_load_that_stays_the_same_is_settled_for_good(loads, placement, seed):
    world = watched(FusingWorld(work=dict(zip(CHAIN, loads, strict=True))), placement=placement, seed=seed)
    settled = len(world.changes)
    assert settled <= 9
    watched(world, until=world.clock.now_seconds() + 600.0, placement=placement, seed=seed)
    assert len(world.changes) == settled


@given(st.tuples(LOADS, LOADS, LOADS), ANYWHERE, st.integers(0, 99))
def test_what_fell_is_given_back(loads, placement, seed):
    """Too careful it is not: with next to nothing to do everybody has one replica again."""
    world = watched(FusingWorld(work=dict(zip(CHAIN, loads, strict=True))), placement=placement, seed=seed)
    world.work = dict.fromkeys(CHAIN, 0.02)
    watched(world, until=world.clock.now_seconds() + 1200.0, placement=placement, seed=seed)
    assert {name: len(world.deployed[name]) for name in CHAIN} == dict.fromkeys(CHAIN, 1)


def scale_in(operator, before, after):
    return Request(Change(operator, Replicas.on(*before), Replicas.on(*after)), 0.5, f"operator manager of {operator}")


def checked(requests, placed, busy):
    replicas = dict(Deployment.of({name: Replicas.on(*where) for name, where in placed.items()}).items())
    kept, refused = FusionGuard(APPLICATION, busy.get).checked(requests, replicas)
    return [one.change.operator for one in kept], [one.request.change.operator for one in refused]


def test_of_two_that_would_come_together_the_second_is_refused():
    """Each of them alone would be fine."""
    placed = {"source": ["n0"], "parse": ["n1", "n2"], "judge": ["n1", "n3"], "tag": ["n4"]}
    both = [scale_in("parse", ["n1", "n2"], ["n1"]), scale_in("judge", ["n1", "n3"], ["n1"])]
    assert checked(both, placed, {"parse": 0.4, "judge": 0.4}) == (["parse"], ["judge"])
    assert checked(both, placed, {"parse": 0.3, "judge": 0.3}) == (["parse", "judge"], [])


def test_what_is_not_known_speaks_against_nothing():
    placed = {"source": ["n0"], "parse": ["n1", "n2"], "judge": ["n1"], "tag": ["n4"]}
    assert checked([scale_in("parse", ["n1", "n2"], ["n1"])], placed, {}) == (["parse"], [])


def test_company_it_had_before_is_no_reason():
    """A query that is scaled in as a whole is for its policy to judge."""
    placed = {"source": ["n0"], "parse": ["n1", "n2"], "judge": ["n1", "n2"], "tag": ["n4"]}
    one = scale_in("parse", ["n1", "n2"], ["n3"])
    assert checked([one], placed, {"parse": 2.0, "judge": 0.1}) == (["parse"], [])


def test_how_busy_it_may_become_can_be_set():
    with pytest.raises(InvalidModel, match="most_together"):
        ControlSettings("edf", most_together=0.0).check(APPLICATION)
    world = watched(busy_together(), placement=HOME, most_together=0.9, until=300.0)
    assert len(world.changes) > 2, "85% is no reason then"
