"""Decision records are short, numbered, complete and in the index."""

import re

import pytest
from scripts.pages.decisions import FOLDER, NUMBERED, PARTS, index, records


def test_the_index_is_that_of_the_records():
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == index(), "run: python -m scripts.pages.decisions"


def test_numbers_are_given_once_and_without_a_gap():
    numbers = [int(record.name[:4]) for record in records()]
    assert len(numbers) > 30
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("record", records(), ids=lambda record: record.stem)
def test_a_record_has_all_parts_and_is_short(record):
    text = record.read_text(encoding="utf-8")
    assert NUMBERED.fullmatch(record.name)
    found = re.findall(r"^(?:## (?=\w+$)|(?=Area: ))(\w+)", text, re.MULTILINE)
    assert tuple(found[: len(PARTS)]) == PARTS
    assert len(text.split()) <= 550
