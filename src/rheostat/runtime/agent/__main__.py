"""A node agent: a process that owns one Spark application and runs the instances of one node.

It writes its port to a file of the shared directory that only its owner may read, and serves clients with the token
that it was given in its environment. It ends when it is told to, when the process that it belongs to is gone, when its
Spark has died or hangs, or when no controller has asked it anything for a long time. A controller that was killed may
be started again before that, and finds the agent at work.
"""

import argparse
import os
import socket
import sys
import threading
import time
from math import inf
from pathlib import Path
from typing import Any

import psutil
import uvicorn
from fastapi import FastAPI
from pyspark.sql import SparkSession

from rheostat.logs import LogLevel, LogSettings, room_logger, start_logging
from rheostat.machine.processes import is_alive
from rheostat.machine.waits import wait_until
from rheostat.model.documents import application_of
from rheostat.runtime.agent.agent_api import agent_app
from rheostat.runtime.agent.host_managers import HostManagers
from rheostat.runtime.agent.warm_up import warmed_up
from rheostat.runtime.nodes.agent_address import TAKEN, TOKEN_VARIABLE, claim, clear_leftovers, write_agent_address
from rheostat.runtime.nodes.remote_node import PEER_HEADER
from rheostat.runtime.nodes.spark_node import SparkNode
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.query.schema_discovery import discover_columns
from rheostat.runtime.spark.session import create_session, has_ended
from rheostat.runtime.spark.spark_settings import SparkSettings

LOG = room_logger("runtime")
IDLE_SECONDS = 3.0
"""Time without an order after which a node warms up."""
CALM_PERCENT, CALM_PATIENCE_SECONDS = 70.0, 60.0
"""Load of the processors below which a node warms up; after the patience it does so anyway."""
SPARK_LOOK_SECONDS, SPARK_GONE = 1.0, 70
"""Period of the check that Spark is there, and the exit code of an agent whose Spark is not."""
SPARK_SILENCES = 30
"""So many looks in a row may pass without an answer of Spark's. Looks, not seconds: an agent that was stopped together
with its Spark, and goes on, has not waited."""


def main() -> None:
    """`python -m rheostat.runtime.agent --node n1 --slots 2 --root DIR [--master local[2]]`."""
    chosen = _arguments()
    start_logging(LogSettings.from_environment(os.environ, LogLevel.INFO), sys.stderr)
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if len(token) < 16:
        sys.exit(f"{TOKEN_VARIABLE} must hold a token of at least 16 characters")
    claimed = claim(chosen.root, chosen.node)
    if claimed is None:
        LOG.error("node %s has an agent already", chosen.node)
        sys.exit(TAKEN)
    clear_leftovers(chosen.root, chosen.node)
    RunPaths(chosen.root).scratch(chosen.node).mkdir(parents=True)
    listening = socket.create_server(("127.0.0.1", 0))
    # Small answers at once: waiting to fill a packet would cost 40 ms a call.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Told before Spark is up: a controller that comes meanwhile finds it, asks, and is answered when it is.
    write_agent_address(chosen.root, chosen.node, listening.getsockname()[1], token, up=False)
    overrides = dict(setting.split("=", 1) for setting in chosen.setting)
    settings = SparkSettings(chosen.master, overrides)
    spark = create_session(settings, chosen.slots, f"rheostat {chosen.node}")
    node = SparkNode(chosen.node, spark, chosen.root)

    def columns(text: str) -> dict[str, Columns]:
        return discover_columns(spark, application_of(text))

    managers = HostManagers(node, chosen.root)
    warm = threading.Event()
    heard = ControllerWatch(agent_app(node, token, chosen.root, columns, managers.exchange, is_warm=warm.is_set))
    server = uvicorn.Server(uvicorn.Config(heard, log_level="error", access_log=False))
    # Once more: now there are Python workers to be tidied up after.
    write_agent_address(chosen.root, chosen.node, listening.getsockname()[1], token, up=True)
    if chosen.linger:
        threading.Thread(target=_end_when_forgotten, args=(heard, chosen.linger, server), daemon=True).start()
    if settings.is_local:
        folder = RunPaths(chosen.root).scratch(chosen.node) / "warm-up"
        threading.Thread(target=_warm_up_when_idle, args=(node, spark, folder, warm), daemon=True).start()
    else:
        warm.set()
    ending = threading.Event()
    threading.Thread(target=_end_with_spark, args=(chosen.node, spark, ending), daemon=True).start()
    if chosen.while_alive:
        threading.Thread(target=_end_with, args=(chosen.while_alive, server), daemon=True).start()
    try:
        server.run(sockets=[listening])
    finally:
        ending.set()
        managers.end()
        node.kill()
        spark.stop()
        claimed.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m rheostat.runtime.agent")
    parser.add_argument("--node", required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--master", default="local")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    parser.add_argument("--while-alive", type=int, default=0, metavar="PID", help="ends when this process is gone")
    parser.add_argument(
        "--linger",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="ends after this time without a question of a controller",
    )
    return parser.parse_args()


class ControllerWatch:
    """Time of the last question of a controller. Questions of other agents do not count: they never cease."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.at_seconds = time.monotonic()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Lets the web application answer."""
        if PEER_HEADER.lower().encode() not in dict(scope.get("headers", ())):
            self.at_seconds = time.monotonic()
        await self._app(scope, receive, send)


def _warm_up_when_idle(node: SparkNode, spark: SparkSession, folder: Path, warm: threading.Event) -> None:
    """Warms up once, if the node has nothing to do by then. Afterwards the node counts as warm, also if that failed."""
    time.sleep(IDLE_SECONDS)
    deadline = time.monotonic() + CALM_PATIENCE_SECONDS
    # Nodes that share a machine start together with what runs on the others, which must not wait for this.
    while node.is_idle and psutil.cpu_percent(1.0) > CALM_PERCENT and time.monotonic() < deadline:
        continue
    if node.is_idle and warmed_up(spark, folder, lambda: not node.is_idle):
        LOG.info("node %s has warmed up", node.name)
    warm.set()


def _end_with_spark(name: str, spark: SparkSession, ending: threading.Event) -> None:
    """Ends the agent at once when its Spark has ended or hangs; a restart gives it a new one."""
    answered = threading.Event()

    def look() -> None:
        while not ending.wait(SPARK_LOOK_SECONDS):
            if has_ended(spark) and not ending.is_set():
                _end_at_once(f"node {name} has lost its Spark, and ends with it")
            answered.set()

    # In a thread of its own: a Spark that stands still does not even say that it is there.
    threading.Thread(target=look, daemon=True).start()
    silences = 0
    while not ending.wait(SPARK_LOOK_SECONDS):
        silences = 0 if answered.is_set() else silences + 1
        answered.clear()
        if silences > SPARK_SILENCES:
            _end_at_once(f"the Spark of node {name} stands still: it is given up, and the agent ends with it")


def _end_at_once(why: str) -> None:
    LOG.error(why)
    sys.stderr.flush()
    os._exit(SPARK_GONE)


def _end_with(pid: int, server: uvicorn.Server) -> None:
    wait_until(lambda: not is_alive(pid), inf, look_seconds=0.5)
    server.should_exit = True


def _end_when_forgotten(heard: ControllerWatch, seconds: float, server: uvicorn.Server) -> None:
    wait_until(lambda: time.monotonic() - heard.at_seconds >= seconds, inf, look_seconds=min(1.0, seconds))
    server.should_exit = True


if __name__ == "__main__":
    main()
