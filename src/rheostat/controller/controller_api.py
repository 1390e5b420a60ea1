"""HTTP API of a running application: status, change, control, stop. On loopback, protected by a token.

| route | body | answer |
|---|---|---|
| GET /status | | how everything is doing |
| POST /change | deployment and, if wanted, the one before: operator -> node -> replicas | its effect |
| POST /control | paused: whether the managers shall decide nothing | whether they do |
| POST /stop | | at once; the application ends then |

Everything else is refused, and so is every browser.
"""

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, PositiveInt

from rheostat.control.loop.effects import effect_document
from rheostat.control.loop.ports import Effect
from rheostat.controller.controller_client import Address, remove_address, write_address
from rheostat.model.graph.deployment import Deployment
from rheostat.runtime.nodes.http_guard import guarded_app

LEAST_TOKEN = 32
Placed = dict[str, dict[str, PositiveInt]]


class Controlled(Protocol):
    """Requests that a running application answers."""

    def status(self) -> dict[str, Any]:
        """State of the application as plain data."""
        ...

    def change(self, wanted: Deployment, before: Deployment | None = None) -> Effect:
        """Changes the deployment, one change at a time; with `before`, only if that is what runs."""
        ...

    def pause_control(self) -> None:
        """The managers decide nothing until they are told to; a fault if there are none."""
        ...

    def resume_control(self) -> None:
        """The managers decide again."""
        ...

    def stop(self) -> None:
        """Lets it end; does not wait for that."""
        ...


class ChangeBody(BaseModel):
    """The body of a change."""

    model_config = ConfigDict(extra="forbid", strict=True)

    deployment: Placed
    before: Placed | None = None


class ControlBody(BaseModel):
    """The body of a pause."""

    model_config = ConfigDict(extra="forbid", strict=True)

    paused: bool


def controller_app(controlled: Controlled, token: str) -> FastAPI:
    """The web application."""
    app = guarded_app(token, LEAST_TOKEN)

    @app.exception_handler(RequestValidationError)
    async def misshapen(_request: Request, _error: RequestValidationError) -> JSONResponse:
        return JSONResponse(
            {"error": "a change is {deployment: {operator: {node: replicas}}}, a pause is {paused: true}"}, 422
        )

    @app.get("/status")
    def status() -> dict[str, Any]:
        return controlled.status()

    @app.post("/change")
    def change(wanted: ChangeBody) -> dict[str, Any]:
        before = None if wanted.before is None else Deployment.of(wanted.before)
        return effect_document(controlled.change(Deployment.of(wanted.deployment), before))

    @app.post("/control")
    def control(wanted: ControlBody) -> dict[str, Any]:
        if wanted.paused:
            controlled.pause_control()
        else:
            controlled.resume_control()
        return {"paused": wanted.paused}

    @app.post("/stop")
    def stop() -> dict[str, Any]:
        controlled.stop()
        return {"stopping": True}

    return app


@contextmanager
def serving(controlled: Controlled, directory: Path) -> Iterator[Address]:
    """Serves from a thread of its own, and says where in a file of the directory for as long as it does."""
    token = secrets.token_urlsafe(LEAST_TOKEN)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        controller_app(controlled, token), log_level="critical", access_log=False, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="controller", daemon=True)
    thread.start()
    address = Address(listening.getsockname()[1], token, os.getpid())
    write_address(directory, address)
    try:
        yield address
    finally:
        remove_address(directory)
        server.should_exit = True
        thread.join(5)
        listening.close()
