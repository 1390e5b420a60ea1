"""The right answer, without Spark."""

from collections import Counter
from collections.abc import Iterable

TAGS = {"?": "question", "!": "exclamation"}


def answer(sentences: Iterable[str]) -> dict[tuple[str, str], str]:
    """The last line for every (tag, word)."""
    counts: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        tag = TAGS.get(sentence[-1:], "statement")
        for token in sentence.split(" "):
            word = "".join(letter for letter in token.lower() if "a" <= letter <= "z")
            if word:
                counts[tag, word] += 1
    return {(tag, word): f"{count} x {word} in a {tag}" for (tag, word), count in counts.items()}
