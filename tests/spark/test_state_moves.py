"""No row of state is lost, doubled or changed, whatever becomes of the instances that hold it."""

import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession, functions

from rheostat.errors import CannotMove
from rheostat.runtime.spark_session import create_session
from rheostat.runtime.spark_settings import SparkSettings
from rheostat.runtime.state import construction, support
from rheostat.runtime.state.checkpoint import Checkpoint
from rheostat.runtime.state.copying import copy_ahead, relocate
from rheostat.runtime.state.key_groups import Key, KeyColumn
from rheostat.runtime.state.reading import Parent, group_sizes
from rheostat.runtime.state.repartitioning import repartition
from rheostat.runtime.state.rewriting import Child, rebuild
from tests.runtime.state import kinds, log_source
from tests.runtime.state.instances import KEY, Instance, Operator, assert_exact, group_table
from tests.runtime.state.kinds import (
    CLOCK_SECONDS,
    KINDS,
    Kind,
    clock_query,
    count_expected,
    count_query,
    join_expected,
    seconds,
)
from tests.runtime.state.log_source import LogSource, append, offset_for
from tests.runtime.state.rounds import GROUPS, Row, make_rounds

pytestmark = pytest.mark.spark
cloudpickle.register_pickle_by_value(kinds)
cloudpickle.register_pickle_by_value(log_source)
cloudpickle.register_pickle_by_value(sys.modules["tests.runtime.state.rounds"])
ALL = frozenset(range(GROUPS))
COUNT = KINDS[0]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    settings = {
        "spark.sql.shuffle.partitions": "2",
        # So little data that compiling a plan costs more than running it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.log.level": "OFF",
    }
    session = create_session(SparkSettings("local[2]", settings), 2, "state moves")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def groups(spark: SparkSession) -> dict[str, int]:
    return group_table(spark, [f"k{i}" for i in range(60)] + [f"p{i}" for i in range(100)])


@pytest.fixture(scope="module")
def rounds(groups):
    pulses = [
        min(key for key, group in groups.items() if key[0] == "p" and group == wanted) for wanted in range(GROUPS)
    ]
    return make_rounds(pulses)


@pytest.fixture
def operator_of(spark, groups, tmp_path):
    """Makes operators, each in a folder of its own."""
    made = []

    def make(kind: Kind, table=groups, key: Key = KEY) -> Operator:
        made.append(kind)
        return Operator(spark, kind, tmp_path / str(len(made)), table, key)

    return make


@contextmanager
def configured(spark, name: str, value: str) -> Iterator[None]:
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def interrupted(*_) -> None:
    raise KeyboardInterrupt


def some(name: str, owned: str, partitions: int) -> Instance:
    return Instance(name, frozenset(int(digit) for digit in owned), partitions)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_split_rebalanced_and_merged_it_puts_out_what_it_would_have_put_out(
    kind: Kind, spark, groups, rounds, tmp_path
):
    operator = Operator(spark, kind, tmp_path, groups)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    operator.change(some("b", "01234", 1), some("c", "567", 3))
    operator.run(rounds[1])
    operator.change(some("d", "01", 1), some("e", "235", 2), some("f", "467", 1))
    operator.run(rounds[2])
    operator.repartition("f", 3)
    operator.change(some("g", "012", 2), some("h", "35", 1), some("f", "467", 3))
    operator.run(rounds[3])
    operator.change(some("i", "01234567", 2))
    operator.run(rounds[4])
    operator.relocate("i")
    operator.run(rounds[5])
    assert_exact(operator, [row for rows in rounds for row in rows])


