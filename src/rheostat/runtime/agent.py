"""A node agent: a process that owns one Spark application and runs the instances of one node.

It tells its port in a file of the shared directory that only its owner may read, and serves whoever has the token,
which it was given in its environment. It ends when it is told to, or when whoever should not outlive it is gone.
"""

import argparse
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

import uvicorn

from rheostat.model.documents import read_application
from rheostat.runtime.agent_api import agent_app
from rheostat.runtime.node import SparkNode
from rheostat.runtime.schemas import Columns, discover
from rheostat.runtime.spark_session import create_session
from rheostat.runtime.spark_settings import SparkSettings

TOKEN_VARIABLE = "RHEOSTAT_TOKEN"  # noqa: S105 - the name of the variable, not a token


def address_file(root: Path, node: str) -> Path:
    """Where an agent tells how it is reached."""
    return root / "nodes" / node / "agent.json"


def main() -> None:
    """`python -m rheostat.runtime.agent --node n1 --slots 2 --root DIR [--master local[2]]`."""
    parser = argparse.ArgumentParser(prog="rheostat node")
    parser.add_argument("--node", required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--master", default="local")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    parser.add_argument("--while-alive", type=int, default=0, metavar="PID", help="ends when this process is gone")
    chosen = parser.parse_args()
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if len(token) < 16:
        sys.exit(f"{TOKEN_VARIABLE} must hold a token of at least 16 characters")
    overrides = dict(setting.split("=", 1) for setting in chosen.setting)
    spark = create_session(SparkSettings(chosen.master, overrides), chosen.slots, f"rheostat {chosen.node}")
    node = SparkNode(chosen.node, spark)

    def columns(text: str) -> dict[str, Columns]:
        place = chosen.root / "nodes" / chosen.node / "application.yaml"
        place.write_text(text)
        return discover(spark, read_application(place))

    listening = socket.create_server(("127.0.0.1", 0))
    # Small answers at once: waiting to fill a packet would cost 40 ms a call.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(
        uvicorn.Config(agent_app(node, token, chosen.root, columns), log_level="error", access_log=False)
    )
    _tell(address_file(chosen.root, chosen.node), listening.getsockname()[1])
    if chosen.while_alive:
        threading.Thread(target=_end_with, args=(chosen.while_alive, server), daemon=True).start()
    try:
        server.run(sockets=[listening])
    finally:
        node.kill()
        spark.stop()


def _tell(path: Path, port: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump({"port": port, "pid": os.getpid()}, file)
    temporary.replace(path)


def _end_with(pid: int, server: uvicorn.Server) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            server.should_exit = True
            return
        time.sleep(0.5)


if __name__ == "__main__":
    main()
