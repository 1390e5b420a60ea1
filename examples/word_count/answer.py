"""The right answer, without Spark."""

from collections import Counter
from collections.abc import Iterable


def answer(sentences: Iterable[str]) -> Counter[str]:
    """How often each word occurs."""
    return Counter(word for sentence in sentences for word in sentence.split(" "))
