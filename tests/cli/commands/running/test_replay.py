"""A journal is decided again: the same, or with the first difference told. Every journal here is of a real run."""

import json
from dataclasses import replace

import pytest
from tests.simulation.scenes import CHAIN, SITES, chain

from rheostat.control.history.journal import from_line, to_line
from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.setup.control_record import ControlRecord
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.simulation.studies.simulated_run import simulate

TOUR = ("clicks.yaml", "sites.yaml")
HILL = ("--workload", "ramp 100 1200 for 300; ramp 1200 100 for 300", "--hours", "0.15", "--sample", "10")


def simulated(rheostat, path, *options):
    rheostat("simulate", *TOUR, *HILL, *options, "--journal", path)
    return [from_line(line) for line in path.read_text().splitlines()]


def written(path, entries):
    path.write_text("".join(f"{to_line(entry)}\n" for entry in entries))
    return path


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--noise", 0.2, "--measurement-noise", 0.1), id="threshold"),
        pytest.param(("--policy", "q-learning", "--seed", 3), id="a policy that learns"),
        pytest.param(("--global", "token-bucket", "--policy", "true-rate"), id="tokens"),
        pytest.param(("--control", "e2df"), id="elastic nodes"),
        pytest.param(("--control", "elastic-storm"), id="one central manager"),
        pytest.param(("--dry-run",), id="a dry run"),
        pytest.param(("--control-set", "migrations=true", "--bound", "sessions=50"), id="settings of their own"),
    ],
)
def test_a_simulated_run_is_decided_the_same_again(rheostat, tmp_path, options):
    entries = simulated(rheostat, tmp_path / "run.jsonl", *options)
    told = rheostat("replay", tmp_path / "run.jsonl", "--json")
    assert told.code == 0, told.out + told.err
    kinds = {"proposal", "application proposal", "decision", "region proposal", "migration", "plan"}
    taken = [entry for entry in entries if entry.kind in kinds]
    assert (told.json["ok"], told.json["difference"]) == (True, None)
    assert told.json["decided"] + told.json["skipped"] == len(taken)
    # A plan that waited for rates was none, and is not made again.
    assert told.json["skipped"] == len([entry for entry in taken if "held" in entry.facts])
    assert told.json["decided"] >= 5


def test_a_doctored_proposal_is_told_with_its_number_and_both_decisions(rheostat, tmp_path):
    entries = simulated(rheostat, tmp_path / "run.jsonl")
    scaled = (i for i, entry in enumerate(entries) if entry.kind == "proposal" and entry.facts["request"] is not None)
    place = next(scaled)
    facts = dict(entries[place].facts)
    was = facts["proposal"]["wanted"]
    facts["proposal"] = {**facts["proposal"], "wanted": was + 7}
    doctored = [*entries[:place], replace(entries[place], facts=facts), *entries[place + 1 :]]
    path = written(tmp_path / "doctored.jsonl", doctored)
    told = rheostat("replay", path, "--json")
    found = told.json["difference"]
    assert (told.code, told.json["ok"]) == (1, False)
    assert (found["number"], found["by"]) == (place + 1, facts["by"])
    assert found["seconds"] == entries[place].at_seconds
    assert found["then"].startswith(f"{was + 7} replicas")
    assert found["now"].startswith(f"{was} replicas")
    shown = rheostat("replay", path)
    assert shown.code == 1
    assert f"decision {place + 1} of the {facts['by']} differs" in shown.out
    assert f"  decided       {was + 7} replicas" in shown.out
    assert f"  would decide  {was} replicas" in shown.out


def test_a_grant_that_was_made_up_is_a_difference(rheostat, tmp_path):
    entries = simulated(rheostat, tmp_path / "run.jsonl")
    place = next(i for i, entry in enumerate(entries) if entry.kind == "decision" and entry.facts["granted"])
    facts = {**entries[place].facts, "granted": []}
    path = written(
        tmp_path / "doctored.jsonl", [*entries[:place], replace(entries[place], facts=facts), *entries[place + 1 :]]
    )
    found = rheostat("replay", path, "--json").json["difference"]
    assert (found["number"], found["then"]) == (place + 1, "grants nothing")
    assert found["now"].startswith("grants scale-out")


def test_other_settings_would_have_decided_otherwise(rheostat, tmp_path):
    entries = simulated(rheostat, tmp_path / "run.jsonl")
    facts = json.loads(json.dumps(entries[0].facts))
    facts["settings"]["options"] = {"scale_out": 0.3}
    path = written(tmp_path / "doctored.jsonl", [replace(entries[0], facts=facts), *entries[1:]])
    assert rheostat("replay", path).code == 1


@pytest.fixture
def run(tmp_path):
    """The directory of a run that two controllers owned one after the other."""
    directory = tmp_path / "run"
    settings = ControlSettings("edf", "q-learning", memory_every=3)
    record = ControlRecord(settings, CHAIN, SITES)
    done = simulate(chain("50 for 300; 150 for 600"), settings, 900.0)
    again = simulate(chain("150 for 300"), settings, 300.0, learned=done.lessons)
    for entries in (done.journal.read(), [(0, entry) for entry in done.lessons], again.journal.read()):
        journal = SqliteJournal(RunPaths(directory).journal)
        if entries is not None:
            lines = list(entries)
            if lines and lines[0][1].kind != "memory":
                journal.append(record.entry(lines[0][1].at_seconds))
            for _, entry in lines:
                journal.append(entry)
        journal.close()
    return directory


def test_the_journal_of_a_run_is_found_in_its_directory_and_goes_on_over_a_takeover(rheostat, run):
    told = rheostat("replay", "--directory", run)
    assert told.code == 0, told.out + told.err
    assert "decisions were taken again, all the same" in told.out


def test_what_cannot_be_replayed_is_told_plainly(rheostat, tmp_path):
    entries = simulated(rheostat, tmp_path / "run.jsonl")
    bare = rheostat("replay", written(tmp_path / "bare.jsonl", entries[1:]))
    assert (bare.code, "does not say with which settings" in bare.err) == (2, True)
    (tmp_path / "no.jsonl").write_text("no journal\n")
    unread = rheostat("replay", tmp_path / "no.jsonl")
    assert (unread.code, "cannot be read" in unread.err) == (2, True)
    both = rheostat("replay", tmp_path / "no.jsonl", "--directory", tmp_path)
    assert (both.code, "a journal and --directory" in both.err) == (2, True)
    assert rheostat("replay", "--directory", tmp_path).code == 2


def test_a_replay_changes_nothing(rheostat, run):
    path = RunPaths(run).journal
    before = path.read_bytes()
    rheostat("replay", "--directory", run)
    assert path.read_bytes() == before
