"""Guess of the known word that a misspelt word was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest_word(word: str, known: Iterable[str]) -> str | None:
    """The word itself if it is known, else the one that looks most like it, if any does.

    >>> closest_word("cuont", ["count", "source"])
    'count'
    >>> closest_word("nothing like it", ["count", "source"]) is None
    True
    """
    words = list(known)
    if word in words:
        return word
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    return close[0] if close else None
