"""A run lives in a folder of its own: a folder of the user is refused and left as it is."""

import pytest

from rheostat.controller.bring_up import Launch, opened
from rheostat.controller.run_folder import MARKER, claim_run_folder
from rheostat.errors import RuntimeFault
from rheostat.model.graph.application import Application, Kind, Operator
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.runtime.plan.run_paths import RunPaths


def held_by(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("names", [["application.yaml"], ["a", "b", "c", "d"], ["scratch"], [".git"]])
def test_a_folder_with_other_files_is_refused_and_left_as_it_was(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("mine")
    before = held_by(tmp_path)
    with pytest.raises(RuntimeFault, match="give a new or empty folder with --directory"):
        claim_run_folder(tmp_path, "shop")
    assert held_by(tmp_path) == before


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(RuntimeFault, match="is a file"):
        claim_run_folder(tmp_path / "run", "shop")


@pytest.mark.parametrize("made", [True, False])
def test_an_empty_or_a_missing_folder_becomes_a_run_and_may_be_taken_up_again(tmp_path, made):
    folder = tmp_path / "runs" / "shop"
    if made:
        folder.mkdir(parents=True)
    claim_run_folder(folder, "shop")
    (folder / "spark.log").write_text("")
    claim_run_folder(folder, "shop")
    assert set(held_by(folder)) == {MARKER, "spark.log"}


def test_a_claim_that_was_cut_off_can_be_made_again(tmp_path):
    (tmp_path / f"{MARKER}.tmp").write_text("{")
    claim_run_folder(tmp_path, "shop")
    assert set(held_by(tmp_path)) == {MARKER}


def test_a_run_from_before_there_were_markers_is_one(tmp_path):
    RunPaths(tmp_path).journal.write_bytes(b"")
    claim_run_folder(tmp_path, "shop")


def test_nothing_of_the_user_is_touched_when_a_run_is_opened_in_their_folder(tmp_path):
    (tmp_path / "application.yaml").write_text("kind: application")
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "thesis.txt").write_text("mine")
    application = Application("shop", (Operator("orders", Kind.SOURCE),), ())
    launch = Launch(application, Infrastructure("one", (Node("n1", 1),)), tmp_path)
    with (
        pytest.raises(RuntimeFault, match=r"holds files that are not of a run \(application.yaml, scratch\)"),
        opened(launch),
    ):
        pass
    assert (tmp_path / "scratch" / "thesis.txt").read_text() == "mine"
    assert (tmp_path / "application.yaml").read_text() == "kind: application"
    assert len(list(tmp_path.iterdir())) == 2
