"""A controller in a process of its own, so that it can be killed: takes orders as lines of JSON, answers likewise.

Not a user's way to run an application, that is `rheostat run`; here the experiment decides about every step.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from experiments.crashes import CrashingJournal
from experiments.subjects import subject
from experiments.walks import SETTINGS, finish
from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import Journal
from rheostat.errors import RheostatError
from rheostat.model.documents import write
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.reconfigure.runtime import Runtime

SAME = "same"
"""The deployment that was asked for is the one there is: nothing was changed, so no process was killed."""


def main() -> None:
    """The first order says what runs and where; every further one is a change, or the end."""
    begin = json.loads(sys.stdin.readline())
    one = subject(*begin["subject"])
    layout = RunPaths(Path(begin["root"]))
    nodes = {name: RemoteNode(name, port, token) for name, (port, token) in begin["agents"].items()}
    columns = next(iter(nodes.values())).columns(write(one.application))
    infrastructure = Infrastructure("faults", tuple(Node(name, 64) for name in nodes))
    journal: Journal = SqliteJournal(layout.journal)
    if death := begin.get("death"):
        journal = CrashingJournal(
            journal, Event(death["event"]), death["moment"], lambda: _kill(death.get("pid")), death["delay"]
        )
    runtime = Runtime(Blueprint(one.application, infrastructure, layout, columns, SETTINGS), nodes, journal)
    runtime.launch(Deployment.of(begin["deployment"]))
    _answer({"launched": True})
    for line in sys.stdin:
        _answer(_done(json.loads(line), runtime, one))


def _done(order: dict[str, Any], runtime: Runtime, one: Any) -> dict[str, Any]:
    try:
        if "deploy" in order:
            wanted = Deployment.of(order["deploy"])
            if wanted == runtime.deployment():
                return {"effect": SAME}
            return {"effect": str(runtime.deploy(wanted))}
        if "use" in order:
            runtime.use(RemoteNode(*order["use"]))
        if "lose" in order:
            runtime.lose(order["lose"])
        runtime.heal()
        if "finish" in order:
            finish(runtime, one.total)
            lost, duplicated = one.differences(runtime.results(one.sink).to_pylist())
            runtime.stop()
            return {"lost": lost, "duplicated": duplicated, "tuples": one.total * one.sources}
    except RheostatError as failure:
        return {"failure": str(failure)}
    return {"healed": True}


def _kill(agent: int | None) -> None:
    """This process, or the agent with all that belongs to it."""
    if agent is None:
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        os.killpg(agent, signal.SIGKILL)


def _answer(document: dict[str, Any]) -> None:
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
