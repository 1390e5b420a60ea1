from collections import Counter

import pytest
from examples.frequent_patterns.answer import answer, patterns
from examples.frequent_patterns.app import application
from examples.frequent_patterns.definition import MORE_THAN, WINDOW_SECONDS
from examples.frequent_patterns.tweets import CLOSING_WORDS, tweet
from examples.plain import run_plain
from tests.examples.documents import document_of, without_service_times

from rheostat.model.documents import read_application
from rheostat.runtime.ends.generation import generation_of

CURVE = "ramp 4 12 for 120; 12"
FINITE = {"total": 1500, "pace": "all", "rows_per_batch": 400, "seed": 2}


def tweets():
    described = {"rows": f"{tweet.__module__}:tweet", "curve": CURVE, "event_time": "ts", "closing_gap_seconds": "120"}
    stream = generation_of(described | {name: str(value) for name, value in FINITE.items()})
    return [(time, values[0]) for time, values in stream.rows(0, FINITE["total"])]


def test_words_and_pairs_of_words_are_patterns_once_per_tweet():
    assert patterns("b a b") == ["a", "b", "a b"]
    assert len(patterns("d c b a")) == 10


def test_a_pattern_is_frequent_in_a_window_with_more_than_twenty():
    second = 1_000_000
    calm = [(n * second, "x") for n in range(MORE_THAN)]
    assert answer([*calm, (1000 * second, "end")]) == Counter()
    busy = [*calm, (19 * second, "x"), (1000 * second, "end")]
    assert answer(busy) == Counter({(end, "x", 21): 1 for end in (20, 40, 60)})


def test_topics_make_pairs_frequent_for_a_while():
    found = answer(tweets())
    pairs = {pattern for _, pattern, _ in found if " " in pattern}
    ends = {end for end, _, _ in found}
    assert pairs
    assert 0 < sum(1 for end, pattern, _ in found if pattern == min(pairs)) < len(ends)


def test_the_last_tweet_of_a_finite_run_closes_every_window_in_every_key_group():
    *others, (time, text) = tweets()
    assert time - others[-1][0] >= 2 * WINDOW_SECONDS * 1_000_000
    assert len(set(text.split())) == CLOSING_WORDS
    assert not set(text.split()) & {word for _, other in others for word in other.split()}


def test_the_document_and_the_program_are_one_application():
    assert read_application(document_of("frequent_patterns")) == without_service_times(application().build())


@pytest.mark.spark
@pytest.mark.parametrize(
    ("replicas", "service_ms"), [pytest.param(1, 0.0, id="plain"), pytest.param(2, 0.01, id="with a service time")]
)
def test_every_window_is_reported_once_and_right(replicas, service_ms, spark, tmp_path):
    built = application(CURVE, replicas=replicas, service_ms=service_ms, **FINITE).build()
    output = run_plain(built, spark, tmp_path)["Reporter"]
    got = Counter((int(row["window_end"].timestamp()), row["pattern"], row["tweets"]) for row in output)
    assert got == answer(tweets())
