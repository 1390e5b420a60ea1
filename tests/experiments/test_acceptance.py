"""The runner of the long proofs."""

import json
from pathlib import Path

import pytest
from experiments.acceptance import PROOFS, Proof, main, proven, summary, table

ROOT = Path(__file__).parents[2]
HOLDS = Proof("one is one", 1.5, "-c assert(1==1)")
FAILS = Proof("one is two", 2.0, "-c assert(1==2)")


def test_each_proof_is_announced_and_a_failed_one_does_not_stop_the_next(capfd):
    found = proven({"wrong": FAILS, "right": HOLDS})
    assert [(one.name, one.passed) for one in found] == [("wrong", False), ("right", True)]
    told = capfd.readouterr().err
    assert "-- 1/2 wrong: one is two (about 2 min)" in told
    assert "-- wrong FAILED after 0." in told
    assert "-- right passed after 0." in told


def test_the_summary_says_what_was_measured_beside_what_is_usual():
    found = proven({"right": HOLDS, "wrong": FAILS})
    assert [line.split()[:2] for line in table(found).splitlines()] == [["right", "passed"], ["wrong", "FAILED"]]
    told = json.loads(json.dumps(summary(found)))
    assert told["passed"] is False
    assert told["proofs"][0] == {"name": "right", "passed": True, "seconds": found[0].seconds, "usual_minutes": 1.5}


def test_commands_run_in_a_copy_and_leave_the_results_here_alone(capfd):
    where = Proof("prints its folder", 0.1, "-c print(__import__('os').getcwd())")
    proven({"where": where})
    (line,) = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("--")]
    assert Path(line) != ROOT


def test_names_and_durations_are_listed(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*PROOFS, "all"]
    assert all(" min" in line for line in lines)


def test_a_proof_that_is_none_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["wlaks"])
    assert ended.value.code == 2
    assert "no proof is named wlaks; choose from walks" in capsys.readouterr().err


@pytest.mark.parametrize("name", PROOFS)
def test_what_a_proof_runs_is_there(name):
    _, module, *rest = PROOFS[name].arguments.split()
    if module == "pytest":
        assert all((ROOT / one.partition("::")[0]).exists() for one in rest if one.startswith("tests/"))
    else:
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists()


def test_every_test_that_is_marked_is_run_by_one_proof():
    marked = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.acceptance" in path.read_text() and path != Path(__file__)
    }
    run = [part.partition("::")[0] for proof in PROOFS.values() for part in proof.arguments.split()]
    assert sorted(one for one in run if one.startswith("tests/")) == sorted(marked)
