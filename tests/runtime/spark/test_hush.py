"""A server of PySpark's says nothing when Spark hangs up, and everything else that goes wrong."""

import socket
from socketserver import BaseRequestHandler, TCPServer

import pytest

from rheostat.runtime.spark.fork_server import HUNG_UP
from rheostat.runtime.spark.session import ignore_hang_ups


@pytest.mark.parametrize(("failure", "told"), [*((kind, False) for kind in HUNG_UP), (ValueError, True)])
def test_hanging_up_is_no_failure(failure, told, capsys):
    class Failing(BaseRequestHandler):
        def handle(self):
            raise failure("in the middle of a batch")

    with TCPServer(("127.0.0.1", 0), Failing) as server:
        ignore_hang_ups(server)
        with socket.create_connection(server.server_address):
            server.handle_request()
    assert ("in the middle of a batch" in capsys.readouterr().err) is told
