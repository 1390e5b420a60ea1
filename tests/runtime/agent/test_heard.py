"""Requests that keep an agent alive: those of a controller; not those of managers on other nodes, which never stop."""

import socket
import threading
from contextlib import closing, contextmanager

import pytest
import uvicorn

from rheostat.runtime.agent.__main__ import ControllerWatch
from rheostat.runtime.agent.agent_api import agent_app
from rheostat.runtime.agent.host_managers import Peers
from rheostat.runtime.nodes.agent_address import write_agent_address
from rheostat.runtime.nodes.memory_node import MemoryNode
from rheostat.runtime.nodes.remote_node import RemoteNode

TOKEN = "a-token-of-more-than-sixteen-characters"  # noqa: S105 - nobody else uses it


@contextmanager
def served(app):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.fixture
def agent(tmp_path):
    """The agent of n2, which nobody has asked anything for an hour: when it was heard of, and its port."""
    heard = ControllerWatch(agent_app(MemoryNode("n2"), TOKEN, tmp_path, lambda _: {}))
    with served(heard) as port:
        write_agent_address(tmp_path, "n2", port, TOKEN, up=True)
        with closing(RemoteNode("n2", port, TOKEN)) as node:
            node.heartbeat()
        heard.at_seconds = long_ago = heard.at_seconds - 3600
        yield heard, port, long_ago


def test_a_controller_is_heard(agent):
    heard, port, long_ago = agent
    with closing(RemoteNode("n2", port, TOKEN)) as node:
        assert node.statuses() == []
    assert heard.at_seconds > long_ago + 3000


def test_another_node_is_answered_and_does_not_count(agent, tmp_path):
    heard, _, long_ago = agent
    with closing(Peers(MemoryNode("n1"), tmp_path).among(["n1", "n2"])["n2"]) as peer:
        assert peer.statuses() == []
        assert peer.round_trip_ms() > 0
    assert heard.at_seconds == long_ago
