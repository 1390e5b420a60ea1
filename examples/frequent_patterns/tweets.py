"""Random tweets about topics that come and go. Pure Python."""

from examples.word_count.sentences import WORDS
from rheostat import sources

TOPIC_SECONDS = 90
"""How long a topic is talked about."""
CLOSING_WORDS = 1_500
"""Words of the last tweet of a finite run: enough of them to have one in each of 128 key groups (1 - p < 0.002)."""
_LAW = sources.Zipf(len(WORDS), 0.8)


def tweet(draw: sources.Draw) -> tuple[str]:
    """Four words. In half of the tweets two of them are the topic's: these make pairs frequent, for a while.

    The last tweet of a finite run has one word for every key group, each new: late enough (`closing_gap_seconds`) it
    moves the watermark of every instance of the detector past the last window, wherever its key groups lie.
    """
    if draw.is_last:
        return (" ".join(f"end{number}" for number in range(CLOSING_WORDS)),)
    words = [WORDS[_LAW.draw(draw)] for _ in range(4)]
    if draw.below(2):
        topic = sources.Draw(1, draw.event_time_us // (TOPIC_SECONDS * 1_000_000))
        theme = [WORDS[500 + topic.below(4000)] for _ in range(3)]
        words[:2] = [draw.pick(theme), draw.pick(theme)]
    return (" ".join(words),)
