"""Contract of every node, in memory, on Spark or behind HTTP: it runs instances and keeps their checkpoints."""

import time

import pytest

from rheostat.errors import NodeUnreachable
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.memory_node import name_of

PATIENCE_SECONDS = 90.0


def await_true(reached):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := reached()):
        assert time.monotonic() < deadline, "out of patience"
        time.sleep(0.05)
    return found


def status_of(node, spec):
    (found,) = [status for status in node.statuses() if status.name == spec.name]
    return found


def stopped_after_a_batch(node, spec):
    """The instance has run, has ended between two batches, and its checkpoint is whole."""
    node.start(spec)
    await_true(lambda: status_of(node, spec).committed >= 0)
    node.stop(spec.name, gently=True)
    node.checkpoints.take(spec)
    return name_of(spec.checkpoint)


def place_beside(spec, number):
    """Path of another checkpoint of the same instance."""
    return spec.checkpoint.rpartition("/")[0] + f"/{number}"


class NodeContract:
    """Give a fixture `node`; `spec`: an instance with a source that ends; `reading`: one that reads a channel.

    Also `rows_out`, which says whether all of `spec` has come out, and `kill`, which ends the node abruptly.
    """

    def test_an_instance_runs_to_its_end_and_tells_its_batches_in_order(self, node, spec, rows_out):
        node.start(spec)
        node.start(spec)
        assert [status.name for status in node.statuses()] == [spec.name], "starting it again does nothing"
        await_true(rows_out)
        batches = [batch.number for batch in node.progress(spec.name)]
        assert batches
        assert batches == sorted(set(batches))
        assert [batch.number for batch in node.progress(spec.name, batches[-1] - 1)] >= [batches[-1]]
        assert status_of(node, spec).state == "running"

    def test_stopped_it_is_forgotten_and_started_again_it_goes_on(self, node, spec, rows_out):
        stopped_after_a_batch(node, spec)
        node.stop(spec.name)
        assert list(node.statuses()) == []
        node.checkpoints.take(spec)
        before = node.checkpoints.offsets(name_of(spec.checkpoint))
        assert before is not None
        node.start(spec)
        assert status_of(node, spec).committed >= 0
        assert await_true(rows_out)

    def test_a_held_instance_rests_and_a_released_one_does_not(self, node, reading):
        node.hold(reading.name, HoldOrder(hold=True))
        node.start(reading)
        await_true(lambda: status_of(node, reading).resting)
        node.hold(reading.name, HoldOrder(hold=True))
        await_true(lambda: status_of(node, reading).resting)
        node.hold(reading.name, HoldOrder())
        assert not status_of(node, reading).resting
        assert status_of(node, reading).state == "running"

    def test_an_order_outlives_the_instance_it_was_given_to(self, node, reading):
        node.hold(reading.name, HoldOrder(hold=True))
        for _ in range(2):
            node.start(reading)
            await_true(lambda: status_of(node, reading).resting)
            node.stop(reading.name)
        node.hold(reading.name, HoldOrder())

    def test_what_is_not_there_has_stopped_and_has_nothing_to_tell(self, node):
        node.stop("missing@n1")
        assert list(node.progress("missing@n1")) == []
        assert list(node.statuses()) == []
        node.quiesce()

    def test_it_tells_what_it_uses(self, node):
        first, second = node.usage(), node.usage()
        assert second.cpu_seconds >= first.cpu_seconds > 0
        assert 0 < first.memory_bytes < first.memory_limit_bytes
        took_ms = node.round_trip_ms()
        assert took_ms is None or took_ms > 0

    def test_killed_it_does_not_answer(self, node, spec, kill):
        node.start(spec)
        kill()
        asked = (
            node.statuses,
            node.usage,
            lambda: node.progress(spec.name),
            lambda: node.hold(spec.name, HoldOrder(hold=True)),
            node.checkpoints.names,
        )
        for ask in asked:
            with pytest.raises(NodeUnreachable):
                ask()


class CheckpointsContract:
    """Every node keeps the checkpoints of its instances: the same fixtures as for `NodeContract`."""

    def test_a_checkpoint_that_was_taken_is_listed_and_says_how_far_its_sources_were_read(self, node, spec):
        assert name_of(spec.checkpoint) not in node.checkpoints.names()
        assert node.checkpoints.offsets(name_of(spec.checkpoint)) is None
        assert node.checkpoints.state_kind(name_of(spec.checkpoint)) is None
        name = stopped_after_a_batch(node, spec)
        assert name in node.checkpoints.names()
        assert name.operator == spec.name.partition("@")[0]
        assert len(node.checkpoints.offsets(name)) == 1
        assert node.checkpoints.state_kind(name) == "aggregation"

    @pytest.mark.parametrize("way", ["copy", "offsets"])
    def test_a_checkpoint_can_be_placed_under_another_name(self, node, spec, way):
        name = stopped_after_a_batch(node, spec)
        job = StateJob(way, place_beside(spec, 77), ((spec.checkpoint, "0"),), "0", 1, (), 1)
        node.checkpoints.place_ahead(job)
        node.checkpoints.build(job)
        built = name_of(job.target)
        assert node.checkpoints.offsets(built) == node.checkpoints.offsets(name)
        assert {name, built} <= set(node.checkpoints.names())

    def test_a_checkpoint_that_was_removed_is_gone_and_can_be_removed_again(self, node, spec):
        name = stopped_after_a_batch(node, spec)
        for _ in range(2):
            node.checkpoints.remove([name])
            assert name not in node.checkpoints.names()
        assert node.checkpoints.offsets(name) is None
