"""Commit subjects are imperative and short, from the commit on that adds the check."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = Path("scripts/subjects")
GIT = shutil.which("git") or "git"


@pytest.fixture
def repository(tmp_path):
    """A repository with a commit from before the check, then the one that adds it."""
    root = tmp_path / "origin"
    (root / "scripts").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    commit(root, "The story of everything that was done before anything was checked, told at length.")
    shutil.copy(ROOT / CHECK, root / CHECK)
    git(root, "add", str(CHECK))
    commit(root, "Check commit subjects")
    return root


def git(root, *arguments):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([GIT, "-C", str(root), *who, *arguments], check=True, capture_output=True)


def commit(root, subject):
    git(root, "commit", "-q", "--no-verify", "--allow-empty", "-m", subject)


def checked(root):
    return subprocess.run([sys.executable, CHECK], cwd=root, capture_output=True, text=True, check=False)


def test_what_was_committed_before_the_check_is_not_judged(repository):
    commit(repository, "Add a planner")
    done = checked(repository)
    assert (done.returncode, done.stdout) == (0, "2 commit subjects are fine\n")


@pytest.mark.parametrize(
    "subject",
    [
        "Process orders in the order of their arrival",
        "Bring agents up in parallel",
        "Seed the random walks",
        "Focus on the slowest test",
        "Pass: " + "x" * 66,
    ],
)
def test_imperatives_are_fine(repository, subject):
    commit(repository, subject)
    assert checked(repository).returncode == 0


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        pytest.param("Add " + "x" * 69, "has 73 characters; at most 72", id="too long"),
        pytest.param("Add a planner.", "ends with a period", id="a period"),
        pytest.param("Added a planner", "not begin with an imperative", id="past"),
        pytest.param("Adds a planner", "not begin with an imperative", id="third person"),
        pytest.param("Adding a planner", "not begin with an imperative", id="participle"),
        pytest.param("Kept the planner", "not begin with an imperative", id="an irregular past"),
        pytest.param("The planner is added", "such as Add or Measure, but with 'The'", id="article"),
        pytest.param("What a planner is for", "not begin with an imperative", id="question"),
        pytest.param("12 planners", "not begin with an imperative", id="number"),
    ],
)
def test_what_is_wrong_is_told_with_the_commit_and_the_remedy(repository, subject, told):
    commit(repository, subject)
    commit(repository, "Merge nothing")
    done = checked(repository)
    assert done.returncode == 1
    assert told in done.stderr
    number = subprocess.check_output([GIT, "-C", repository, "rev-parse", "HEAD^"], text=True)
    assert number[:10] in done.stderr
    assert "git commit --amend" in done.stderr


def test_merge_commits_are_left_out(repository):
    git(repository, "checkout", "-q", "-b", "side", "HEAD^")
    commit(repository, "Add a side")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "Merged the side into everything there is.", "side")
    assert checked(repository).returncode == 0


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_shallow_clone_passes(repository, tmp_path, depth):
    for subject in ("Add one", "Add two"):
        commit(repository, subject)
    git(tmp_path, "clone", "-q", "--depth", str(depth), f"file://{repository}", "shallow")
    assert checked(tmp_path / "shallow").returncode == 0
