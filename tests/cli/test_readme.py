"""The README shows what the program says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = re.findall(r"```console\n\$ rheostat (.+)\n((?:.*\n)*?)```", README)


def test_the_tour_has_commands():
    assert len(TOUR) >= 5


@pytest.mark.parametrize(("command", "shown"), TOUR, ids=[command for command, _ in TOUR])
def test_a_command_of_the_tour_says_what_is_shown(rheostat, monkeypatch, command, shown):
    monkeypatch.chdir(ROOT)
    said = [line.rstrip() for line in rheostat(*command.split()).out.rstrip().splitlines()]
    assert said == shown.splitlines()


def test_the_application_of_the_tour_is_the_one_in_its_file():
    assert (ROOT / "examples/documents/clicks.yaml").read_text(encoding="utf-8").strip() in README


def test_the_application_of_the_guide_is_the_one_in_its_file():
    guide = (ROOT / "docs/operators.md").read_text(encoding="utf-8")
    assert (ROOT / "examples/orders/app.py").read_text(encoding="utf-8") in guide


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/operators.md"])
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
