"""Inputs of `rheostat run`: accepted values, refusals before anything is started, and the first deployment."""

import io
import sys

import pytest
from rich.console import Console
from tests.cli.quiet_nodes import THREE, WORDS

from rheostat.cli.inputs.run_inputs import BASE, RunFiles, RunRequest, default_directory, find_wanted, first_deployment
from rheostat.cli.inputs.spark_inputs import spark_settings
from rheostat.cli.output import WrongUse
from rheostat.cli.session.replica_numbers import scaled
from rheostat.cli.session.run_loop import Lines
from rheostat.cli.views.run_view import run_view, summary
from rheostat.model.documents import write
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.spark.spark_settings import SparkSettings

MODULE = """
from rheostat.model.documents import read_application
from pathlib import Path

app = read_application(Path(__file__).parent / "words.yaml")
number = 3

def build():
    return app

def needs(something):
    return app
"""


@pytest.fixture
def here(rheostat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_words", raising=False)
    (tmp_path / "my_words.py").write_text(MODULE)
    (tmp_path / "words.yaml").write_text(write(WORDS))
    (tmp_path / "three.yaml").write_text(write(THREE))
    return rheostat


@pytest.mark.parametrize("argument", ["words.yaml", "my_words:app", "my_words:build"])
def test_an_application_is_a_document_a_variable_or_a_function(here, argument):
    wanted = find_wanted(RunFiles(argument, "three.yaml"))
    assert (wanted.application, wanted.infrastructure, wanted.deployment) == (WORDS, THREE, None)


@pytest.mark.parametrize("argument", ["words.yaml", "my_words:app", "my_words"])
def test_without_an_infrastructure_there_are_local_nodes(here, tmp_path, argument):
    (tmp_path / "placed.yaml").write_text("kind: deployment\noperators: {lines: n1, split: n2, out: n2}\n")
    wanted = find_wanted(RunFiles(argument, deployment="placed.yaml", local_nodes=3))
    assert [node.name for node in wanted.infrastructure.nodes] == ["n1", "n2", "n3"]
    assert wanted.deployment == Deployment.of({"lines": {"n1": 1}, "split": {"n2": 1}, "out": {"n2": 1}})
    assert find_wanted(RunFiles(argument)).infrastructure.index.keys() == {"n1"}


def test_a_pin_must_be_one_of_the_local_nodes(here, tmp_path):
    (tmp_path / "far.yaml").write_text(write(WORDS).replace("pin: n1", "pin: rome"))
    with pytest.raises(WrongUse, match="there is no node 'rome'"):
        find_wanted(RunFiles("far.yaml", local_nodes=2))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        pytest.param("my_word:app three.yaml", "there is no module 'my_word'", id="no such module"),
        pytest.param("my_words:apq three.yaml", "did you mean 'app'?", id="no such variable"),
        pytest.param("my_words:number three.yaml", "this is a int, not an application", id="no application"),
        pytest.param("my_words:needs three.yaml", "missing 1 required positional argument", id="arguments needed"),
        pytest.param("taxi three.yaml", "these operators have no code to run", id="an application without code"),
        pytest.param("words.yaml words.yaml", "so does words.yaml", id="no infrastructure"),
        pytest.param("words.yaml small.yaml", "no node has room for operator 'out'", id="no room"),
        pytest.param("my_words:app other.yaml", "'n1'", id="pinned to a node that is not there"),
        pytest.param("words.yaml three.yaml --deployment bad.yaml", "there is no node 'n7'", id="a bad deployment"),
        pytest.param(
            "words.yaml three.yaml --learned no.jsonl",
            "--learned requires --control; e.g. --control edf",
            id="lessons without control",
        ),
        pytest.param(
            "words.yaml three.yaml --period 5 --control-set max_nodes=3 --global token-bucket",
            "--global requires --control; e.g. --control edf\n--period requires --control; e.g. --control edf\n",
            id="settings without control",
        ),
        pytest.param(
            "words.yaml three.yaml --control e2df --control-set free_capacty=1",
            "did you mean 'free_capacity'?",
            id="no such setting",
        ),
        pytest.param(
            "words.yaml three.yaml --control e2df --control-set max_nodes=many",
            "max_nodes='many': Input should be a valid integer",
            id="not a number",
        ),
        pytest.param("words.yaml three.yaml --master sparc", "'sparc' is not a Spark master", id="no master"),
        pytest.param("words.yaml three.yaml --master n7=local", "there is no node 'n7'", id="a master for nobody"),
        pytest.param("words.yaml three.yaml --master n1=local", "add --nodes process", id="a master for a part"),
        pytest.param(
            "words.yaml three.yaml --spark spark.x",
            "--spark: 'spark.x' is not `name=value`",
            id="a setting without value",
        ),
        pytest.param(
            "words.yaml three.yaml --spark spark.sql.shuffle.partitions=4", "scale the operator", id="not a setting"
        ),
        pytest.param(
            "words.yaml three.yaml --control elastic-storm --learned no.jsonl",
            "policy doubling does not learn",
            id="no learner",
        ),
        pytest.param(
            "words.yaml three.yaml --control edf --policy model-based --learned no.jsonl", "no.jsonl", id="no lessons"
        ),
        pytest.param(
            "words.yaml three.yaml --control edf --policy model-based --learned words.yaml",
            "cannot be read",
            id="no lessons in it",
        ),
        pytest.param(
            "words.yaml three.yaml --control edf --policy model-based --learned empty.jsonl",
            "nothing was learned for split",
            id="an empty lesson",
        ),
    ],
)
def test_what_cannot_run_is_told_before_spark_is_started(here, tmp_path, arguments, what):
    (tmp_path / "small.yaml").write_text(write(Infrastructure("small", (Node("n1", 2),))))
    (tmp_path / "other.yaml").write_text(write(Infrastructure("other", (Node("m1", 2),))))
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "bad.yaml").write_text("kind: deployment\noperators: {lines: n1, split: n7, out: n2}\n")
    answer = here("run", *arguments.split())
    assert answer.code == 2
    assert what in answer.err
    assert not (tmp_path / ".rheostat").exists()


