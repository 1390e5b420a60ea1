"""Planners take delays and availability as they were measured; what was not measured stays as declared."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.control.still_world import StillWorld

from rheostat.control.history.replay_decisions import Replay
from rheostat.control.knowledge.measured_network import MeasuredNetwork
from rheostat.control.managers.planned_manager import PLAN
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning, World, build
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.observation import Sample, Subject
from rheostat.model.quality.objective import OdpObjective
from rheostat.planning.solvers.exhaustive import Exhaustive

THREE = Infrastructure(
    "three",
    tuple(Node(name, 4.0, availability=0.9) for name in ("n0", "n1", "n2")),
    delays_ms=DelayMatrix.of(np.full((3, 3), 10.0)),
)


def test_what_was_measured_replaces_what_was_declared():
    network = MeasuredNetwork({("n0", "n1"): 2.0, ("n1", "n0"): 3.0, ("n0", "gone"): 1.0})
    known = network.applied_to(THREE).network.delay_ms
    assert (known[0, 1], known[1, 0], known[0, 2]) == (2.0, 3.0, 10.0)


def test_a_hundred_heartbeats_count_a_tenth():
    found = MeasuredNetwork(availability={"n1": 0.5}).applied_to(THREE)
    assert [node.availability for node in found.nodes] == pytest.approx([0.9, 0.86, 0.9])


def test_nothing_measured_changes_nothing():
    assert MeasuredNetwork().applied_to(THREE) is THREE


def test_delays_of_paths_over_links_stay():
    links = (Link("n0", "n1", LinkQuality(7.0)), Link("n1", "n2", LinkQuality(7.0)))
    linked = replace(THREE, links=links, delays_ms=None)
    found = MeasuredNetwork({("n0", "n1"): 2.0}, {"n0": 1.0}).applied_to(linked)
    assert found.links == links
    assert found.nodes[0].availability == pytest.approx(0.91)


class FarAway(StillWorld):
    """Heartbeats say that n1, where split runs, is far from everybody."""

    def samples(self):
        now = self.clock.now_seconds()
        links = [
            Sample(Subject.link(u, v), now, {"delay_ms": 500.0 if "n1" in (u, v) else 1.0})
            for u in self.at.index
            for v in self.at.index
            if u != v
        ]
        return [*super().samples(), *links]


def test_a_planner_leaves_a_node_that_was_measured_to_be_far_away_and_its_plan_can_be_made_again():
    world = FarAway(at=THREE, rate_tps=10.0)
    planning = Planning(Exhaustive(), OdpObjective(response_time=1.0))
    settings = ControlSettings("s-odp", settle_seconds=0.0)
    parts = World(world.application, world, world, world.clock, world.journal)
    control = build(settings, parts, planning)
    before = world.deployed
    control.loops[0].step(0.0)
    assert world.changes, "500 ms are worth a move"
    assert "n1" not in world.deployed.nodes()
    (plan,) = world.entries(PLAN)
    network = MeasuredNetwork.from_plain(json.loads(json.dumps(plan["network"])))
    assert network.delays_ms["n0", "n1"] == 500.0
    world.deployed = before
    assert list(Replay.of(build(settings, parts, planning)).differences(world.journal)) == []
