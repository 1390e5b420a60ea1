"""`rheostat plan`: a deployment with what is proven of it, or why there is none."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.plan_inputs import Files, Numbers, problem_of
from rheostat.cli.inputs.run_inputs import RunRequest, first_deployment
from rheostat.cli.output import WrongUse
from rheostat.cli.views.plan_progress import ProgressLine, Watching
from rheostat.model.documents import read_deployment, read_objective
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node
from rheostat.model.quality.objective import OdpObjective
from rheostat.planning.contract.planner import SILENT
from rheostat.planning.contract.problem import Limits
from rheostat.planning.planner_registry import PLANNERS

CLICKS = ("clicks.yaml", "sites.yaml")
EVENING = (*CLICKS, "--rate", 700, "--current", "lean.yaml", "--objective", "goals.yaml")


def test_the_answer_is_what_evaluate_says_of_it(rheostat, tmp_path):
    planned = tmp_path / "planned.yaml"
    told = rheostat("plan", *EVENING, "--output", planned, "--json").json
    options = EVENING[2:]
    judged = rheostat("evaluate", *CLICKS, planned, *options, "--json").json
    assert (told["ok"], told["status"], told["gap"]) == (True, "optimal", 0.0)
    assert told["objective"] == pytest.approx(judged["objective"]["cost"])
    assert told["evaluation"]["response_time_ms"] == pytest.approx(judged["response_time_ms"])
    assert told["evaluation"]["change"] == judged["change"]


def test_it_is_better_than_what_was_thought_out_by_hand(rheostat):
    planned = rheostat("plan", *EVENING, "--json").json
    by_hand = rheostat("evaluate", *CLICKS, "peak.yaml", *EVENING[2:], "--json").json
    assert planned["objective"] < by_hand["objective"]["cost"]


def test_the_keys_of_the_json_are_stable(rheostat):
    told = rheostat("plan", *EVENING, "--json").json
    assert list(told) == [
        "ok",
        "planner",
        "status",
        "measure",
        "objective",
        "bound",
        "gap",
        "conflict",
        "deployment",
        "effort",
        "evaluation",
        "mistakes",
    ]
    assert list(told["effort"]) == ["seconds", "nodes_explored", "deployments_generated", "reassignments", "note"]


def test_text_shows_the_deployment_then_what_is_proven(rheostat):
    answer = rheostat("plan", *EVENING)
    assert answer.code == 0
    assert "sessions          2  cloud-a:2" in answer.out
    assert answer.out.splitlines()[-1].startswith("exact: optimal, cost 0.3280, bound 0.3280, gap 0.00 %")
    assert " s, " in answer.err, "what took time is no part of the answer"


def test_the_document_alone_can_be_piped(rheostat, tmp_path):
    answer = rheostat("plan", *EVENING, "--yaml")
    (tmp_path / "piped.yaml").write_text(answer.out)
    told = rheostat("plan", *EVENING, "--json").json["deployment"]
    read = read_deployment(tmp_path / "piped.yaml")
    assert {name: dict(replicas.counts) for name, replicas in read.items()} == told


def test_a_picture_shows_operators_on_nodes(rheostat, tmp_path):
    answer = rheostat("plan", *EVENING, "--svg", tmp_path / "plan.svg")
    assert answer.code == 0
    assert f"drawn: {tmp_path / 'plan.svg'}" in answer.err
    assert "sessions" in (tmp_path / "plan.svg").read_text()


def test_without_an_objective_the_response_time_counts(rheostat):
    told = rheostat("plan", *CLICKS, "--json").json
    assert told["measure"] == "utility"
    others = rheostat("compare", *CLICKS, "--json").json["planners"]
    fastest = min(entry["response_time_ms"] for entry in others if "response_time_ms" in entry)
    assert told["evaluation"]["response_time_ms"] == pytest.approx(fastest)


def test_every_option_becomes_part_of_the_problem(rheostat):
    numbers = Numbers(Downtime.FULL_RESTART, 3.0, hop_ms=2.0, rate=123.0, time_limit=7.0, gap=0.1)
    problem = problem_of(Files(*CLICKS, "goals.yaml", "lean.yaml"), numbers)
    assert problem.application.rates.operators["clicks"] == 123.0
    assert (problem.limits, problem.hop_ms, problem.downtime) == (Limits(7.0, 0.1), 2.0, FullRestart(3.0))
    assert problem.current == read_deployment(Path("lean.yaml"))
    assert problem.objective == read_objective(Path("goals.yaml"))
    assert problem_of(Files(*CLICKS), Numbers()).limits == Limits()


def test_an_impossible_problem_says_what_conflicts(rheostat, tmp_path):
    answer = rheostat("plan", *CLICKS, "--rate", 5000)
    assert answer.code == 1
    assert "no: operator parse gets 5000 tps, too much even for 4 replicas" in answer.out
    assert "exact: infeasible" in answer.out.splitlines()[-1]
    told = rheostat("plan", *CLICKS, "--rate", 5000, "--json")
    assert (told.code, told.json["ok"], told.json["deployment"]) == (1, False, None)
    strict = tmp_path / "strict.yaml"
    strict.write_text("kind: objective\nform: edrp\nweights: {response_time: 1}\nbounds: {response_time_ms: 20}\n")
    assert "no deployment meets 20 ms: the best is" in rheostat("plan", *CLICKS, "--objective", strict).out
    assert "no: " in rheostat("plan", *CLICKS, "--rate", 5000, "--yaml").err


def test_time_that_is_over_at_once_is_no_mistake(rheostat):
    answer = rheostat("plan", "taxi", "ansnet", "--time-limit", 0, "--json")
    assert answer.json["status"] in ("feasible", "no answer")
    assert answer.code == (0 if answer.json["ok"] else 1)


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_answers_by_its_name(rheostat, name):
    told = rheostat("plan", *EVENING, "--planner", name, "--json").json
    assert told["planner"] == name
    assert told["ok"] is True
    assert told["objective"] >= 0.3279


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((*CLICKS, "--planner", "eksact"), "did you mean 'exact'?", id="a misspelled planner"),
        pytest.param((*CLICKS, "--planner", "zzz"), "known are: balanced", id="an unknown planner"),
        pytest.param((*CLICKS, "--time-limit", "-1"), "--time-limit", id="a negative time"),
        pytest.param((*CLICKS, "--gap", "nan"), "--gap", id="a gap that is no number"),
        pytest.param((*CLICKS, "--rate", "inf"), "--rate", id="an endless rate"),
        pytest.param((*CLICKS, "--downtime", "full-restart"), "--current", id="the downtime of no change"),
        pytest.param((*CLICKS, "--objective", "lean.yaml"), "not an objective", id="an objective that is none"),
        pytest.param((*CLICKS, "--current", "goals.yaml"), "not a deployment", id="a current that is none"),
        pytest.param((*CLICKS, "--planner", "milp", "--hop-ms", "1"), "ask exact", id="hops for a program without"),
        pytest.param((*CLICKS, "--yaml", "--json"), "two forms", id="two forms at once"),
        pytest.param(("clicks.yaml", "absent.yaml"), "no such file", id="a missing file"),
        pytest.param(("clicks.yaml",), "missing argument", id="too few"),
        pytest.param(("taxi", "ansnet", "--planner", "exhaustive"), "too many to try", id="too much to try"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(rheostat, arguments, told):
    answer = rheostat("plan", *arguments)
    assert answer.code == 2
    assert told in " ".join((answer.err + answer.out).lower().split())
    assert "Traceback" not in answer.err


BAD_DOCUMENTS = {
    "empty network": ("net.yaml", "kind: infrastructure\nname: none\nnodes: []\n", "node"),
    "nan delay": (
        "net.yaml",
        "kind: infrastructure\nname: x\nnodes: [{name: a}, {name: b}]\nlinks: [{from: a, to: b, delay_ms: .nan}]\n",
        "nan is not a finite number",
    ),
    "k = 0": (
        "app.yaml",
        "kind: application\nname: x\noperators: [{name: s, kind: source, rate_tps: 1, max_replicas: 0}]\n",
        "max_replicas",
    ),
    "weights all zero": (
        "goals.yaml",
        "kind: objective\nform: edrp\nweights: {response_time: 0, cost: 0, downtime: 0}\n",
        "sum to 0",
    ),
}


@pytest.mark.parametrize("case", BAD_DOCUMENTS)
def test_documents_that_make_no_sense_are_told_with_their_line(rheostat, tmp_path, case):
    file, text, words = BAD_DOCUMENTS[case]
    (tmp_path / file).write_text(text)
    application = tmp_path / file if file == "app.yaml" else "clicks.yaml"
    network = tmp_path / file if file == "net.yaml" else "sites.yaml"
    options = ("--objective", tmp_path / file) if file == "goals.yaml" else ()
    answer = rheostat("plan", application, network, *options)
    assert answer.code == 2
    assert words in answer.err
    assert str(tmp_path / file) in answer.err
    assert "Traceback" not in answer.err


def test_no_feasible_node_is_a_no(rheostat, tmp_path):
    (tmp_path / "tiny.yaml").write_text("kind: infrastructure\nname: tiny\nnodes: [{name: edge, resources: 0.5}]\n")
    (tmp_path / "app.yaml").write_text(
        "kind: application\nname: x\noperators: [{name: s, kind: source, rate_tps: 1}]\n"
    )
    answer = rheostat("plan", tmp_path / "app.yaml", tmp_path / "tiny.yaml")
    assert answer.code == 1
    assert "operator s needs 1 per replica, no node it may run on has more than 0.5" in answer.out


class TestProgress:
    def test_on_a_terminal_there_is_a_line_that_changes(self):
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=True, width=80)
        with Watching("exact plans", "cost", console) as progress:
            assert isinstance(progress, ProgressLine)
            progress.report(0.5, 0.25, 0.5)
        assert "cost 0.5000, bound 0.2500, gap 50.00 %" in screen.getvalue()

    def test_what_comes_before_the_clock_is_said_too(self):
        screen = io.StringIO()
        with Watching("exact plans", "cost", Console(file=screen, force_terminal=True, width=80)) as progress:
            progress.prepares("loads its code")
        assert "exact plans: loads its code" in screen.getvalue()

    def test_elsewhere_there_is_none(self):
        screen = io.StringIO()
        with Watching("exact plans", "cost", Console(file=screen)) as progress:
            assert progress is SILENT
        assert screen.getvalue() == ""


class TestFirstDeployment:
    def application(self) -> Application:
        operators = (
            Operator("in", Kind.SOURCE, rate_tps=1.0, code="a:b", pin="far"),
            Operator("out", Kind.SINK, code="a:b"),
        )
        return Application("two", operators, (Stream("in", "out"),))

    def network(self, room: float = 1.0) -> Infrastructure:
        nodes = (Node("near", resources=1.0), Node("far", resources=room), Node("by", resources=1.0))
        delays = DelayMatrix.of([[0, 50, 50], [50, 0, 1], [50, 1, 0]])
        return Infrastructure("three", nodes, delays_ms=delays)

    def test_without_a_planner_it_is_the_first_node_with_room_with_one_the_best(self):
        wanted = RunRequest(self.application(), self.network(), None)
        assert list(first_deployment(wanted)["out"]) == ["near"]
        assert list(first_deployment(wanted, "exact")["out"]) == ["by"]

    def test_an_objective_says_what_is_best(self):
        up = (Node("near", availability=0.99), Node("far", availability=0.99), Node("by", availability=0.5))
        network = replace(self.network(), nodes=up)
        quick = first_deployment(RunRequest(self.application(), network, None, OdpObjective(1.0)), "exact")
        safe = first_deployment(RunRequest(self.application(), network, None, OdpObjective(0.0, 1.0)), "exact")
        assert (list(quick["out"]), list(safe["out"])) == (["by"], ["near"])

    def test_what_a_planner_cannot_place_is_refused_with_its_reason(self):
        with pytest.raises(WrongUse, match="exact finds no deployment: operator in needs 1 per replica"):
            first_deployment(RunRequest(self.application(), self.network(0.5), None), "exact")

    def test_run_takes_one_or_the_other(self, rheostat, monkeypatch):
        monkeypatch.setattr(sys, "path", list(sys.path))
        both = rheostat("run", *CLICKS, "--planner", "exact", "--deployment", "lean.yaml")
        assert both.code == 2
        assert "give one of them" in both.err

    def test_run_takes_an_objective_for_its_planner_alone(self, rheostat, monkeypatch):
        monkeypatch.setattr(sys, "path", list(sys.path))
        alone = rheostat("run", *CLICKS, "--objective", "objective.yaml")
        assert alone.code == 2
        assert "--objective requires --planner; e.g. --planner exact" in alone.err
