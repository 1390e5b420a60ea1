"""explain, history and report of a run; and pausing its managers while it goes on."""

import json
from pathlib import Path

import pytest
from tests.cli.quiet_nodes import quiet_run
from tests.simulation.scenes import CHAIN, SITES, chain

from rheostat.control.history.sqlite_journal import SqliteJournal
from rheostat.control.loop.clocks import SystemClock
from rheostat.control.loop.ports import Done, Entry
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.controller.recorder import RecordingFile
from rheostat.model.documents import write
from rheostat.model.network.membership import with_node
from rheostat.model.network.resources import Node
from rheostat.model.observation import Sample, Subject
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.simulation.studies.simulated_run import simulate

START = 1_700_000_000.0
"""Runs on Spark are journaled by the wall's time."""


@pytest.fixture
def here(rheostat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return rheostat


@pytest.fixture
def run(tmp_path):
    """The journal and the recording of a run: a load that rises, a manager that follows."""
    directory = tmp_path / ".rheostat" / "chain"
    directory.mkdir(parents=True)
    (directory / "application.yaml").write_text(write(CHAIN))
    (directory / "infrastructure.yaml").write_text(write(SITES))
    done = simulate(chain("50 for 300; 150 for 600"), ControlSettings("edf"), 900.0)
    journal = SqliteJournal(RunPaths(directory).journal)
    for _, entry in done.journal.read():
        journal.append(type(entry)(entry.kind, START + entry.at_seconds, entry.facts))
    journal.close()
    file = RecordingFile(directory, CHAIN, {"control": "edf", "objective_ms": "250"})
    samples = [
        Sample(Subject.application("chain"), START, {"response_mean_ms": 12.0}),
        Sample(Subject.operator("source"), START, {"output_rate": 50.0}),
    ]
    file.add(samples, chain().deployment, SITES)
    changes = [note for note in done.recording.notes if note.kind == "done"]
    file.note(changes[0].what, Done(1.5))
    return directory


def test_history_lists_what_was_changed_by_the_number_that_explain_takes(run, here):
    rows = here("history", "--json").json["changes"]
    assert rows[0]["outcome"] == "done"
    assert rows[0]["change"].startswith("scale-out work: {a:1} -> ")
    assert rows[0]["seconds"] >= 300, "the load rises after five minutes"
    shown = here("history").out
    assert str(rows[0]["number"]) in shown
    told = here("explain", str(rows[0]["number"]), "--json").json["decisions"]
    assert [one["number"] for one in told] == [rows[0]["number"]]


def test_a_long_reason_takes_more_lines_and_leaves_numbers_and_times_whole(run, here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    journal = SqliteJournal(RunPaths(run).journal)
    facts = {"by": "somebody", "change": "scale-out work: {a:1} -> {a:1, b:1}", "predicted": {}}
    reasons = ["node b does not answer: the connection was refused by whatever listens there now"]
    journal.append(Entry("by hand", START + 1000.0, {**facts, "outcome": "rolled back", "reasons": reasons}))
    journal.close()
    shown = " ".join(here("history").out.split())
    assert "00:16:40" in shown
    assert "…" not in shown


def test_a_decision_is_told_as_seen_proposed_chosen_expected_done_and_measured(run, here):
    number = here("history", "--json").json["changes"][0]["number"]
    told = here("explain", str(number))
    assert told.code == 0
    headings = [line.split()[0] for line in told.out.splitlines() if line.startswith("  ")]
    assert headings == ["seen", "proposed", "chosen", "expected", "done", "measured"]
    assert "work 100% busy" in told.out or "busy, more than 70%" in told.out
    assert "it stood still for" in told.out


def test_what_was_refused_is_told_with_who_refused_it_and_why(tmp_path, here):
    directory = tmp_path / "tight"
    directory.mkdir()
    settings = ControlSettings("edf", quota_replicas=3)
    done = simulate(chain("150 for 300"), settings, 120.0)
    journal = SqliteJournal(RunPaths(directory).journal)
    for _, entry in done.journal.read():
        journal.append(entry)
    journal.close()
    told = here("explain", "--directory", str(directory)).out
    assert "refused" in told
    assert "chosen    nothing: everything stays as it is" in told


def test_without_a_number_the_last_decision_that_was_about_something_is_told(run, here):
    (told,) = here("explain", "--json").json["decisions"]
    every = here("explain", "--all", "--json").json["decisions"]
    assert told == every[-1]


def test_a_decision_that_never_was_and_a_place_without_a_run_are_told_plainly(run, here, tmp_path):
    wrong = here("explain", "999999")
    assert (wrong.code, "there is no decision 999999" in wrong.err) == (2, True)
    nowhere = here("history", "--directory", str(tmp_path / "nowhere"))
    assert (nowhere.code, "nothing was run in" in nowhere.err) == (2, True)


def test_the_report_is_one_page_with_the_changes_and_their_reasons(run, here):
    told = here("report", "--json").json
    page = (run / "report.html").read_text()
    assert (told["ok"], told["moments"], told["changes"]) == (True, 1, 1)
    assert (here("report", "--out", "mine.html").code, Path("mine.html").read_text()) == (0, page)
    assert "scale-out work" in page
    assert "busy, more than 70%" in page
    assert "http" not in page.replace("http://www.w3.org", ""), "it works offline"


def test_the_report_has_nodes_that_came_and_went(run, here):
    file = RecordingFile(run, CHAIN, {"control": "e2df"})
    sample = [Sample(Subject.application("chain"), START + 10, {"response_mean_ms": 12.0})]
    file.add(sample, chain().deployment, SITES)
    file.add(sample, chain().deployment, with_node(SITES, Node("small-1", 1.0)))
    file.add(sample, chain().deployment, SITES)
    here("report")
    page = (run / "report.html").read_text()
    assert "node small-1 is up" in page
    assert "node small-1 is gone" in page


def test_a_recording_that_was_cut_off_in_a_line_is_read_up_to_there(run, here):
    path = run / "recording.jsonl"
    path.write_text(path.read_text() + '{"moment": 17')
    assert here("report").code == 0
    assert json.loads(path.read_text().splitlines()[0])["run"]["control"] == "edf"


class TestPausing:
    @pytest.fixture
    def running(self, tmp_path):
        with quiet_run(tmp_path / ".rheostat" / "words") as found:
            yield found

    def test_managers_that_are_there_are_paused_and_resumed(self, running, here):
        running.controller.steer(ControlSettings("edf"), SystemClock())
        assert here("status", "--json").json["control"] == {"paused": False, "stories": []}
        assert here("pause-control").out.strip() == "control is paused"
        assert here("status", "--json").json["control"]["paused"] is True
        assert here("resume-control", "--json").json["paused"] is False
        running.controller.finish()

    @pytest.mark.usefixtures("running")
    def test_a_change_by_hand_is_part_of_the_history(self, here):
        assert here("scale", "split=2").code == 0
        (row,) = here("history", "--json").json["changes"]
        assert row["outcome"] == "done"
        assert row["change"].startswith("scale-out split")
        assert "requested by hand" in here("explain").out

    @pytest.mark.usefixtures("running")
    def test_without_managers_that_is_refused(self, here):
        refused = here("pause-control")
        assert refused.code == 2
        assert "runs without control" in refused.err
