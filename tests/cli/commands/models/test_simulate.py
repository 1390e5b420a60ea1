"""`rheostat simulate` and `compare-policies`: text, JSON, files, exit codes, and what is wrong with the input."""

from xml.etree import ElementTree as ET

import pytest

from rheostat.control.history.journal import from_line
from rheostat.report.recording import Recording

TOUR = ("clicks.yaml", "sites.yaml")
HILL = ("--workload", "ramp 100 1200 for 900; ramp 1200 100 for 900", "--hours", "0.5")


def test_a_policy_that_scales_keeps_an_objective_that_holding_breaks(rheostat):
    scaled = rheostat("simulate", *TOUR, *HILL, "--objective-ms", 100, "--json")
    held = rheostat("simulate", *TOUR, *HILL, "--objective-ms", 100, "--policy", "hold", "--json")
    assert (scaled.code, held.code) == (0, 1)
    assert scaled.json["ok"] is True
    assert scaled.json["summary"]["reconfigurations"] >= 4
    assert held.json["summary"]["reconfigurations"] == 0
    assert held.json["summary"]["mean_ms"] > 100 > scaled.json["summary"]["mean_ms"]
    assert scaled.json["granted"] <= scaled.json["asked"]
    assert "busy" in scaled.json["events"][0]["why"]


def test_settings_of_the_managers_are_set_by_name(rheostat):
    limited = rheostat("simulate", *TOUR, *HILL, "--control-set", "quota_replicas=5", "--json")
    assert limited.json["summary"]["reconfigurations"] == 0, "there are five, and there may be no more"
    wrong = rheostat("simulate", *TOUR, *HILL, "--control-set", "quota_replica=5")
    assert (wrong.code, "did you mean 'quota_replicas'?" in wrong.err) == (2, True)


def test_the_answer_is_a_table_with_a_line_for_the_policy(rheostat):
    answer = rheostat("simulate", *TOUR, *HILL, "--set", "scale_out=0.5", "--global", "token-bucket")
    assert answer.code == 0
    header, line, *_ = answer.out.splitlines()
    assert "mean ms" in header
    assert "downtime %" in header
    assert line.startswith("threshold")
    assert "granted" in answer.out.splitlines()[-1]


def test_the_run_is_written_as_a_page_a_recording_and_a_journal(rheostat, tmp_path):
    page, recording, journal = (tmp_path / name for name in ("run.html", "run.json", "run.jsonl"))
    answer = rheostat(
        "simulate", *TOUR, *HILL, "--report", page, "--recording", recording, "--journal", journal, "--seed", 3
    )
    assert answer.code == 0
    assert answer.err.count("written:") == 3
    assert "<svg" in page.read_text()
    assert "seed: 3" in page.read_text()
    assert Recording.load(recording).seconds[-1] == 1800
    assert {from_line(line).kind for line in journal.read_text().splitlines()} >= {"proposal", "decision", "effect"}


def test_what_a_policy_has_learned_is_written_for_a_run_to_begin_with(rheostat, tmp_path):
    learned = tmp_path / "learned.jsonl"
    answer = rheostat("simulate", *TOUR, *HILL, "--policy", "model-based", "--save-learned", learned)
    assert answer.code == 0
    entries = [from_line(line) for line in learned.read_text().splitlines()]
    assert {entry.facts["policy"] for entry in entries} == {"model-based"}
    assert any(sum(map(sum, entry.facts["memory"]["moves"])) > 10 for entry in entries)


def test_a_policy_can_learn_by_looking_and_go_on_with_that_deciding(rheostat, tmp_path):
    looked, acted = tmp_path / "looked.jsonl", tmp_path / "acted.jsonl"
    practice = ("simulate", *TOUR, *HILL, "--policy", "model-based")
    answer = rheostat(*practice, "--dry-run", "--save-learned", looked, "--json")
    assert answer.json["granted"] == 0 < answer.json["asked"]
    rheostat(*practice, "--learned", looked, "--save-learned", acted)

    def periods(path):
        entries = [from_line(line) for line in path.read_text().splitlines()]
        return sum(sum(map(sum, entry.facts["memory"]["moves"])) for entry in entries)

    assert periods(acted) > 1.5 * periods(looked)


def test_what_was_learned_with_other_settings_is_refused_before_anything_is_simulated(rheostat, tmp_path):
    learned = tmp_path / "learned.jsonl"
    rheostat("simulate", *TOUR, *HILL, "--policy", "model-based", "--save-learned", learned)
    answer = rheostat("simulate", *TOUR, *HILL, "--policy", "q-learning", "--learned", learned)
    assert answer.code == 2
    assert "model-based has learned it, not q-learning" in answer.err


