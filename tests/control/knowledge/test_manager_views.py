"""Views of the managers."""

from dataclasses import replace

import numpy as np
import pytest
from tests.control.still_world import APPLICATION, StillWorld, nodes

from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.observation import Sample, Subject


def state_on(world, **settings):
    state = ApplicationState(world.application, Averages(world), **settings)
    state.refresh(world.clock.now_seconds())
    return state


def line(count=5, resources=2.0):
    """Nodes along a line, 10 ms apart."""
    delays = 10.0 * abs(np.subtract.outer(np.arange(count), np.arange(count)))
    members = tuple(Node(f"n{i}", resources) for i in range(count))
    return Infrastructure("line", members, delays_ms=DelayMatrix.of(delays))


def test_an_operator_is_seen_with_its_bounds_and_every_replica():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 2, "n2": 1}, "count": {"n2": 1}})
    view = state_on(StillWorld(deployed, work={"split": 0.9})).operator_view("split")
    assert (view.replicas, view.min_replicas, view.max_replicas) == (3, 1, 4)
    assert view.utilizations == pytest.approx((0.3, 0.3, 0.3))
    assert view.input_rate_tps == 100


def test_what_nobody_measured_is_not_known():
    view = state_on(StillWorld(work={})).operator_view("count")
    assert view.utilizations == ()
    assert view.input_rate_tps is view.latency_ms is view.true_rate_tps is None


def test_room_is_what_other_operators_leave():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 2}, "count": {"n2": 1}})
    views = state_on(StillWorld(deployed, line(4))).node_views("split")
    assert [(view.name, view.delay_ms, view.room, view.held) for view in views] == [
        ("n1", 0, 0, 2),
        ("n0", 10, 1, 0),
        ("n2", 10, 1, 0),
        ("n3", 20, 2, 0),
    ]


def test_what_takes_half_of_a_slot_fits_twice():
    operators = tuple(replace(each, resources=0.5) for each in APPLICATION.operators)
    world = StillWorld(at=line(3), application=replace(APPLICATION, operators=operators))
    assert [view.room for view in state_on(world).node_views("split")] == [3, 3, 3]


def test_only_so_many_neighbours_are_known():
    views = state_on(StillWorld(at=line()), neighbours=2).node_views("split")
    assert [view.name for view in views] == ["n1", "n0"]


def test_in_a_region_all_of_its_nodes_are_known_and_no_others():
    members = tuple(Node(f"n{i}", 2.0, region="rome" if i < 3 else "milan") for i in range(5))
    world = StillWorld(at=Infrastructure("two", members))
    assert [view.name for view in state_on(world, by_region=True).node_views("split")] == ["n0", "n1", "n2"]


def test_hidden_nodes_and_those_of_others_are_not_there():
    state = state_on(StillWorld())
    state.hidden.add("n3")
    assert "n3" not in {view.name for view in state.node_views("split")}
    state.shown = frozenset({"n1", "n3", "n4"})
    assert {view.name for view in state.node_views("split")} == {"n1", "n4"}


def test_a_pinned_operator_has_one_node_only():
    assert [view.name for view in state_on(StillWorld()).node_views("source")] == ["n0"]


def test_from_a_lost_node_others_are_still_seen():
    world = StillWorld()
    world.lose("n1")
    assert {view.name for view in state_on(world).node_views("split")} == {"n0", "n2", "n3", "n4"}


def test_an_application_is_seen_along_its_flow_with_its_selectivities():
    view = state_on(StillWorld()).application_view()
    assert [each.operator for each in view.operators] == ["source", "split", "count"]
    assert view.selectivities == (("source", "split", 1.0), ("split", "count", 2.0))
    assert view.response_ms == 150


def test_measured_streams_tell_the_selectivity():
    world = StillWorld()
    state = ApplicationState(world.application, Averages(Streams(world)))
    state.refresh(0.0)
    assert state.application_view().selectivities == (("source", "split", 0.5), ("split", "count", 2.0))


class Streams:
    """The same world, which also measures a stream, and what the source emits instead of what it receives."""

    def __init__(self, world):
        self.world = world

    def samples(self):
        kept = [sample for sample in self.world.samples() if sample.subject != Subject.operator("source")]
        source = Sample(Subject.operator("source"), 0.0, {"output_rate": 80.0})
        return [*kept, source, Sample(Subject.stream("source", "split"), 0.0, {"output_rate": 40.0})]

    def deployment(self):
        return self.world.deployment()

    def infrastructure(self):
        return self.world.infrastructure()


def test_what_a_source_emits_stands_for_what_it_receives_and_for_nobody_else():
    world = StillWorld(work={"split": 0.5})
    state = ApplicationState(world.application, Averages(Streams(world)))
    state.refresh(0.0)
    assert state.operator_view("source").input_rate_tps == 80.0
    assert state.operator_view("count").input_rate_tps is None


def test_an_operator_looks_from_where_most_of_it_runs():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 1, "n4": 2}, "count": {"n2": 1}})
    views = state_on(StillWorld(deployed, line(5, 4.0))).node_views("split")
    assert views[0].name == "n4"


def test_a_node_is_seen_with_what_could_move_and_who_is_near():
    state = state_on(StillWorld(at=line(), cpu={"n0": 0.9}))
    view = state.host_view("n0")
    assert view.utilization == pytest.approx(0.9)
    assert view.hosted == ()
    assert [near.name for near in view.neighbours] == ["n1", "n2", "n3", "n4"]
    assert state.host_view("n1").hosted == (("split", 1),)


def test_replicas_are_seen_with_their_node():
    deployed = Deployment.of({"source": {"n0": 1}, "split": {"n1": 2}, "count": {"n2": 1}})
    views = state_on(StillWorld(deployed, cpu={"n1": 0.7})).replica_views("split")
    assert [(view.node, view.utilization, view.node_utilization) for view in views] == [("n1", 0.25, 0.7)] * 2


def test_settling_is_for_all_or_for_some():
    state = state_on(StillWorld())
    state.settle(20, ["split"])
    assert [state.unsettled_seconds(name, 5) for name in ("split", "count")] == [15, 0]
    state.settle(12, ["split"])
    state.settle(10)
    assert [state.unsettled_seconds(name, 5) for name in ("split", "count")] == [15, 5]


def test_nothing_is_computed_twice_while_nothing_changes():
    world = StillWorld()
    state = state_on(world)
    assert state.snapshot() is state.snapshot()
    before = state.snapshot()
    world.at = nodes(3)
    assert state.snapshot() is not before
    assert APPLICATION is state.snapshot().application
