"""State is copied ahead, repartitioned where it lies, or refused before anything is touched."""

import shutil

import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.checkpoints.helpers import COUNT, contents, interrupted, some
from tests.runtime.checkpoints.instances import assert_exact
from tests.runtime.checkpoints.kinds import (
    Kind,
)

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints import capabilities as support
from rheostat.runtime.checkpoints import completion as construction
from rheostat.runtime.checkpoints.relocate import copy_ahead, relocate
from rheostat.runtime.checkpoints.repartition import repartition

pytestmark = pytest.mark.spark


def test_copied_ahead_while_it_runs_only_the_rest_is_left_to_copy(operator_of, rounds):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    operator.turn += 1
    query = operator.start(operator.live["a"], rounds[1], trigger={"processingTime": "0 seconds"})
    query.processAllAvailable()
    target = operator.folder / "elsewhere" / "a"
    ahead = copy_ahead(operator.checkpoint("a"), target)
    assert construction.is_partial(target)
    operator.turn += 1
    operator.source(operator.live["a"], 0, rounds[2])
    query.processAllAvailable()
    copy_ahead(operator.checkpoint("a"), target)
    query.stop()
    rest = relocate(operator.checkpoint("a"), target)
    assert rest.files < ahead.files
    assert relocate(operator.checkpoint("a"), target).files == 0, "repeating it is safe"
    shutil.rmtree(operator.checkpoint("a").path)
    operator.places["a"] = target
    operator.run(rounds[3])
    assert_exact(operator, [row for rows in rounds[:4] for row in rows])


def test_an_interrupted_relocation_goes_on(operator_of, rounds, monkeypatch):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    before = contents(operator.checkpoint("a").path)
    with monkeypatch.context() as patch:
        patch.setattr(construction, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            relocate(operator.checkpoint("a"), operator.folder / "elsewhere" / "a")
    assert contents(operator.checkpoint("a").path) == before
    operator.relocate("a")
    operator.run(rounds[1])
    assert_exact(operator, rounds[0] + rounds[1])


def test_a_running_query_is_not_repartitioned(operator_of, rounds):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    query = operator.start(operator.live["a"], rounds[0], trigger={"processingTime": "0 seconds"})
    query.processAllAvailable()
    with pytest.raises(CannotMove, match="running"):
        repartition(operator.spark, operator.checkpoint("a"), 3)
    query.stop()


def test_repartitioning_replays_a_failed_batch_and_finishes_an_abandoned_attempt(operator_of, rounds):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    assert not repartition(operator.spark, operator.checkpoint("a"), 2), "the same number is nothing to do"
    operator.fail = True
    with pytest.raises(StreamingQueryException):
        operator.run(rounds[1])
    operator.fail = False
    assert not operator.checkpoint("a").is_settled
    with pytest.raises(CannotMove, match="not committed"):
        repartition(operator.spark, operator.checkpoint("a"), 3)
    with pytest.raises(CannotMove, match="not committed"):
        operator.change(some("b", "01234567", 2))
    assert repartition(operator.spark, operator.checkpoint("a"), 3, replay=lambda: operator.run([]))
    last = operator.checkpoint("a").last_committed
    (operator.checkpoint("a").path / "commits" / str(last)).unlink()
    assert operator.checkpoint("a").is_repartitioning(last)
    assert repartition(operator.spark, operator.checkpoint("a"), 4)
    operator.live = {"a": some("a", "01234567", 4)}
    operator.run(rounds[2])
    assert_exact(operator, [row for rows in rounds[:3] for row in rows])


def test_what_cannot_be_moved_is_refused_before_anything_is_touched(operator_of, rounds):
    stateless = Kind("map", lambda frames: frames[0].select("k", "v"), list)
    limited = Kind("limit", lambda frames: frames[0].select("k").limit(10**6), list)
    everything = Kind("count all", lambda frames: frames[0].groupBy().count(), list, mode="update")
    kinds_found = {
        stateless: support.StateKind.STATELESS,
        limited: support.StateKind.GLOBAL_LIMIT,
        everything: support.StateKind.GLOBAL_AGGREGATION,
    }
    for kind, found in kinds_found.items():
        operator = operator_of(kind)
        operator.begin(some("a", "01234567", 2))
        operator.run(rounds[0])
        before = contents(operator.checkpoint("a").path)
        assert support.describe(operator.checkpoint("a")).kind is found
        with pytest.raises(CannotMove):
            repartition(operator.spark, operator.checkpoint("a"), 3)
        with pytest.raises(CannotMove):
            operator.change(some("b", "0123", 1))
        assert contents(operator.checkpoint("a").path) == before
        operator.relocate("a")
        operator.run(rounds[1])
    assert operator.output[-1][1] == (len(rounds[0]) + len(rounds[1]),), "but it can be relocated"