def test_the_same_seed_gives_the_same_journal_byte_for_byte(rheostat, tmp_path):
    def journal(seed, name):
        path = tmp_path / name
        rheostat("simulate", *TOUR, *HILL, "--noise", 0.2, "--seed", seed, "--policy", "q-learning", "--journal", path)
        return path.read_bytes()

    assert journal(1, "a") == journal(1, "b")
    assert journal(1, "a") != journal(2, "c")


def test_a_recorded_trace_is_scaled_and_replayed_faster(rheostat, tmp_path):
    trace, out = tmp_path / "trace.csv", tmp_path / "run.json"
    trace.write_text("0,1\n3600,3\n7200,2\n")
    answer = rheostat(
        *("simulate", *TOUR, "--workload", trace, "--between", 50, 150, "--speed", 4, "--hours", 0.5),
        *("--recording", out, "--policy", "hold"),
    )
    assert answer.code == 0
    rates = Recording.load(out).column("rate_tps")
    assert (rates[0], max(rates), rates[-1]) == pytest.approx((50, 150, 100), rel=0.02)


def test_nodes_come_and_go_under_the_control_that_has_them(rheostat):
    told = rheostat("simulate", *TOUR, *HILL, "--control", "e2df", "--json").json
    assert any(event["kind"] == "node" for event in told["events"])


def test_a_planner_decides_in_every_period_if_it_is_asked_to(rheostat, tmp_path):
    journal = tmp_path / "run.jsonl"
    planned = ("--control", "s-edrp", "--objective", "goals.yaml", "--planner", "restricted", "--period", 120)
    told = rheostat("simulate", *TOUR, *HILL, *planned, "--objective-ms", 100, "--journal", journal, "--json").json
    assert told["ok"] is True
    assert told["asked"] == told["granted"] == told["summary"]["reconfigurations"] >= 2
    assert "ms are expected" in told["events"][0]["why"]
    plans = [entry for entry in map(from_line, journal.read_text().splitlines()) if entry.kind == "plan"]
    assert [entry.at_seconds for entry in plans] == [120.0 * n for n in range(16)]


def test_a_planner_may_only_place_what_there_is_and_needs_no_objective_then(rheostat):
    answer = rheostat("simulate", *TOUR, "--workload", "200", "--hours", 0.1, "--control", "s-odp")
    assert answer.code == 0
    assert answer.out.splitlines()[1].startswith("s-odp")


def test_a_planner_is_compared_with_policies(rheostat):
    chosen = ("--policies", "hold,s-edrp", "--objective", "goals.yaml", "--planner", "greedy", "--processes", 1)
    told = rheostat("compare-policies", *TOUR, *HILL, *chosen, "--objective-ms", 100, "--json").json
    held, planned = told["policies"]
    assert (held["policy"], planned["policy"]) == ("hold", "s-edrp")
    assert planned["reconfigurations"] > 0
    assert planned["violations"] < held["violations"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("--control", "s-edrp"), "s-edrp needs an objective; add --objective FILE", id="no objective"),
        pytest.param(("--control", "s-odp", "--planner", "exakt"), "did you mean 'exact'", id="an unknown planner"),
        pytest.param(
            ("--control", "s-edrp", "--objective", "lean.yaml"),
            "this describes a deployment, not an objective",
            id="no",
        ),
        pytest.param(("--planner", "exact"), "--planner applies only to s-edrp and s-odp", id="a planner without use"),
        pytest.param(("--objective", "goals.yaml"), "--objective applies only to", id="an objective without use"),
        pytest.param(
            ("--control", "s-odp", "--plan-seconds", "0"),
            "--plan-seconds: 0.0 is not a finite number > 0",
            id="no time",
        ),
        pytest.param(
            ("--control", "s-odp", "--policy", "hold"), "s-odp asks a planner, not a policy", id="a policy beside"
        ),
    ],
)
def test_what_is_wrong_about_planning_is_told_in_a_line(rheostat, arguments, told):
    answer = rheostat("simulate", *TOUR, *HILL, *arguments)
    assert answer.code in (1, 2)
    assert told in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
    assert len(answer.err.splitlines()) == 1


def test_nobody_grants_a_plan(rheostat):
    answer = rheostat("compare-policies", *TOUR, "--policies", "s-edrp+token-bucket", "--objective", "goals.yaml")
    assert answer.code == 2
    assert "s-edrp plans by itself" in answer.err


