"""Contract of every node, in this process or behind HTTP: it runs instances, reports on them, and can be killed."""

import time
from pathlib import Path

import pytest

from rheostat.errors import NodeUnreachable

PATIENCE_SECONDS = 90.0


def await_true(reached):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := reached()):
        assert time.monotonic() < deadline, "out of patience"
        time.sleep(0.1)
    return found


def status_of(node, spec):
    (found,) = [status for status in node.statuses() if status.name == spec.name]
    return found


class NodeContract:
    """Give a fixture `node`; `spec`: an instance with a source that ends; `broken`: one whose operator raises."""

    def test_an_instance_runs_to_its_end_and_tells_its_batches_in_order(self, node, spec, rows_out):
        node.start(spec)
        node.start(spec)
        assert [status.name for status in node.statuses()] == [spec.name], "starting it again does nothing"
        await_true(rows_out)
        reports = node.progress(spec.name)
        batches = [report["batchId"] for report in reports]
        assert batches
        assert batches == sorted(set(batches))
        assert [report["batchId"] for report in node.progress(spec.name, batches[-1] - 1)] >= [batches[-1]]
        assert status_of(node, spec).state == "running"

    def test_stopped_it_is_forgotten_and_started_again_it_goes_on(self, node, spec, rows_out):
        node.start(spec)
        await_true(lambda: status_of(node, spec).committed >= 0)
        node.stop(spec.name, gently=True)
        node.stop(spec.name)
        assert list(node.statuses()) == []
        node.settle(spec)
        node.start(spec)
        assert await_true(rows_out)

    def test_killed_while_it_planned_its_first_batch_it_can_begin_again(self, node, spec, rows_out):
        """Found by killing: Spark refuses to begin where half a file lies, and the instance was started for ever."""
        torn = Path(spec.checkpoint) / "offsets" / ".0.ec0f3b1d.tmp"
        torn.parent.mkdir(parents=True)
        torn.write_text("v1")
        node.start(spec)
        assert await_true(rows_out)

    def test_what_is_not_there_has_stopped_and_has_nothing_to_tell(self, node):
        node.stop("nobody")
        assert list(node.progress("nobody")) == []
        assert list(node.statuses()) == []
        node.quiesce()

    def test_it_tells_what_it_uses(self, node):
        first, second = node.usage(), node.usage()
        assert second.cpu_seconds >= first.cpu_seconds > 0
        assert 0 < first.memory_bytes < first.memory_limit_bytes
        took_ms = node.round_trip_ms()
        assert took_ms is None or took_ms > 0

    def test_an_error_of_the_user_names_operator_node_and_line(self, node, broken):
        node.start(broken)
        failed = await_true(lambda: status_of(node, broken) if status_of(node, broken).state == "failed" else None)
        assert failed.by_user
        assert "operator half on node n1" in failed.error
        assert "broken_operators.py" in failed.error

    def test_killed_nobody_answers(self, node, spec, kill):
        node.start(spec)
        kill()
        for ask in (node.statuses, node.usage, lambda: node.progress(spec.name)):
            with pytest.raises(NodeUnreachable):
                ask()
