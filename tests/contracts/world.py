"""Contract of every world, simulated or on Spark: samples, changes, and the supply of nodes."""

import pytest

from rheostat.control.loop.ports import Done, Refused
from rheostat.model.graph.deployment import Replicas
from rheostat.model.graph.reconfiguration import Change, Reconfiguration
from rheostat.model.observation import Of


def scaled(world, operator):
    """One replica more of an operator, on the node where its first one is."""
    current = world.deployment()
    node = next(iter(current[operator]))
    return Reconfiguration.between(current, current.having(operator, current[operator].plus(node)))


class ProbeContract:
    """Give a fixture `world` (probe and clock) that runs an application, and `patience_seconds` to measure it in."""

    def test_every_sample_is_handed_out_once(self, world, patience_seconds):
        world.wait_until(world.now_seconds() + patience_seconds)
        looked = world.now_seconds()
        first, again = world.samples(), world.samples()
        assert first
        # Looking takes real time in a real world: if it took that long, there is something new to be told.
        assert not again or world.now_seconds() - looked >= patience_seconds
        assert {(s.subject, s.at_seconds) for s in first}.isdisjoint((s.subject, s.at_seconds) for s in again)

    def test_nothing_is_measured_in_the_future_or_out_of_order(self, world, patience_seconds):
        began = world.now_seconds()
        world.wait_until(began + 2 * patience_seconds)
        moments = [sample.at_seconds for sample in world.samples()]
        assert moments == sorted(moments)
        assert all(began <= moment <= world.now_seconds() for moment in moments)

    def test_every_operator_that_runs_and_every_node_that_is_up_is_measured(self, world, patience_seconds):
        world.wait_until(world.now_seconds() + patience_seconds)
        subjects = {sample.subject for sample in world.samples()}
        assert {s.names[0] for s in subjects if s.of is Of.OPERATOR} == set(world.deployment())
        assert {s.names[0] for s in subjects if s.of is Of.NODE} == set(world.infrastructure().index)

    def test_what_runs_runs_on_nodes_that_are_up(self, world):
        assert set(world.deployment().nodes()) <= set(world.infrastructure().index)


class ActuatorContract:
    """Give a fixture `world` (probe, actuator, clock) and `operator`: one that can have one replica more, not 1000."""

    def test_an_empty_change_is_done_at_once(self, world):
        before = world.deployment()
        assert world.apply(Reconfiguration()) == Done(0.0)
        assert world.deployment() == before

    def test_a_change_that_is_done_has_taken_place_and_its_downtime_has_passed(self, world, operator):
        change, began = scaled(world, operator), world.now_seconds()
        wanted = change.apply(world.deployment())
        effect = world.apply(change)
        assert isinstance(effect, Done)
        assert world.deployment() == wanted
        assert 0 <= effect.downtime_seconds <= world.now_seconds() - began + 1e-6

    def test_a_change_can_be_taken_back(self, world, operator):
        before = world.deployment()
        world.apply(scaled(world, operator))
        effect = world.apply(Reconfiguration.between(world.deployment(), before))
        assert isinstance(effect, Done)
        assert world.deployment() == before

    def test_a_change_that_starts_from_something_else_is_refused_and_nothing_changes(self, world, operator):
        stale = scaled(world, operator)
        world.apply(stale)
        after = world.deployment()
        self._is_refused(world, stale)
        assert world.deployment() == after

    def test_a_node_that_is_not_there_is_refused_and_nothing_changes(self, world, operator):
        before = world.deployment()
        self._is_refused(world, Reconfiguration((Change(operator, before[operator], Replicas.on("nowhere")),)))
        assert world.deployment() == before

    def test_more_than_fits_is_refused_and_nothing_changes(self, world, operator):
        before = world.deployment()
        node = next(iter(before[operator]))
        self._is_refused(world, Reconfiguration((Change(operator, before[operator], Replicas.of({node: 1000})),)))
        assert world.deployment() == before

    @staticmethod
    def _is_refused(world, change):
        effect = world.apply(change)
        assert isinstance(effect, Refused)
        assert effect.reasons
        assert all(effect.reasons)


class NodeProviderContract:
    """Give a fixture `world` (probe, provider, clock), and `start_seconds`: when a node is up for sure."""

    def test_a_node_has_its_name_at_once_and_is_up_later(self, world, start_seconds):
        kind = world.kinds()[0]
        name = world.start(kind.name, "a-region")
        world.wait_until(world.now_seconds() + start_seconds)
        infrastructure = world.infrastructure()
        node = infrastructure.nodes[infrastructure.index[name]]
        assert world.failure(name) is None
        assert (node.region, node.capacity, node.price_per_hour) == ("a-region", kind.capacity, kind.price_per_hour)

    def test_every_node_has_a_name_of_its_own(self, world):
        kind = world.kinds()[0].name
        names = {world.start(kind, "a-region") for _ in range(3)}
        assert len(names) == 3
        assert not names & set(world.deployment().nodes())

    def test_a_node_that_is_released_is_gone_and_releasing_it_again_does_nothing(self, world, start_seconds):
        name = world.start(world.kinds()[0].name, "a-region")
        world.wait_until(world.now_seconds() + start_seconds)
        world.stop(name)
        world.stop(name)
        assert name not in world.infrastructure().index

    def test_a_node_that_never_was_is_released_already(self, world):
        before = set(world.infrastructure().index)
        world.stop("nowhere")
        assert set(world.infrastructure().index) == before

    def test_a_node_that_holds_replicas_is_not_released(self, world):
        node = world.deployment().nodes()[0]
        with pytest.raises(ValueError, match="not empty"):
            world.stop(node)
        assert node in world.infrastructure().index

    def test_a_kind_nobody_has_is_refused(self, world):
        with pytest.raises(ValueError, match="nonsense"):
            world.start("nonsense", "a-region")
