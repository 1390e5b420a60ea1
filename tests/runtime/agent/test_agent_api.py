"""The agent serves requests with the token and no others; it touches nothing outside its directory."""

import asyncio
from dataclasses import asdict, replace

import httpx
import pytest

from rheostat.errors import RuntimeFault
from rheostat.runtime.agent.agent_api import agent_app
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus, OperatorStep

TOKEN = "a-token-of-more-than-sixteen-characters"  # noqa: S105 - nobody else uses it


class FakeNode:
    """Remembers what it was asked for."""

    name = "n1"

    def __init__(self):
        self.asked = []

    def __getattr__(self, verb):
        def ask(argument=None, *, gently=False):
            self.asked.append((f"{verb} gently" if gently else verb, argument))
            if verb == "settle":
                raise RuntimeFault("it could not finish")
            return [InstanceStatus("count@n1", "running")] if verb == "statuses" else [{"batchId": 1}]

        return ask


@pytest.fixture
def node():
    return FakeNode()


class Client:
    """Asks the web application without a network."""

    def __init__(self, app):
        self._app = app
        self.headers = {"Authorization": f"Bearer {TOKEN}"}

    def ask(self, method, path, **arguments):
        arguments["headers"] = {**self.headers, **arguments.get("headers", {})}

        async def once():
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **arguments)

        return asyncio.run(once())

    def get(self, path, **arguments):
        return self.ask("GET", path, **arguments)

    def post(self, path, **arguments):
        return self.ask("POST", path, **arguments)


@pytest.fixture
def client(node, tmp_path):
    return Client(agent_app(node, TOKEN, tmp_path, lambda _: {}))


def spec(root):
    return InstanceSpec(
        "count@n1", "n1", (OperatorStep("count", "a:b", "stateful"),), 1, "0-3", str(root / "c"), str(root / "k")
    )


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}],
    ids=["none", "empty", "wrong", "no scheme"],
)
@pytest.mark.parametrize("path", ["/heartbeat", "/statuses", "/docs", "/openapi.json", "/nothing"])
def test_without_the_token_there_is_nothing_to_see(client, headers, path):
    client.headers.pop("Authorization")
    assert client.get(path, headers=headers).status_code == 401


def test_browsers_are_not_served(client):
    assert client.get("/statuses", headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/docs"), ("GET", "/openapi.json"), ("PUT", "/start"), ("DELETE", "/stop")]
)
def test_only_what_is_named_is_served(client, method, path):
    assert client.ask(method, path).status_code in {404, 405}


def test_what_a_node_can_do_is_asked_by_its_name(client, node, tmp_path):

    assert client.get("/heartbeat").json()["node"] == "n1"
    assert client.get("/statuses").json()[0]["name"] == "count@n1"
    assert client.post("/start", json=asdict(spec(tmp_path))).status_code == 200
    assert client.post("/stop", json={"instance": "count@n1"}).status_code == 200
    assert client.post("/stop", json={"instance": "count@n2", "gently": True}).status_code == 200
    job = StateJob("copy", str(tmp_path / "new"), ((str(tmp_path / "old"), "0"),), "0", 1, ("k",), 4)
    assert client.post("/run", json=asdict(job)).status_code == 200
    assert ("start", spec(tmp_path)) in node.asked
    assert ("stop", "count@n1") in node.asked
    assert ("stop gently", "count@n2") in node.asked
    assert ("run", job) in node.asked


def test_a_failure_comes_back_as_its_words(client, tmp_path):

    answer = client.post("/settle", json=asdict(spec(tmp_path)))
    assert (answer.status_code, answer.json()) == (409, {"error": "it could not finish"})


def test_paths_elsewhere_are_refused_and_nothing_is_done(client, node, tmp_path):

    outside = replace(spec(tmp_path), checkpoint=str(tmp_path / ".." / "elsewhere"))
    assert client.post("/start", json=asdict(outside)).status_code == 400
    job = StateJob("copy", "/etc/passwd", ((str(tmp_path), "0"),), "0", 1, (), 4)
    assert client.post("/run", json=asdict(job)).status_code == 400
    assert node.asked == []


def test_a_short_token_is_refused(node, tmp_path):
    with pytest.raises(ValueError, match="at least 16"):
        agent_app(node, "short", tmp_path, lambda _: {})


def test_a_name_that_only_resolves_to_this_machine_is_refused(client, node):
    answer = client.get("/statuses", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()) == (403, {"error": "only this machine is served"})
    assert node.asked == []


def test_orders_reach_the_managers_and_their_report_comes_back(node, tmp_path):
    heard = []

    def exchange(document):
        heard.append(document)
        return {"knows": True, "operators": ["count"]}

    client = Client(agent_app(node, TOKEN, tmp_path, lambda _: {}, exchange))
    answer = client.post("/control", json={"orders": {"operators": ["count"]}})
    assert (answer.status_code, answer.json()) == (200, {"knows": True, "operators": ["count"]})
    assert heard == [{"orders": {"operators": ["count"]}}]


def test_an_agent_without_managers_says_so(client):
    assert client.post("/control", json={}).json() == {"knows": False}
