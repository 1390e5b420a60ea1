"""A node that has nothing to do runs and changes a tiny application, and leaves nothing of it behind."""

import pytest
from tests.contracts.node import await_true

from rheostat.runtime.agent.warm_up import warmed_up
from rheostat.runtime.nodes.agent_process import AgentProcess
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def test_it_is_played_to_its_end_and_nothing_is_left(nodes_session, tmp_path):
    folder = tmp_path / "warm-up"
    assert warmed_up(nodes_session, folder)
    assert not folder.exists()
    assert not nodes_session.streams.active


def test_it_ends_as_soon_as_there_is_something_to_do(nodes_session, tmp_path):
    assert not warmed_up(nodes_session, tmp_path / "warm-up", lambda: True)
    assert not nodes_session.streams.active


def test_what_goes_wrong_is_told_and_does_no_harm(nodes_session, tmp_path, caplog):
    (tmp_path / "file").touch()
    assert not warmed_up(nodes_session, tmp_path / "file" / "warm-up")
    assert "which does no harm" in caplog.text


def test_an_agent_that_is_given_nothing_to_do_warms_up(tmp_path):
    agent = AgentProcess("n1", 2, tmp_path, SparkSettings())
    try:
        node = agent.start()
        log = tmp_path / "agents" / "n1" / "agent.log"
        await_true(lambda: "node n1 has warmed up" in log.read_text())
        assert list(node.statuses()) == []
    finally:
        agent.stop()