def test_policies_are_compared_with_the_one_that_knows_the_future(rheostat, tmp_path):
    picture = tmp_path / "costs.svg"
    chosen = ("--policies", "hold,threshold,threshold+token-bucket,oracle", "--processes", 1)
    told = rheostat("compare-policies", *TOUR, *HILL, *chosen, "--objective-ms", 100, "--svg", picture, "--json").json
    by_name = {each["policy"]: each for each in told["policies"]}
    assert list(by_name) == ["hold", "threshold", "threshold+token-bucket", "oracle"]
    assert by_name["oracle"]["by_oracle"] == 1
    assert by_name["hold"]["by_oracle"] > by_name["threshold"]["by_oracle"] > 1
    ET.fromstring(picture.read_text())  # noqa: S314 - our own
    text = rheostat("compare-policies", *TOUR, *HILL, "--policies", "hold,oracle", "--processes", 1)
    assert text.code == 0
    assert "by oracle" in text.out.splitlines()[0]


def test_several_processes_give_what_one_gives(rheostat):
    chosen = (*TOUR, "--workload", "300", "--hours", 0.1, "--policies", "hold,threshold", "--json")
    one, two = (rheostat("compare-policies", *chosen, "--processes", number) for number in (1, 2))
    assert one.json == two.json


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        pytest.param(
            ("--policy", "thresholds"), 1, "there is no policy 'thresholds'; did you mean 'threshold'", id="policy"
        ),
        pytest.param(("--set", "scale_out=1.5"), 1, "need 0 < scale_out < 1", id="a threshold that cannot settle"),
        pytest.param(("--set", "slack=1"), 1, "0 < slack < 1", id="a slack that cannot settle"),
        pytest.param(("--set", "scale_out"), 2, "'scale_out' is not `name=value`", id="a setting without a value"),
        pytest.param(("--set", "size=3"), 1, "threshold has no setting 'size'", id="an unknown setting"),
        pytest.param(
            ("--policy", "q-learning", "--set", 'weights={"reconfiguration": 0.5}'), 1, "sum to 1.3", id="weights"
        ),
        pytest.param(("--global", "tokens"), 1, "there is no policy 'tokens'", id="an unknown global policy"),
        pytest.param(("--control", "storm"), 1, "there is no kind of control 'storm'", id="an unknown control"),
        pytest.param(("--workload", "fast"), 2, "'fast' is not a number", id="a workload in words"),
        pytest.param(("--workload", "absent.csv"), 2, "absent.csv", id="a missing trace"),
        pytest.param(("--workload", "120", "--between", "1", "2"), 2, "leave out --between", id="a scaled curve"),
        pytest.param(("--between", "9", "3"), 2, "need 0 <= least <= greatest", id="rates the wrong way round"),
        pytest.param(("--hours", "0"), 2, "--hours: 0.0 is not a finite number > 0", id="no time"),
        pytest.param(("--objective-ms", "-1"), 2, "--objective-ms", id="a negative objective"),
        pytest.param(("--bound", "nobody=3"), 1, "there is no operator 'nobody'", id="a bound of nobody"),
        pytest.param(("--burst", "nobody=3"), 2, "there is no operator 'nobody'", id="a burst of nobody"),
        pytest.param(("--deployment", "goals.yaml"), 2, "not a deployment", id="a deployment that is none"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_without_a_traceback(rheostat, arguments, code, told):
    answer = rheostat("simulate", *TOUR, *arguments)
    assert answer.code == code
    assert told.lower() in " ".join(answer.err.lower().split())
    assert "Traceback" not in answer.err


def test_every_line_of_a_trace_that_cannot_be_used_is_told(rheostat, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("0,1\n60,many\n120,2\n180,2\n900,2\n")
    answer = rheostat("simulate", *TOUR, "--workload", trace)
    assert answer.code == 1
    assert f"{trace}:2: 'many' is not a rate" in answer.err
    assert f"{trace}:5: 720 s are missing" in answer.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("--weight", "perf=1"), "there is no weight 'perf'", id="an unknown weight"),
        pytest.param(("--weight", "performance=much"), "'much' is not a number", id="a weight in words"),
        pytest.param(("--weight", "performance=0.9"), "the weights sum to 1.5; make them sum to 1", id="off 1"),
        pytest.param(("--period", "0"), "--period: 0.0 is not a finite number > 0", id="no period"),
        pytest.param(("--settle", "-1"), "settle_seconds: -1.0 is not a finite number >= 0", id="a negative time"),
    ],
)
def test_what_is_wrong_about_a_comparison_is_told_in_a_line(rheostat, arguments, told):
    answer = rheostat("compare-policies", *TOUR, "--policies", "hold", *arguments)
    assert answer.code in (1, 2)
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_policy_nobody_knows_cannot_be_compared(rheostat):
    answer = rheostat("compare-policies", *TOUR, "--policies", "hold,oracel")
    assert answer.code == 2
    assert "did you mean 'oracle'" in answer.err
