"""The HTTP face of a node agent: the contract of `NodePort`, as JSON, for whoever has the token.

Every route is named; everything else is refused. There is no way to send code or a path: operators come by import path
from the agent's own installation, and all files lie below the directory the agent was started with.
"""

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI

from rheostat.model.graph.application import Application
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.http_guard import guarded_app
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec

Document = Annotated[dict[str, Any], Body()]
Discover = Callable[[Application], dict[str, Columns]]
LEAST_TOKEN = 16


def no_managers(_document: dict[str, Any]) -> dict[str, Any]:
    """An agent in which nobody decides anything."""
    return {"knows": False}


def agent_app(
    node: NodePort,
    token: str,
    root: Path,
    discover: Callable[[str], dict[str, Columns]],
    exchange: Callable[[dict[str, Any]], dict[str, Any]] = no_managers,
    *,
    is_warm: Callable[[], bool] = lambda: True,
) -> FastAPI:
    """The web application of one node."""
    app = guarded_app(token, LEAST_TOKEN)

    def below_root(*paths: str) -> None:
        for path in paths:
            if not Path(path).resolve().is_relative_to(root.resolve()):
                raise ValueError(f"{path} is not below the directory of this agent")

    def specified(document: dict[str, Any]) -> InstanceSpec:
        spec = InstanceSpec.from_dict(document)
        below_root(spec.checkpoint, spec.control, *(p.channel for p in spec.inputs), *(p.channel for p in spec.outputs))
        return spec

    def job_of(document: dict[str, Any]) -> StateJob:
        job = StateJob.from_dict(document)
        below_root(job.target, *(path for path, _ in job.parents), *([job.source] if job.source else []))
        return job

    @app.get("/heartbeat")
    async def heartbeat() -> dict[str, Any]:  # needs no thread: all of them may be busy with orders
        return {"node": node.name, "pid": os.getpid(), "warm": is_warm()}

    @app.get("/statuses")
    def statuses() -> list[dict[str, Any]]:
        return [asdict(status) for status in node.statuses()]

    @app.get("/progress/{instance}")
    def progress(instance: str, after: int = -1) -> list[dict[str, Any]]:
        return list(node.progress(instance, after))

    @app.get("/usage")
    def usage() -> dict[str, float]:
        return node.usage().to_dict()

    @app.post("/start")
    def start(document: Document) -> dict[str, bool]:
        node.start(specified(document))
        return {"ok": True}

    @app.post("/stop")
    def stop(document: Document) -> dict[str, bool]:
        node.stop(str(document["instance"]), gently=document.get("gently") is True)
        return {"ok": True}

    @app.post("/settle")
    def settle(document: Document) -> dict[str, bool]:
        node.settle(specified(document))
        return {"ok": True}

    @app.post("/prepare")
    def prepare(document: Document) -> dict[str, bool]:
        node.prepare(job_of(document))
        return {"ok": True}

    @app.post("/run")
    def run(document: Document) -> dict[str, bool]:
        node.run(job_of(document))
        return {"ok": True}

    @app.post("/quiesce")
    def quiesce() -> dict[str, bool]:
        node.quiesce()
        return {"ok": True}

    @app.post("/control")
    def control(document: Document) -> dict[str, Any]:
        return exchange(document)

    @app.post("/columns")
    def columns(document: Document) -> dict[str, dict[str, str]]:
        return {name: asdict(found) for name, found in discover(str(document["application"])).items()}

    return app