def test_interrupted_before_it_is_complete_a_rebuild_is_recognised_and_repeated(operator_of, rounds, monkeypatch):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    parent, before = operator.checkpoint("a").path, contents(operator.checkpoint("a").path)
    with monkeypatch.context() as patch:
        patch.setattr(construction, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            operator.change(some("b", "01234567", 3))
    assert construction.is_partial(operator.checkpoint("b").path)
    assert contents(parent) == before
    operator.change(some("b", "01234567", 3))
    assert construction.is_complete(operator.checkpoint("b").path)
    operator.run(rounds[1])
    assert_exact(operator, rounds[0] + rounds[1])
    again = Child(operator.checkpoint("b").path, ALL, 3)
    rebuild(operator.spark, again, [Parent(Checkpoint(parent), ALL)], KEY, operator.edit_offset)
    assert operator.checkpoint("b").last_committed > Checkpoint(parent).last_committed + 1, "what is complete stays"


def test_the_size_of_the_state_is_known_per_key_group(operator_of, spark, groups, rounds):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    parent = Parent(operator.checkpoint("a"), ALL)
    assert group_sizes(spark, parent, KEY) == {}
    operator.run(rounds[0])
    keys = Counter(groups[key] for key in {row.key for row in rounds[0]})
    sizes = group_sizes(spark, parent, KEY)
    assert sizes.keys() == keys.keys()
    assert len({sizes[group] // keys[group] for group in keys}) == 1, "rows of a count are of equal size"


def test_a_position_per_key_group_goes_with_the_group(spark, groups, rounds, tmp_path):
    spark.dataSource.register(LogSource)
    log, latest = tmp_path / "log", {}
    by_group = {group: [[r for r in rows if groups.get(r.key) == group] for rows in rounds[:3]] for group in ALL}

    def run(name, owned):
        source = (
            spark.readStream.format("grouped_log").option("path", str(log)).option("groups", ",".join(map(str, owned)))
        )
        writer = count_query([source.load()]).writeStream.outputMode("update").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / name))
        writer.foreachBatch(
            lambda frame, _: latest.update({row[0]: tuple(row) for row in frame.collect()})
        ).start().awaitTermination()

    def child(name, owned, *parents):
        made = [Parent(Checkpoint(tmp_path / parent), frozenset(theirs)) for parent, theirs in parents]
        one = Child(tmp_path / name, frozenset(owned), 2)
        rebuild(spark, one, made, KEY, offset_for(one.groups))

    def produce(number, owned):
        for group in owned:
            append(log, group, by_group[group][number])

    low, high = [0, 1, 2], [3, 4, 5, 6, 7]
    produce(0, ALL)
    run("a", ALL)
    produce(1, low)
    child("b", low, ("a", ALL))
    child("c", high, ("a", ALL))
    run("b", low)
    produce(1, high)
    run("c", high)
    produce(2, high)
    child("d", ALL, ("b", low), ("c", high))
    produce(2, low)
    run("d", ALL)
    assert Counter(latest.values()) == Counter(count_expected([r for rows in rounds[:3] for r in rows]))
    end = json.loads(Checkpoint(tmp_path / "d").planned(Checkpoint(tmp_path / "d").last_committed).offsets[0])
    assert end == {str(group): 3 for group in ALL}


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
        stateless: support.Kind.STATELESS,
        limited: support.Kind.GLOBAL_LIMIT,
        everything: support.Kind.GLOBAL_AGGREGATION,
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


def test_instances_without_state_are_parents_and_children_too(operator_of, rounds, groups):
    operator = operator_of(COUNT)
    mine = [row for row in rounds[0] if groups[row.key] == 0]
    operator.begin(some("a", "01234", 2), some("idle", "567", 2))
    operator.live.pop("idle")
    operator.run(mine)
    operator.live["idle"] = some("idle", "567", 2)
    operator.change(some("b", "0", 1), some("empty", "1234567", 3))
    operator.run(rounds[1])
    operator.change(some("c", "01234567", 2))
    operator.run(rounds[2])
    assert_exact(operator, mine + rounds[1] + rounds[2])


def test_groups_whose_owner_never_ran_start_empty_beside_one_that_did(operator_of, rounds, groups):
    operator = operator_of(COUNT)
    mine = [row for row in rounds[0] if groups[row.key] < 5]
    operator.begin(some("a", "01234", 2))
    operator.run(mine)
    parents = [
        Parent(operator.checkpoint("a"), some("", "01234", 1).groups),
        Parent(operator.checkpoint("idle"), some("", "567", 1).groups),
    ]
    rebuild(
        operator.spark, Child(operator.checkpoint("b").path, parents[1].groups, 3), parents, KEY, operator.edit_offset
    )
    operator.begin(operator.live["a"], some("b", "567", 3))
    operator.run(rounds[1])
    assert_exact(operator, mine + rounds[1])


def test_the_state_of_an_earlier_batch_can_be_taken_while_the_instance_has_gone_on(operator_of, rounds):
    operator = operator_of(COUNT)
    operator.begin(some("a", "01234567", 2))
    operator.run(rounds[0])
    old = operator.checkpoint("a")
    parent = Parent(old, ALL, batch=old.last_committed)
    operator.run(rounds[1])
    assert old.last_committed > parent.batch
    rebuild(operator.spark, Child(operator.checkpoint("b").path, ALL, 3), [parent], KEY, operator.edit_offset)
    with pytest.raises(CannotMove, match="not committed"):
        rebuild(
            operator.spark,
            Child(operator.checkpoint("c").path, ALL, 3),
            [Parent(old, ALL, 99)],
            KEY,
            operator.edit_offset,
        )
    operator.output.clear()
    operator.begin(some("b", "01234567", 3))
    operator.run(rounds[1] + rounds[0])
    assert_exact(operator, rounds[0] + rounds[0] + rounds[1])


def test_parents_of_unequal_watermarks_lose_nothing_if_they_have_read_the_same_range(operator_of, groups):
    slow, fast = (min(key for key, group in groups.items() if (group < 4) is low) for low in (True, False))
    operator = operator_of(next(kind for kind in KINDS if kind.name == "windowed aggregation"))
    operator.begin(some("a", "0123", 1), some("b", "4567", 1))
    rows = [Row(slow, 1, 5), Row(slow, 2, 62), Row(fast, 3, 5), Row(fast, 4, 190)]
    operator.run(rows)
    assert [row[:2] for row in operator.result()].count((slow, 60)) == 0, "the slow side still holds its window back"
    ends = [operator.checkpoint(name) for name in "ab"]
    low, high = (end.committed(end.last_committed).next_watermark_ms for end in ends)
    assert low < high
    operator.change(some("c", "01234567", 2))
    merged = operator.checkpoint("c")
    assert merged.committed(merged.last_committed).next_watermark_ms == high
    given = Child(operator.folder / "given", ALL, 2, watermark_ms=low)
    rebuild(
        operator.spark,
        given,
        [Parent(ends[0], some("", "0123", 1).groups), Parent(ends[1], some("", "4567", 1).groups)],
        KEY,
        operator.edit_offset,
    )
    entry = Checkpoint(given.target)
    assert entry.committed(entry.last_committed).next_watermark_ms == low
    assert entry.planned(entry.last_committed).watermark_ms <= low
    after = [Row(slow, 5, 195), Row(fast, 6, 196), Row("end", 0, 5000)]
    operator.run(after)
    assert_exact(operator, rows + after)


def test_rows_that_an_undisturbed_query_would_accept_are_accepted_after_a_rebuild(operator_of, spark, groups):
    """The watermark has moved, but no batch has evicted by it yet: such rows are not late."""
    key = next(iter(groups))
    early, tardy = [Row(key, 1, 40), Row(key, 1, 100)], [Row(key, 7, 50), Row("end", 0, 5000)]
    outputs = []
    with configured(spark, "spark.sql.streaming.noDataMicroBatches.enabled", "false"):
        for disturbed in (False, True):
            operator = operator_of(next(kind for kind in KINDS if kind.name == "windowed aggregation"))
            operator.begin(some("a", "01234567", 2))
            operator.run(early)
            if disturbed:
                operator.change(some("b", "01234567", 3))
            operator.run(tardy)
            operator.run([Row("end", 0, 5001)])
            outputs.append(Counter(operator.result()))
    assert outputs[0] == outputs[1]
    assert (key, 30, 2, 8) in outputs[1], "the row was counted"


def test_the_reserved_key_is_the_group_and_integers_hash_as_they_were_routed(operator_of, spark, rounds):
    """A join compares int with bigint and keeps a bigint; the key says that it was routed as an int."""
    numbered = Kind("by number", _by_number, join_expected, sources=2)
    typed = Key((KeyColumn("number", "int"),), GROUPS)
    for key in (typed, Key.of("key_group", groups=GROUPS)):
        kind = (
            numbered
            if key is typed
            else Kind("by group", _by_group, lambda rows: list(Counter(r.value for r in rows).items()))
        )
        table = {str(n): n % GROUPS for n in range(10)}
        if key is typed:
            frame = spark.range(10).selectExpr("CAST(id AS string) k", "CAST(id AS int) number")
            table = {row[0]: row[1] for row in frame.selectExpr("k", key.of_row()).collect()}
        operator = operator_of(replace(kind, mode="append" if key is typed else "update"), table, key)
        rows = [
            [Row(str(i % 10), i % 2 if key is typed else i % 10, 60 * n + i % 50) for i in range(60)] for n in range(3)
        ]
        operator.begin(some("a", "01234567", 2))
        operator.run(rows[0])
        operator.change(some("b", "0123", 1), some("c", "4567", 2))
        operator.run(rows[1])
        operator.change(some("d", "01234567", 2))
        operator.run(rows[2])
        assert_exact(operator, [row for part in rows for row in part])


def _by_number(frames):
    left = frames[0].withWatermark("ts", "20 seconds").selectExpr("k", "v", "ts", "CAST(k AS int) number")
    right = frames[1].withWatermark("ts", "20 seconds").selectExpr("CAST(k AS bigint) other", "v w", "ts rts")
    near = functions.expr("number = other AND rts >= ts AND rts <= ts + interval 10 seconds")
    return left.join(right, near).select("k", "v", seconds("ts"), "w", seconds("rts"))


def _by_group(frames):
    grouped = frames[0].selectExpr("CAST(v % 8 AS int) key_group", "v").groupBy("key_group", "v").count()
    return grouped.select("v", "count")


def test_a_join_may_keep_its_state_in_one_store_with_column_families(operator_of, spark, rounds):
    """Format 2, with four stores, is the default and part of the matrix; Spark 4.3.0 cannot run format 1 at all."""
    with configured(spark, "spark.sql.streaming.join.stateFormatVersion", "3"):
        operator = operator_of(next(kind for kind in KINDS if kind.name == "inner join"))
        operator.begin(some("a", "01234567", 2))
        operator.run(rounds[0])
        operator.change(some("b", "0123", 1), some("c", "4567", 2))
        operator.run(rounds[1])
        operator.change(some("d", "01234567", 2))
        operator.run(rounds[2])
        assert_exact(operator, [row for rows in rounds[:3] for row in rows])


def test_checkpoint_format_2_is_refused(operator_of, spark, rounds):
    with configured(spark, "spark.sql.streaming.stateStore.checkpointFormatVersion", "2"):
        operator = operator_of(COUNT)
        operator.begin(some("a", "01234567", 2))
        operator.run(rounds[0])
        with pytest.raises(CannotMove, match="format"):
            operator.change(some("b", "01234567", 3))


def test_time_to_live_and_processing_time_timers_go_with_their_rows(operator_of, rounds):
    """Clock time goes on while state moves: what expires meanwhile expires at the first batch after it, once."""
    operator = operator_of(Kind("clock", clock_query, list, mode="update"))
    operator.trigger = {"once": True}
    keys = [Row(key, 1, 0) for key in ("k1", "k2", "k3", "k4", "k5", "k6")]
    operator.begin(some("a", "01234567", 2))
    operator.run(keys)
    operator.change(some("b", "0123", 1), some("c", "4567", 2))
    operator.run(keys[:3])
    operator.change(some("d", "01234567", 3))
    time.sleep(CLOCK_SECONDS + 1)
    operator.run(keys)
    visits = {row.key: 2 if row in keys[:3] else 1 for row in keys}
    assert Counter(row for _, row in operator.output) == Counter(
        [(key, "seen", 1) for key in visits] * 2
        + [(key, "seen", 2) for key, count in visits.items() if count == 2]
        + [(key, "timer", 1) for key, count in visits.items() for _ in range(count)]
    )
