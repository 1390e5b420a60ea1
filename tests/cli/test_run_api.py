"""The face of a running application: who is served, and how it is reached."""

import asyncio
import stat

import httpx
import pytest

from rheostat.control.loop.effects import effect_document, effect_of
from rheostat.control.loop.ports import Done, Refused, RolledBack
from rheostat.controller.controller_api import controller_app
from rheostat.controller.controller_client import RunningApplication, held, read_address
from rheostat.errors import RuntimeFault
from rheostat.model.graph.deployment import Deployment
from tests.cli.quiet_nodes import quiet_run

TOKEN = "t" * 32
BEARER = {"Authorization": f"Bearer {TOKEN}"}
BODY = {"deployment": {"split": {"n1": 2}}}


class Recorded:
    """Answers, and remembers what it was asked for."""

    def __init__(self):
        self.asked = []

    def status(self):
        return {"state": "running"}

    def change(self, wanted, before=None):
        self.asked.append((wanted, before))
        return Done(1.5)

    def stop(self):
        self.asked.append("stop")


class Client:
    """Asks the web application without a network."""

    def __init__(self, app):
        self._app = app

    def get(self, path, **more):
        return asyncio.run(self._ask("GET", path, more))

    def post(self, path, **more):
        return asyncio.run(self._ask("POST", path, more))

    async def _ask(self, method, path, more):
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return await client.request(method, path, **more)


@pytest.fixture
def recorded():
    return Recorded()


@pytest.fixture
def client(recorded):
    return Client(controller_app(recorded, TOKEN))


def test_the_three_routes(client, recorded):
    assert client.get("/status", headers=BEARER).json() == {"state": "running"}
    assert client.post("/change", json=BODY, headers=BEARER).json() == {"effect": "done", "paused_seconds": 1.5}
    assert client.post("/stop", headers=BEARER).json() == {"stopping": True}
    assert recorded.asked == [(Deployment.of({"split": {"n1": 2}}), None), "stop"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        pytest.param({}, 401, id="no token"),
        pytest.param({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401, id="a wrong token"),
        pytest.param({**BEARER, "Origin": "http://127.0.0.1"}, 403, id="a browser"),
        pytest.param({**BEARER, "Host": "rebound.example"}, 403, id="a name that was made to mean this machine"),
    ],
)
def test_nobody_else_is_served(client, recorded, headers, code):
    assert client.get("/status", headers=headers).status_code == code
    assert client.post("/change", json=BODY, headers=headers).status_code == code
    assert client.post("/stop", headers=headers).status_code == code
    assert recorded.asked == []


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json"])
def test_there_is_nothing_else(client, path):
    assert client.get(path, headers=BEARER).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"deployment": {"split": {"n1": 0}}}, id="no replica"),
        pytest.param({"deployment": {"split": {"n1": "2"}}}, id="a text for a number"),
        pytest.param({"deployment": {"split": {}}}, id="no node"),
        pytest.param({**BODY, "force": True}, id="something unknown"),
    ],
)
def test_a_body_that_is_no_deployment_is_refused(client, recorded, body):
    answer = client.post("/change", json=body, headers=BEARER)
    assert answer.status_code in {400, 422}
    assert "error" in answer.json()
    assert recorded.asked == []


def test_a_short_token_is_refused(recorded):
    with pytest.raises(ValueError, match="32"):
        controller_app(recorded, "short")


@pytest.mark.parametrize("effect", [Done(2.5), Refused(("a", "b")), RolledBack("why")])
def test_effects_travel(effect):
    assert effect_of(effect_document(effect)) == effect


def test_the_address_is_for_the_owner_alone_and_goes_with_the_run(tmp_path):
    with quiet_run(tmp_path / "words") as running:
        file = running.directory / "controller.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(read_address(running.directory).token) >= 32
        assert RunningApplication(running.directory).answers()
        with pytest.raises(RuntimeFault, match="already"), held(running.directory):
            pass
    assert not file.exists()
    assert not RunningApplication(running.directory).answers()
