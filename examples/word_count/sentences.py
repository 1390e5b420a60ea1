"""Random sentences: few words are frequent, most are rare, as in any language. Pure Python."""

from itertools import product

from rheostat import sources

VOCABULARY = 5_000
_SYLLABLES = [consonant + vowel for consonant, vowel in product("bdfghklmnprstvz", "aeiou")]
_LAW = sources.Zipf(VOCABULARY)


def word(rank: int) -> str:
    """The word of a rank; frequent words are short.

    >>> word(0), word(80)
    ('ba', 'bebi')
    """
    syllables = _SYLLABLES[rank % len(_SYLLABLES)]
    while rank >= len(_SYLLABLES):
        rank = rank // len(_SYLLABLES) - 1
        syllables = _SYLLABLES[rank % len(_SYLLABLES)] + syllables
    return syllables


WORDS = [word(rank) for rank in range(VOCABULARY)]


def sentence(draw: sources.Draw) -> tuple[str]:
    """A sentence of 5 to 15 words: 10 on average."""
    return (" ".join(WORDS[_LAW.draw(draw)] for _ in range(draw.between(5, 15))),)
