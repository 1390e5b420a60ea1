"""Comparison of the mistakes reported for a broken document with those expected.

A document under test carries its expectations itself, as comments on the lines where mistakes are to be told:
`#! part of what is wrong | part of the remedy`, several on a line one after the other.
"""

from pathlib import Path

import pytest

from rheostat.model.documents import InvalidDocument, read


def told(path: Path) -> list[tuple[int, str]]:
    """Line and message of every mistake in a file."""
    with pytest.raises(InvalidDocument) as caught:
        read(path)
    assert {mistake.file for mistake in caught.value.mistakes} == {str(path)}
    return [(mistake.line, f"{mistake.what} | {mistake.remedy}") for mistake in caught.value.mistakes]


def expected(text: str) -> list[tuple[int, str, str]]:
    """Line, part of what is wrong and part of the remedy, from the comments of a document."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for mark in line.split("#!")[1:]:
            what, _, remedy = mark.partition("|")
            found.append((number, what.strip(), remedy.strip()))
    return found


def assert_told(path: Path, text: str) -> None:
    """Exactly the expected mistakes are told: all of them, on their lines, and nothing more."""
    path.write_text(text, encoding="utf-8")
    mistakes, wanted = told(path), expected(text)
    assert wanted, "the document says nothing of its mistakes"
    listing = "\n".join(f"{line}: {message}" for line, message in mistakes)
    assert sorted(line for line, _ in mistakes) == sorted(line for line, *_ in wanted), listing
    for line, what, remedy in wanted:
        same = [message for at, message in mistakes if at == line]
        assert any(what in m.partition(" | ")[0] and remedy in m.partition(" | ")[2] for m in same), listing