def test_the_first_deployment_respects_pins_candidates_and_room():
    operators = (
        Operator("a", Kind.SOURCE, rate_tps=1),
        Operator("b", min_replicas=2, max_replicas=2),
        Operator("c", candidates=("n2",)),
        Operator("d", Kind.SINK, pin="n1"),
    )
    app = Application("x", operators, (Stream("a", "b"), Stream("b", "c"), Stream("c", "d")))
    placed = first_deployment(RunRequest(app, Infrastructure("two", (Node("n1", 2), Node("n2", 3))), None))
    assert placed == Deployment.of({"a": {"n1": 1}, "b": {"n2": 2}, "c": {"n2": 1}, "d": {"n1": 1}})
    with pytest.raises(WrongUse, match="no node has room"):
        first_deployment(RunRequest(app, Infrastructure("two", (Node("n1", 2), Node("n2", 2))), None))


@pytest.mark.parametrize(
    ("replicas", "wanted", "result"),
    [
        pytest.param({"n2": 1}, 3, {"n2": 3}, id="more on the only node"),
        pytest.param({"n1": 1, "n2": 1}, 3, {"n1": 1, "n2": 2}, id="more where there is most room"),
        pytest.param({"n1": 1, "n2": 2}, 2, {"n1": 1, "n2": 1}, id="fewer where there is least room"),
        pytest.param({"n2": 1, "n3": 1}, 1, {"n2": 1}, id="a node can become empty"),
        pytest.param({"n1": 1, "n3": 1}, 4, {"n1": 3, "n3": 1}, id="several, one after the other"),
        pytest.param({"n2": 2}, 2, {"n2": 2}, id="nothing to do"),
        pytest.param({"n3": 1}, 3, {"n2": 2, "n3": 1}, id="elsewhere when its own node is full"),
        pytest.param({"n2": 1}, 9, {"n1": 3, "n2": 4, "n3": 2}, id="nobody has room: for the runtime to refuse"),
    ],
)
def test_scaling_adds_to_the_least_used_node_and_takes_from_the_most_used(replicas, wanted, result):
    capacity = {"n1": 4.0, "n2": 5.0, "n3": 1.0}
    before = Deployment.of({"lines": {"n1": 1}, "split": replicas, "out": {"n2": 1}})
    assert dict(scaled(WORDS, capacity, before, {"split": wanted})["split"].counts) == result


def test_scaling_keeps_to_the_nodes_an_operator_may_run_on_and_never_spreads_what_cannot_be():
    operators = (
        Operator("lines", Kind.SOURCE, max_replicas=3),
        Operator("split", candidates=("n1", "n3"), max_replicas=4),
        Operator("table", Kind.SINK, code="shop.sinks:table", max_replicas=3),
    )
    app = Application("ends", operators, (Stream("lines", "split"), Stream("split", "table")))
    before = Deployment.of({"lines": {"n1": 1}, "split": {"n1": 1}, "table": {"n1": 1}})
    after = scaled(app, {"n1": 3.0, "n2": 9.0, "n3": 2.0}, before, {"lines": 2, "split": 2, "table": 2})
    assert dict(after["split"].counts) == {"n1": 1, "n3": 1}
    assert (dict(after["lines"].counts), dict(after["table"].counts)) == ({"n1": 2}, {"n1": 2})


def nodes(*lost):
    return [{"name": name, "capacity": 3.0, "used": 2.0, "lost": name in lost} for name in ("n1", "n2")]


STATUS = {
    "nodes": nodes(),
    "state": "running",
    "seconds": 12.0,
    "sources_tps": {"lines": 40.0},
    "sinks_tps": {"out": 20.0},
    "streams": [{"lag_rows": 1200}, {"lag_rows": 34}],
    "response_ms": {"mean": 500.0, "p50": 400.0, "p95": 900.0, "p99": 950.0},
    "changes": [{"at": "2026-01-01T10:00:00+00:00", "what": "w", "effect": "done", "paused_seconds": 1.25}],
    "symptoms": [],
    "failures": ["operator split on node n1: ValueError: no"],
    "control": {"paused": False, "stories": [{"number": 4, "at_seconds": 0.0, "told": "split is scaled out"}]},
}


