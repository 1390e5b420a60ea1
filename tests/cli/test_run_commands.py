"""scale, move, deploy, status and stop, against a running application whose nodes do nothing."""

import threading
import time

import pytest

from rheostat.controller.controller_client import RunningApplication, read_address
from rheostat.model.graph.deployment import Deployment
from tests.cli.quiet_nodes import quiet_run


@pytest.fixture
def running(tmp_path, monkeypatch):
    with quiet_run(tmp_path / ".rheostat" / "words") as found:
        yield found


@pytest.fixture
def here(rheostat, tmp_path, monkeypatch):
    """The command, where applications lie below the current directory."""
    monkeypatch.chdir(tmp_path)
    return rheostat


def deployment(here):
    return here("status", "--json").json["deployment"]


def test_status_tells_who_runs_where_and_what_flows(running, here):
    told = here("status").out
    assert all(word in told for word in ("words", "running", "split", "n1:1", "slots in use: n1 3/3"))
    whole = here("status", "--json").json
    assert whole["ok"] is True
    assert whole["streams"][0] == {"from": "lines", "to": "split", "inside": True, "rate_tps": None, "lag_rows": 0}


def test_moving_takes_all_replicas_along(running, here):
    answer = here("move", "split", "n2")
    assert (answer.code, answer.err) == (0, "")
    assert "done: migration split: {n1:1} -> {n2:1}" in answer.out
    assert deployment(here)["split"] == {"n2": 1}
    assert "split@n2" in running.nodes["n2"].running


def test_scaling_stays_on_the_nodes_and_is_one_change(running, here):
    here("move", "split", "n2")
    answer = here("scale", "split=3", "--json").json
    assert (answer["ok"], answer["effect"]) == (True, "done")
    assert deployment(here)["split"] == {"n2": 3}
    assert here("scale", "split=1").code == 0
    assert deployment(here)["split"] == {"n2": 1}


def test_scaling_goes_to_other_nodes_when_its_own_are_full(running, here):
    """All three begin on n1, which has three slots."""
    assert here("scale", "split=4").code == 0
    assert deployment(here)["split"] == {"n1": 1, "n2": 3}


def test_a_deployment_is_changed_to_another_as_a_whole(running, here, tmp_path):
    (tmp_path / "d.yaml").write_text("kind: deployment\noperators: {lines: n1, split: {n2: 2, n3: 1}, out: n2}\n")
    assert here("deploy", "d.yaml").code == 0
    assert deployment(here) == {"lines": {"n1": 1}, "split": {"n2": 2, "n3": 1}, "out": {"n2": 1}}


def test_what_is_so_already_is_done_at_once(running, here):
    assert here("move", "split", "n1").out == "done: nothing changes\n"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param("scale splitt=2", "did you mean 'split'?", id="an unknown operator"),
        pytest.param("move split n9", "there is no node 'n9'", id="an unknown node"),
        pytest.param("scale split=5", "it takes 1 to 4", id="more replicas than the maximum"),
        pytest.param("scale split=0", "at least one replica", id="no replica"),
        pytest.param("deploy crowded.yaml", "node 'n3' has 1 slots, 2 are needed", id="more replicas than slots"),
        pytest.param("move lines n2", "may not run on 'n2'; it may run on: n1", id="a pinned operator"),
        pytest.param("deploy half.yaml", "operator 'out' is not deployed", id="a deployment of less"),
    ],
)
def test_bad_requests_are_refused_and_change_nothing(running, here, tmp_path, command, reason):
    (tmp_path / "half.yaml").write_text("kind: deployment\noperators: {lines: n1, split: n2}\n")
    (tmp_path / "crowded.yaml").write_text("kind: deployment\noperators: {lines: n1, split: {n3: 2}, out: n1}\n")
    before, instances = deployment(here), running.nodes["n1"].statuses()
    answer = here(*command.split())
    assert answer.code == 1
    assert reason in answer.err
    assert answer.err.startswith("refused: ")
    assert here(*command.split(), "--json").json["ok"] is False
    assert deployment(here) == before
    assert running.nodes["n1"].statuses() == instances


def test_a_change_while_another_is_under_way_is_refused(running, here):
    running.nodes["n2"].gate = threading.Event()
    first = threading.Thread(target=RunningApplication(running.directory).change, args=(_moved(running, "n2"),))
    first.start()
    deadline = time.monotonic() + 20
    while here("status", "--json").json["state"] != "changing":
        assert time.monotonic() < deadline
    answer = here("move", "split", "n3")
    running.nodes["n2"].gate.set()
    first.join()
    assert (answer.code, answer.err) == (1, "refused: another change is under way\n")
    assert deployment(here)["split"] == {"n2": 1}


def test_a_change_that_starts_from_something_else_is_refused(running):
    outside = RunningApplication(running.directory)
    here_then = _moved(running, "n2")
    effect = outside.change(_moved(running, "n3"), before=here_then)
    assert "changed meanwhile" in effect.reasons[0]


def test_a_failed_operator_is_told_in_one_line(running, here):
    error = "operator split on node n1: ValueError: no at words.py:7"
    running.nodes["n1"].fail("lines@n1", error)
    running.controller.tend()
    answer = here("status")
    assert answer.code == 1
    assert error in answer.out


def test_stop_ends_it_and_afterwards_nothing_runs(running, here):
    waiter = threading.Thread(target=RunningApplication(running.directory).stop, args=(0.1,))
    waiter.start()
    waiter.join()
    assert running.controller.is_stopping
    assert "being stopped" in here("scale", "split=2").err


@pytest.mark.parametrize("command", ["status", "stop", "scale split=2", "move split n1"])
def test_without_a_running_application_it_is_wrong_use(here, command):
    answer = here(*command.split())
    assert answer.code == 2
    assert "no application runs below .rheostat/; start one with rheostat run" in answer.err
    assert here(*command.split(), "--json").json["ok"] is False
    assert here(*command.split(), "--directory", "nowhere").err.startswith("no application runs in nowhere")


def test_of_several_one_must_say_which(running, here, tmp_path):
    with quiet_run(tmp_path / ".rheostat" / "other"):
        answer = here("status")
        assert answer.code == 2
        assert ".rheostat/other, .rheostat/words" in answer.err
        assert here("status", "--directory", ".rheostat/other").code == 0


def test_what_a_killed_application_has_left_is_not_taken_for_a_running_one(here, tmp_path):
    with quiet_run(tmp_path / ".rheostat" / "words") as found:
        text = (found.directory / "controller.json").read_text()
    assert read_address(found.directory) is None
    (found.directory / "controller.json").write_text(text)
    assert here("status").code == 2
    assert here("status", "--directory", found.directory).code == 2


def _moved(running, node):
    current = running.controller.status()["deployment"]
    return Deployment.of({**current, "split": {node: 1}})
