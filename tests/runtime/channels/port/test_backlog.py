"""The backlogs of the instances of an operator are together the backlog of its subscription."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.channels.world import Row, channel_at, opened, publish

from rheostat.runtime.channels.port.backlog import backlog_of, subscription_backlog
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.offset import Offset

HALVES = (frozenset({0, 1}), frozenset({2, 3}))


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from("pq"), st.lists(st.integers(0, 3), max_size=6)), max_size=10), st.data())
def test_what_instances_have_before_them_is_together_the_lag_of_the_operator(tmp_path_factory, batches, data):
    channel = channel_at(tmp_path_factory.mktemp("c"))
    producers = {name: opened(channel, name) for name in "pq"}
    read_after = [data.draw(st.integers(0, len(batches))) for _ in HALVES]
    for number, (name, groups) in enumerate(batches):
        for part, owned in enumerate(HALVES):
            if number == read_after[part]:
                offset = advance(channel.log(), Offset.start("c", owned))
                channel.consumers.commit(f"count@n{part}", offset)
        publish(channel, producers[name], number, [Row(name, n, g) for n, g in enumerate(groups)], now_ms=1000 + number)
    log, offsets = channel.log(), [*channel.consumers.committed().get("count", {}).values()]
    parts = [backlog_of(log, offsets, owned) for owned in HALVES]
    assert sum(part.rows for part in parts) == subscription_backlog(channel, "count").rows
    for part, owned, after in zip(parts, HALVES, read_after, strict=True):
        begin = after if after < len(batches) else 0
        unread = [1000 + n for n, (_, groups) in enumerate(batches) if owned & {*groups} and n >= begin]
        assert part.oldest_ms == min(unread, default=None)
        assert part.rows == sum(g in owned for _, groups in batches[begin:] for g in groups)
