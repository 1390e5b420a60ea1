"""The glossary has one row per word, and its words are used."""

import re

from tests.docs.pages import ROOT, pages, text_of

ROWS = re.findall(r"^\| ([a-z][\w -]+) \| (.+) \|$", text_of("docs/glossary.md"), re.MULTILINE)[1:]
WORDS = [word for word, _ in ROWS]


def texts():
    """All code and pages but the glossary."""
    files = [*(ROOT / "src").rglob("*.py"), *(page for page in pages() if page.name != "glossary.md")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files).lower()


def test_there_is_one_row_per_word_in_order():
    assert len(WORDS) > 70
    assert sorted(set(WORDS)) == WORDS


def test_two_words_do_not_share_a_meaning():
    meanings = [meaning for _, meaning in ROWS]
    assert len(set(meanings)) == len(meanings)


def test_every_word_is_used():
    used = re.sub(r"[\s_-]+", " ", texts())
    assert [word for word in WORDS if word.replace("-", " ") not in used] == []
