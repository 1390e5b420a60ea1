"""Managers steer a running application: a load triples and falls back, replicas follow, and nothing is lost.

One replica of `split` can do 50 sentences a second: 20 keep it 40 % busy, 60 are more than it can do.
"""

from statistics import median

import pytest
from experiments.spark.controlled import run_controlled
from experiments.spark.workload import Load, Phase

from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = [pytest.mark.spark, pytest.mark.alone]

LOW, HIGH, AGAIN = Phase(20, 24), Phase(60, 32), Phase(20, 30)
LOAD = Load((LOW, HIGH, AGAIN))
HIGH_FROM, HIGH_TO = LOW.seconds, LOW.seconds + HIGH.seconds
OTHERS = ("edf, model-based", "elastic-storm", "s-edrp")
"""Controls whose runs, as long as the first one's, are left to the acceptance."""
SLOWER = 2.5
"""A response time that is so many times what it was before the load rose is not back to normal."""


@pytest.fixture(scope="module")
def roomy_session():
    """As many task threads as the nodes have slots: operators that only sleep must not wait for one another."""
    session = create_session(SparkSettings(), 12, "closed loop")
    yield session
    session.stop()


@pytest.mark.parametrize(
    "control",
    ["edf, threshold", *(pytest.param(other, marks=pytest.mark.acceptance) for other in OTHERS)],
)
def test_replicas_follow_a_load_that_triples_and_falls_back(control, roomy_session, tmp_path):
    done = run_controlled(control, roomy_session, tmp_path, LOAD)
    assert (done.lost, done.duplicated) == (0, 0)
    # A planner may also move what it does not scale.
    scaled = [move.by for move in done.moves if move.operator == "split" and move.by]
    assert scaled[0] > 0, "the load rises first"
    assert scaled[-1] < 0, "and falls in the end"
    assert max(done.replicas("split", HIGH_FROM, HIGH_TO)) >= 2
    assert done.replicas("split", 0, done.recording.seconds[-1] + 1)[-1] == 1
    assert done.flaps(HIGH_FROM) == 0, "the load rises once and falls once: nobody goes out, in and out again"
    usual = median(ms for at, ms in responses(done) if 10 <= at < HIGH_FROM)
    assert done.back_under_ms(SLOWER * usual, HIGH_FROM, HIGH_TO) is not None, "while the load is still high"
    assert done.back_under_ms(SLOWER * usual, HIGH_TO, LOAD.seconds) is not None, "and after it has fallen"
    changes = [story for story in done.told if story.effect is not None]
    assert all(story.effect.facts["outcome"] == "done" for story in changes)
    for story in changes:
        told = dict(story.chapters())
        assert {"seen", "chosen", "done"} <= told.keys()


def responses(done):
    column = done.recording.column("response_mean_ms")
    return [(at, ms) for at, ms in zip(done.recording.seconds, column, strict=True) if ms is not None]
