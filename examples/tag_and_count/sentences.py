"""Random sentences with capitals and punctuation marks. Pure Python."""

from examples.word_count.sentences import WORDS
from rheostat import sources

_LAW = sources.Zipf(len(WORDS))
_ENDS = "....??!"


def sentence(draw: sources.Draw) -> tuple[int, str]:
    """(number, sentence of 3 to 7 words): 5 on average."""
    words = [WORDS[_LAW.draw(draw)] for _ in range(draw.between(3, 7))]
    words[0] = words[0].capitalize()
    if draw.below(3) == 0:
        words[1] += ","
    if draw.below(10) == 0:
        words.insert(1, "-")
    return draw.index, " ".join(words) + draw.pick(_ENDS)