def test_a_line_sums_it_up():
    shown = "running for 12 s, in 40/s, out 20/s, waiting 1,234, response 0.4 s, p95 0.9 s"
    assert summary(STATUS) == shown
    assert summary({**STATUS, "response_ms": None, "sinks_tps": {"out": None}}).endswith("out ?, waiting 1,234")


def test_the_view_tells_how_busy_operators_are_and_leaves_out_what_is_not_known():
    status = {
        **STATUS,
        "application": "words",
        "nodes": nodes("n2"),
        "deployment": {"lines": {"n1": 1}, "split": {"n2": 2}, "out": {"n1": 1}},
        "streams": [{"from": "lines", "to": "split", "inside": False, "rate_tps": 40.0, "lag_rows": 7}],
        "instances": [],
        "operators": {"split": {"input_rate": 40.25, "utilization": 0.634, "user_code_ms": 15.83}, "out": {}},
    }
    out = io.StringIO()
    Console(file=out, width=120).print(run_view(WORDS, status))
    lines = {line.split()[1]: line.split() for line in out.getvalue().splitlines() if line.startswith("●")}
    assert lines["split"][2:7] == ["2", "n2:2", "40.2", "63%", "15.8"]
    assert lines["out"][2:] == ["1", "n1:1"]
    assert lines["lines"][2:] == ["1", "n1:1", "split", "(40/s,", "7", "waiting)"]
    assert "node n2 lost; instances failed over" in out.getvalue()
    assert "node n1 lost" not in out.getvalue()
    assert "instance " not in out.getvalue()


STALLED = {
    "subject": "instance split n2",
    "kind": "stalled",
    "what": "stalled: batch 6 was planned 21 s ago",
    "seconds": 21.0,
}


def test_the_view_shows_stalls_and_lags_and_says_what_is_not_known():
    status = {
        **STATUS,
        "application": "words",
        "deployment": {"lines": {"n1": 1}, "split": {"n2": 2}, "out": {"n1": 1}},
        "streams": [{"from": "lines", "to": "split", "inside": False, "rate_tps": None, "lag_rows": None}],
        "sources_tps": {"lines": None},
        "instances": [],
        "symptoms": [STALLED],
    }
    out = io.StringIO()
    Console(file=out, width=120).print(run_view(WORDS, status))
    assert "instance split n2: stalled: batch 6 was planned 21 s ago" in out.getvalue()
    assert "split (?/s, ? waiting)" in out.getvalue()
    assert "in ?, out 20/s, waiting 0" in out.getvalue()


def test_without_a_terminal_a_stall_is_told_when_it_begins_and_when_it_is_over():
    out = io.StringIO()
    lines = Lines(out)
    for number in (21, 22, 23):
        lines.show({**STATUS, "symptoms": [{**STALLED, "what": f"stalled: batch 6 was planned {number} s ago"}]})
    lines.show(STATUS)
    lines.show(STATUS)
    told = [line for line in out.getvalue().splitlines() if "instance split" in line]
    assert [line.split(" ", 1)[1] for line in told] == [
        "instance split n2: stalled: batch 6 was planned 21 s ago",
        "instance split n2: no longer stalled",
    ]


def test_without_a_terminal_news_are_told_once():
    out = io.StringIO()
    lines = Lines(out)
    lines.show(STATUS)
    lines.show(STATUS)
    told = out.getvalue().splitlines()
    assert told[:2] == ["10:00:00 done: w (paused 1.25 s)", STATUS["failures"][0]]
    assert told[2].endswith("split is scaled out")
    assert len(told) == 4


def test_nodes_that_are_lost_and_back_are_told_each_time():
    out = io.StringIO()
    lines = Lines(out)
    for lost in ((), ("n2",), ("n2",), (), ("n2",)):
        lines.show({**STATUS, "nodes": nodes(*lost)})
    told = [line[9:] for line in out.getvalue().splitlines() if line[9:].startswith("node ")]
    assert told == ["node n2 lost; instances failed over", "node n2 is back", told[0]]


def test_masters_and_settings_of_spark_are_for_all_nodes_or_for_one():
    found = spark_settings(["local[2]", "n2=spark://host:7077"], {"spark.driver.memory": "2g"}, THREE, shared=False)
    assert found == SparkSettings("local[2]", {"spark.driver.memory": "2g"}, {"n2": "spark://host:7077"})


def test_every_mistake_about_spark_is_told_at_once():
    with pytest.raises(WrongUse) as told:
        spark_settings(["n7=local", "n1=local"], {"spark.sql.shuffle.partitions": "4", "y": "1"}, THREE, shared=True)
    assert len(told.value.complaints) == 4


@pytest.mark.parametrize("name", ["..", ".", "../up", "/", "shop", ".hidden", "a b"])
def test_the_folder_of_a_run_is_always_one_below_the_folder_of_all_runs(tmp_path, name):
    application = Application(name, (Operator("orders", Kind.SOURCE),), ())
    assert (tmp_path / default_directory(application)).resolve().parent == tmp_path / BASE
