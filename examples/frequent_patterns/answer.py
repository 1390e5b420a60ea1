"""The right answer, without Spark."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from examples.frequent_patterns.definition import MORE_THAN, PAIRED_WORDS, SLIDE_SECONDS, WINDOW_SECONDS


def patterns(text: str) -> list[str]:
    """Words and pairs of words, each once."""
    words = sorted(set(text.split(" ")))
    return words + [" ".join(pair) for pair in combinations(words[:PAIRED_WORDS], 2)]


def answer(tweets: Iterable[tuple[int, str]]) -> Counter[tuple[int, str, int]]:
    """(end of the window in seconds since 1970, pattern, tweets) of all that are frequent, each once.

    Tweets are (event time in microseconds, text). Windows that the last tweet does not close are left out.
    """
    counts: Counter[tuple[int, str]] = Counter()
    latest_us = 0
    for event_time_us, text in tweets:
        latest_us = max(latest_us, event_time_us)
        first_end = (event_time_us // (SLIDE_SECONDS * 1_000_000) + 1) * SLIDE_SECONDS
        for pattern in patterns(text):
            for window in range(WINDOW_SECONDS // SLIDE_SECONDS):
                counts[first_end + window * SLIDE_SECONDS, pattern] += 1
    closed = {key: n for key, n in counts.items() if n > MORE_THAN and key[0] * 1_000_000 <= latest_us}
    return Counter((end, pattern, n) for (end, pattern), n in closed.items())
