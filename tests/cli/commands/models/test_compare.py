"""`rheostat compare`: several planners on one problem, with how far each is from the optimum."""

import pytest

PATIENT = ("--time-limit", 600)
"""The first search on a machine compiles itself, which may take most of a minute."""
EVENING = ("clicks.yaml", "sites.yaml", "--rate", 700, "--current", "lean.yaml", "--objective", "goals.yaml", *PATIENT)


def by_name(told):
    return {entry["planner"]: entry for entry in told["planners"]}


def test_each_says_how_far_it_is_from_the_optimum(rheostat):
    told = rheostat("compare", *EVENING, "--json").json
    entries = by_name(told)
    assert told["measure"] == "cost"
    assert told["optimum"] == pytest.approx(entries["exact"]["objective"])
    assert entries["exact"]["off_optimum"] == 0.0
    for entry in entries.values():
        assert entry["off_optimum"] == pytest.approx(entry["objective"] / told["optimum"] - 1, abs=1e-6)
    assert entries["round-robin"]["off_optimum"] > 0.1
    assert entries["rizou"]["reassignments"] == 2


def test_the_table_has_a_line_for_each(rheostat):
    answer = rheostat("compare", *EVENING)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == "clicks on sites"
    for name in ("exact", "restricted", "greedy", "t-storm", "pietzuch-true", "balanced"):
        assert any(line.startswith(f"{name} ") for line in lines)
    assert "…" not in answer.out, "nothing is cut off"


def test_only_those_that_were_named_in_their_order(rheostat):
    told = rheostat("compare", *EVENING, "--planner", "greedy", "--planner", "milp", "--json").json
    assert [entry["planner"] for entry in told["planners"]] == ["greedy", "milp"]
    assert told["optimum"] == pytest.approx(0.3280, abs=1e-4)


def test_without_a_proof_nobody_knows_how_far_it_is(rheostat):
    answer = rheostat("compare", *EVENING, "--planner", "greedy", "--planner", "t-storm")
    assert "no optimum was proven" in answer.out
    told = rheostat("compare", *EVENING, "--planner", "greedy", "--json").json
    assert (told["optimum"], told["planners"][0]["off_optimum"]) == (None, None)


def test_a_change_is_restricted_only_if_something_runs(rheostat):
    told = rheostat("compare", "clicks.yaml", "sites.yaml", "--json").json
    assert "restricted" not in by_name(told)
    assert told["measure"] == "utility"
    for entry in told["planners"]:
        if "deployment" in entry:
            assert entry["off_optimum"] == pytest.approx(1 - entry["objective"] / told["optimum"], abs=1e-6)
    assert by_name(told)["round-robin"]["off_optimum"] > 0


def test_one_that_cannot_be_asked_does_not_keep_the_others_from_answering(rheostat):
    options = ("--hop-ms", 2, "--planner", "milp", "--planner", "exact")
    answer = rheostat("compare", "clicks.yaml", "sites.yaml", *options)
    assert answer.code == 0
    assert "milp: the papers' programs know no price of a hop" in answer.out
    told = rheostat("compare", "clicks.yaml", "sites.yaml", *options, "--json").json
    assert [entry["status"] for entry in told["planners"]] == ["refused", "optimal"]


def test_if_nobody_finds_anything_the_answer_is_no(rheostat):
    answer = rheostat("compare", "clicks.yaml", "sites.yaml", "--rate", 5000)
    assert answer.code == 1
    assert "exact: operator parse gets 5000 tps, too much even for 4 replicas" in answer.out
    assert rheostat("compare", "clicks.yaml", "sites.yaml", "--rate", 5000, "--json").json["ok"] is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(("--planner", "gredy"), "did you mean 'greedy'?", id="a misspelled planner"),
        pytest.param(("--planner", "exact", "--planner", "exact"), "named twice: exact", id="the same twice"),
        pytest.param(("--time-limit", "nan"), "--time-limit", id="no time"),
        pytest.param(("--sync-seconds", "1"), "--current", id="the downtime of no change"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(rheostat, options, words):
    answer = rheostat("compare", "clicks.yaml", "sites.yaml", *options)
    assert answer.code == 2
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert rheostat("compare", "clicks.yaml", "sites.yaml", *options, "--json").json["ok"] is False
