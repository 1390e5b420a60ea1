"""Subjects of commits are checked from the commit that added the check on, also in a shallow clone."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "subjects"


def git(folder, *arguments):
    who = (
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "protocol.file.allow=always",
    )
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607


def checked(folder):
    return subprocess.run([folder / "scripts" / "subjects"], capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path):
    """A commit with a bad subject, and then the one that adds the check."""
    folder = tmp_path / "repository"
    (folder / "scripts").mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "Added what was there before the rule.")
    shutil.copy(SCRIPT, folder / "scripts" / "subjects")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Check subjects")
    return folder


def commit(folder, subject):
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)


def test_earlier_subjects_are_not_checked(repository):
    commit(repository, "Bring nodes up")
    assert checked(repository).returncode == 0


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        ("Add " + "x" * 69, "73 characters, at most 72"),
        ("Added a policy", "begin with an imperative"),
        ("Adding a policy", "begin with an imperative"),
        ("The policy is a value", "begin with an imperative"),
        ("Add a policy.", "leave out the full stop"),
    ],
)
def test_a_bad_subject_is_told_with_its_reason(repository, subject, why):
    commit(repository, subject)
    told = checked(repository)
    assert told.returncode == 1
    assert told.stderr.startswith(subject)
    assert why in told.stderr


def test_72_characters_are_not_too_many(repository):
    commit(repository, "Add " + "x" * 68)
    assert checked(repository).returncode == 0


def test_a_shallow_clone_is_checked_as_far_as_it_goes(repository, tmp_path):
    commit(repository, "Add a policy")
    git(tmp_path, "clone", "--quiet", "--depth", "1", repository.as_uri(), "shallow")
    assert checked(tmp_path / "shallow").returncode == 0


def test_an_archive_without_commits_passes(repository):
    shutil.rmtree(repository / ".git")
    assert checked(repository).returncode == 0
