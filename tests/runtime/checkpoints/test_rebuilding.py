"""No row of state is lost, doubled or changed, whatever becomes of the instances that hold it."""

import json
from collections import Counter

import pytest
from tests.runtime.checkpoints.helpers import ALL, COUNT, contents, interrupted, some
from tests.runtime.checkpoints.instances import KEY, Operator, assert_exact
from tests.runtime.checkpoints.kinds import (
    KINDS,
    Kind,
    count_expected,
    count_query,
)
from tests.runtime.checkpoints.log_source import LogSource, append, offset_for

from rheostat.runtime.checkpoints import completion as construction
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.rewrite import Child, rebuild
from rheostat.runtime.checkpoints.state_rows import Parent, group_sizes

pytestmark = pytest.mark.spark


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
