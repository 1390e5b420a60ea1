"""The guides show what the program says, and the files that they say they show."""

import re

import pytest
from scripts.pages.consoles import answer, consoles

from tests.docs.pages import ROOT, text_of

TOUR = text_of("docs/tour.md")


def test_the_tour_has_commands():
    assert len(consoles(TOUR)) >= 5


@pytest.mark.parametrize(("command", "shown"), consoles(TOUR), ids=[command for command, _ in consoles(TOUR)])
def test_a_command_of_the_tour_says_what_is_shown(monkeypatch, command, shown):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert answer(command) == shown, "run: python -m scripts.pages.consoles"


def test_the_application_of_the_tour_is_the_one_in_its_file():
    assert text_of("examples/documents/clicks.yaml").strip() in TOUR


def test_the_picture_of_the_tour_is_the_one_that_the_command_draws(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT / "examples" / "documents")
    drawn = tmp_path / "picture.svg"
    answer(f"show clicks.yaml sites.yaml --deployment peak.yaml --svg {drawn}")
    assert shapes(drawn.read_text(encoding="utf-8")) == shapes(text_of("docs/images/clicks-on-sites.svg"))


def shapes(picture):
    """A picture without its numbers, whose last digits differ between machines, and without ids of clips."""
    return re.sub(r"\d+(\.\d+)?", "0", re.sub(r"\bp[0-9a-f]{10}\b", "clip", picture))


def test_the_application_of_the_guide_is_the_one_in_its_file():
    assert text_of("examples/orders/app.py") in text_of("docs/operators.md")
