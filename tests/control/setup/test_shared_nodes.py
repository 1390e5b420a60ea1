"""Several applications under one control: turns, shared nodes, and names that are not their own."""

from dataclasses import replace

import pytest
from tests.control.still_world import APPLICATION, StillWorld, nodes

from rheostat.control.loop.clocks import VirtualClock
from rheostat.control.loop.loop_schedule import run
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.shared_nodes import build_together
from rheostat.errors import InvalidModel
from rheostat.model.graph.deployment import Deployment


def world(name, clock, **settings):
    return StillWorld(application=replace(APPLICATION, name=name), clock=clock, **settings)


def test_elastic_storm_changes_one_application_at_a_time_and_each_gets_its_turn():
    clock = VirtualClock()
    both = [world(name, clock, work={"source": 0.1, "split": 0.9, "count": 0.1}) for name in ("words", "taxis")]
    settings = ControlSettings("elastic-storm", options={"cooldown_invocations": 1}, settle_seconds=0.0)
    control = build_together(settings, [each.world() for each in both])
    assert control.loops == (control.elasticity,)
    run(control.loops, clock, 0.0)
    assert [len(each.changes) for each in both] == [1, 0]
    run(control.loops, clock, clock.now_seconds())
    assert [len(each.changes) for each in both] == [1, 1]


def test_local_managers_of_two_applications_may_have_the_same_name():
    clock = VirtualClock()
    both = [world(name, clock, work={"source": 0.1, "split": 0.9, "count": 0.1}) for name in ("words", "taxis")]
    control = build_together(ControlSettings("edf"), [each.world() for each in both])
    assert "operator manager of split (taxis)" in [loop.name for loop in control.loops]
    run(control.loops, clock, 0.0)
    assert [len(each.changes) for each in both] == [1, 1]


def test_the_nodes_of_a_region_are_kept_for_all_applications_together():
    clock = VirtualClock()
    words, taxis = (world(name, clock, at=nodes(4, 2.0)) for name in ("words", "taxis"))
    taxis.deployed = Deployment.single({"source": "n0", "split": "n1", "count": "n3"})
    settings = ControlSettings("e2df", "hold", free_capacity=5)
    control = build_together(settings, [each.world() for each in (words, taxis)])
    assert control.infrastructure.applications == [each.application for each in control.controls]
    (region,) = control.regions
    run(control.loops, clock, 0.0)
    # Eight slots, three and three are taken: three more are missing, and a small node has one.
    assert [node.assigned for node in region.view(0.0).nodes][:4] == [2, 2, 1, 1]
    assert len(words.coming) == 3
    assert taxis.coming == []


def test_a_node_is_released_only_if_every_application_has_left_it():
    clock = VirtualClock()
    words, taxis = (world(name, clock, at=nodes(6, 4.0), cpu={"n3": 0.05}) for name in ("words", "taxis"))
    taxis.deployed = Deployment.single({"source": "n0", "split": "n1", "count": "n3"})
    settings = ControlSettings("e2df", "hold", free_capacity=2, region_period_seconds=60.0)
    control = build_together(settings, [each.world() for each in (words, taxis)])
    run(control.loops, clock, 0.0)
    assert all(each.application.state.hidden == {"n3"} for each in control.controls)
    run(control.loops, clock, 600.0)
    assert "n3" not in taxis.deployed.nodes()


def test_applications_need_names_of_their_own_and_one_clock():
    clock = VirtualClock()
    with pytest.raises(InvalidModel, match="there are 2 applications 'words'"):
        build_together(ControlSettings(), [world("words", clock).world() for _ in range(2)])
    with pytest.raises(InvalidModel, match="they do not have the same clock"):
        build_together(ControlSettings(), [world(name, VirtualClock()).world() for name in ("words", "taxis")])
    with pytest.raises(InvalidModel, match="there is none"):
        build_together(ControlSettings(), [])
