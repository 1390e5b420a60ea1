"""Manifests as probes see them: what a batch has consumed, and what was published since the last look."""

from tests.runtime.channels.world import Row, channel_at, opened, publish

from rheostat.runtime.channels.observe.consumed import consumed
from rheostat.runtime.channels.observe.manifest_tail import ManifestTail
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.offset import Offset


def test_what_a_batch_consumed_and_a_new_epoch(tmp_path):
    channel = channel_at(tmp_path)
    first = opened(channel, "p")
    publish(channel, first, 0, [Row("p", 0, 0)], now_ms=10)
    start = advance(channel.log(), Offset.start("c", channel.spec.all_groups))
    publish(channel, first, 1, [Row("p", 1, 1)], now_ms=20)
    publish(channel, opened(channel, "p", 2), 2, [Row("p", 2, 2)], now_ms=30)
    end = advance(channel.log(), start)
    assert [(name, m.published_ms) for name, m in consumed(channel.log(), start, end)] == [("p", 20), ("p", 30)]


def test_results_are_followed_once_from_now_on(tmp_path):
    channel = channel_at(tmp_path)
    first = opened(channel, "p")
    for number in range(5):
        publish(channel, first, number, [Row("p", number, 0)], now_ms=10 * number)
    tail = ManifestTail(channel.log())
    assert [m.batch for m in tail.fresh(since_ms=25)] == [3, 4]
    assert tail.fresh(since_ms=25) == []
    publish(channel, first, 5, [Row("p", 5, 0)], now_ms=50)
    publish(channel, opened(channel, "p", 2), 6, [Row("p", 6, 0)], now_ms=60)
    assert [m.batch for m in tail.fresh(since_ms=25)] == [5, 6]
    assert tail.fresh(since_ms=25) == []


def test_who_follows_a_channel_goes_on_where_it_was_cleaned_away(tmp_path):
    """It was read and cleaned faster than anybody looked: a look that waits for what is gone would wait for ever."""
    channel = channel_at(tmp_path)
    channel.consumers.subscribe("count")
    first, tail = opened(channel, "p"), ManifestTail(channel.log())
    publish(channel, first, 0, [Row("p", 0, 0)], now_ms=10)
    assert [m.batch for m in tail.fresh(since_ms=0)] == [0]
    for number in range(1, 6):
        publish(channel, first, number, [Row("p", number, 0)], now_ms=10 + number)
    channel.consumers.commit("count@n1", advance(channel.log(), Offset.start("c", channel.spec.all_groups)))
    assert channel.consumers.clean(0).manifests > 0
    publish(channel, first, 6, [Row("p", 6, 0)], now_ms=60)
    assert [m.batch for m in tail.fresh(since_ms=0)][-1] == 6
    assert tail.fresh(since_ms=0) == []
