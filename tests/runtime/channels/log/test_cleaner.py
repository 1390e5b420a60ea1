from itertools import count

import pytest
from tests.runtime.channels.world import Died, MortalDisk, Row, channel_at, on, opened, publish, rows_between

from rheostat.runtime.channels.port.channel import Cleaned
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.periodic_cleaner import PeriodicCleaner
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.offset import Offset, restrict

LATER = 10**15


def filled(path):
    channel = channel_at(path)
    for epoch in (1, 2):
        for number in range(4):
            batch = (epoch - 1) * 4 + number
            publish(channel, opened(channel, "p", epoch), batch, [Row("p", batch, batch % 4)])
    return channel


def consumed(channel, manifests):
    """The offset after so many rows (one per manifest), by one instance or two."""
    return advance(channel.log(), Offset.start("c", channel.spec.all_groups), manifests)


def test_what_everybody_has_done_with_is_removed(tmp_path):
    channel = filled(tmp_path)
    end = consumed(channel, 7)
    channel.consumers.commit("k@n1", end)
    assert channel.consumers.clean(0) == Cleaned(manifests=6, segments=6)
    assert channel.consumers.clean(0) == Cleaned()
    rest = advance(channel.log(), end)
    assert [row.number for row in rows_between(channel, end, rest)] == [7]
    assert not publish(channel, opened(channel, "p", 2), 7, [Row("p", 7, 0)]), "the last batch id is remembered"


@pytest.mark.parametrize("groups", [{0, 1, 2}, set()])
def test_nothing_is_removed_while_a_group_has_no_owner(tmp_path, groups):
    channel = filled(tmp_path)
    channel.consumers.subscribe("k")
    if groups:
        channel.consumers.commit("k@n1", restrict(consumed(channel, 8), frozenset(groups)))
    assert channel.consumers.clean(0) == Cleaned()


def test_nothing_is_removed_while_another_operator_needs_it(tmp_path):
    channel = filled(tmp_path)
    channel.consumers.commit("k@n1", consumed(channel, 8))
    channel.consumers.subscribe("other")
    assert channel.consumers.clean(0) == Cleaned()


def test_nothing_is_removed_while_another_instance_has_not_begun(tmp_path):
    channel = filled(tmp_path)
    channel.consumers.commit("k@n1", consumed(channel, 8))
    channel.consumers.commit("k@n2", Offset.start("c", frozenset({2})))
    assert channel.consumers.clean(0) == Cleaned()


def test_nothing_is_removed_before_anybody_subscribed(tmp_path):
    assert filled(tmp_path).consumers.clean(0) == Cleaned()


def test_a_torn_note_of_a_consumer_only_makes_cleaning_careful(tmp_path):
    channel = filled(tmp_path)
    channel.consumers.commit("k@n1", consumed(channel, 8))
    channel.folder.consumer("k@n1").write_text('{"chan')
    assert channel.consumers.clean(0) == Cleaned()


def test_a_reader_of_what_was_removed_is_told(tmp_path):
    channel = filled(tmp_path)
    early = consumed(channel, 1)
    channel.consumers.commit("k@n1", consumed(channel, 8))
    channel.consumers.clean(0)
    with pytest.raises(Gone, match=r"no longer holds p/1/1"):
        advance(channel.log(), early)


def test_a_crash_at_any_step_of_cleaning_is_repaired_by_the_next(tmp_path):
    for steps in count():
        channel = filled(tmp_path / str(steps))
        end = consumed(channel, 6)
        channel.consumers.commit("k@n1", end)
        try:
            on(channel, MortalDisk(steps)).consumers.clean(LATER, grace_ms=0)
            survived = True
        except Died:
            survived = False
        log = channel.log()
        assert [row.number for row in rows_between(channel, end, advance(log, end))] == [6, 7]
        channel.consumers.clean(LATER, grace_ms=0)
        assert [len(list(channel.folder.segments("p", epoch).iterdir())) for epoch in (1, 2)] == [0, 3]
        if survived:
            assert steps > 10
            return


def test_orphans_are_removed_after_their_grace(tmp_path):
    channel = filled(tmp_path)
    orphan = channel.folder.segments("p", 2) / "lost.arrow"
    orphan.write_bytes(b"torn")
    now_ms = int(orphan.stat().st_mtime * 1000)
    assert channel.consumers.clean(now_ms, grace_ms=1000).orphans == 0
    assert channel.consumers.clean(now_ms + 2000, grace_ms=1000).orphans == 1
    assert len(list(channel.folder.segments("p", 2).iterdir())) == 4


EVERYTHING = [0, 1, 2, 3, 4, 0, 1, 2, 3]
"""Four batches and the end of the first epoch, and the second one."""


def left(channel):
    return [slot for epoch in (1, 2) for slot in channel.log().slots("p", epoch)]


def test_a_cleaner_leaves_what_was_consumed_since_it_came_last(tmp_path):
    """A look at a batch that has just ended finds what it consumed, however it falls between two cleanings."""
    channel = filled(tmp_path)
    cleaner = PeriodicCleaner(channel.consumers, every_ms=2000)
    channel.consumers.commit("k@n1", consumed(channel, 3))
    cleaner.clean_if_due(10_000)
    assert left(channel) == EVERYTHING
    channel.consumers.commit("k@n1", consumed(channel, 7))
    cleaner.clean_if_due(11_999)
    assert left(channel) == EVERYTHING, "it is not due"
    cleaner.clean_if_due(12_000)
    assert left(channel) == [2, 3, 4, 0, 1, 2, 3], "of every epoch the last slot that was consumed stays"
    cleaner.clean_if_due(14_000)
    assert left(channel) == [4, 2, 3]


def test_a_cleaner_waits_for_whoever_came_meanwhile(tmp_path):
    channel = filled(tmp_path)
    cleaner = PeriodicCleaner(channel.consumers, every_ms=2000)
    channel.consumers.commit("k@n1", consumed(channel, 8))
    cleaner.clean_if_due(10_000)
    channel.consumers.subscribe("other")
    cleaner.clean_if_due(12_000)
    assert left(channel) == EVERYTHING
    channel.consumers.commit("other@n1", consumed(channel, 2))
    cleaner.clean_if_due(14_000)
    cleaner.clean_if_due(16_000)
    assert left(channel) == [1, 2, 3, 4, 0, 1, 2, 3]
