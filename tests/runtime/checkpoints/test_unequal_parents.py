"""Parents and children of all sorts: without state, behind one another, with keys and stores of their own."""

import time
from collections import Counter
from dataclasses import replace

import pytest
from pyspark.sql import functions
from tests.runtime.checkpoints.helpers import ALL, COUNT, configured, some
from tests.runtime.checkpoints.instances import KEY, assert_exact
from tests.runtime.checkpoints.kinds import (
    CLOCK_SECONDS,
    KINDS,
    Kind,
    clock_query,
    join_expected,
    seconds,
)
from tests.runtime.checkpoints.rounds import GROUPS, Row

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.rewrite import Child, rebuild
from rheostat.runtime.checkpoints.state_keys import Key, KeyColumn
from rheostat.runtime.checkpoints.state_rows import Parent

pytestmark = pytest.mark.spark


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
