"""The agent serves requests with the token and no others; it touches nothing outside its directory."""

import asyncio
from dataclasses import asdict, replace

import httpx
import pytest

from rheostat.control.remote.manager_messages import Orders, Report
from rheostat.runtime.agent.agent_api import agent_app
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.memory_node import MemoryNode
from rheostat.runtime.nodes.node_messages import CALLS, MANAGERS, ManagerAnswer, ManagerQuestion
from rheostat.runtime.plan.instance_spec import InstanceSpec, OperatorStep

TOKEN = "a-token-of-more-than-sixteen-characters"  # noqa: S105 - nobody else uses it


@pytest.fixture
def node():
    return MemoryNode("n1")


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

    def post(self, path, **arguments):
        return self.ask("POST", path, **arguments)


@pytest.fixture
def client(node, tmp_path):
    return Client(agent_app(node, TOKEN, tmp_path, lambda _: {}))


def checkpoint(root, number="1"):
    return str(root / "nodes" / "n1" / "checkpoints" / "count@n1" / number)


def spec(root):
    step = OperatorStep("count", "a:b", "stateful")
    return InstanceSpec("count@n1", "n1", (step,), 1, "0-3", checkpoint(root), str(root / "control"))


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}],
    ids=["none", "empty", "wrong", "no scheme"],
)
@pytest.mark.parametrize("path", ["/heartbeat", "/statuses", "/docs", "/openapi.json", "/nothing"])
def test_without_the_token_there_is_nothing_to_see(client, headers, path):
    client.headers.pop("Authorization")
    assert client.post(path, headers=headers).status_code == 401


def test_browsers_are_not_served(client):
    assert client.post("/statuses", json={}, headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/docs"), ("GET", "/openapi.json"), ("PUT", "/start"), ("DELETE", "/stop")]
)
def test_only_what_is_named_is_served(client, method, path):
    assert client.ask(method, path).status_code in {404, 405}


def test_every_message_has_a_route_and_there_is_no_other(node, tmp_path):
    app = agent_app(node, TOKEN, tmp_path, lambda _: {})
    assert {route.path for route in app.routes} == {f"/{call.path}" for call in CALLS}


def test_a_failure_comes_back_as_its_words(client, node, tmp_path):
    node.complaints["take"] = "it could not finish"
    answer = client.post("/checkpoints/take", json=asdict(spec(tmp_path)))
    assert (answer.status_code, answer.json()) == (409, {"error": "it could not finish"})


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/start", {"name": "count@n1"}),
        ("/stop", {"instance": "count@n1", "gently": True, "more": 1}),
        ("/stop", {"instance": 7}),
        ("/managers", {"orders": {"operators": ["count"]}}),
        ("/checkpoints/build", {"way": "guess", "target": "t", "parents": [["p", "0"]]}),
    ],
)
def test_a_message_that_is_not_as_it_should_be_is_refused_and_nothing_is_done(client, node, path, document):
    answer = client.post(path, json=document)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert node.asked == []


def test_paths_elsewhere_are_refused_and_nothing_is_done(client, node, tmp_path):
    outside = replace(spec(tmp_path), checkpoint=str(tmp_path / ".." / "elsewhere"))
    assert client.post("/start", json=asdict(outside)).status_code == 400
    job = StateJob("copy", "/etc/passwd", ((str(tmp_path), "0"),), "0", 1, (), 4)
    assert client.post("/checkpoints/build", json=asdict(job)).status_code == 400
    assert client.post("/hold", json={"instance": "../count@n1", "hold": True}).status_code == 400
    wrong = {"node": "..", "instance": "count@n1", "number": "1"}
    assert client.post("/checkpoints/remove", json=[wrong]).status_code == 400
    assert node.asked == []


def test_a_short_token_is_refused(node, tmp_path):
    with pytest.raises(ValueError, match="at least 16"):
        agent_app(node, "short", tmp_path, lambda _: {})


def test_a_name_that_only_resolves_to_this_machine_is_refused(client, node):
    answer = client.post("/statuses", json={}, headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()) == (403, {"error": "only this machine is served"})
    assert node.asked == []


def test_orders_reach_the_managers_and_their_report_comes_back(node, tmp_path):
    heard, report = [], Report(("count",), "a life")

    def exchange(question):
        heard.append(question)
        return ManagerAnswer(report)

    client = Client(agent_app(node, TOKEN, tmp_path, lambda _: {}, exchange))
    question = ManagerQuestion(Orders(("count",), answers={"count": 3}), "mark")
    answer = client.post("/managers", content=MANAGERS.question.dump_json(question))
    assert MANAGERS.answer.validate_json(answer.content) == ManagerAnswer(report)
    assert heard == [question]


def test_an_agent_without_managers_has_no_report(client):
    assert client.post("/managers", json={}).json() == {"report": None}
