from itertools import count

import pytest
from tests.runtime.channels.world import Died, MortalDisk, Row, channel_at, opened, publish, rows_between

from rheostat.runtime.channels.log.cleaner import Cleaned, Cleaner, clean
from rheostat.runtime.channels.log.consumers import commit, subscribe
from rheostat.runtime.channels.log.disk_log import DiskLog
from rheostat.runtime.channels.reader.advance import advance
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.disk import Disk
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
    return advance(DiskLog(channel), Offset.start("c", channel.all_groups), manifests)


def test_what_everybody_has_done_with_is_removed(tmp_path):
    channel = filled(tmp_path)
    end = consumed(channel, 7)
    commit(channel, "k@n1", end, Disk())
    assert clean(channel, Disk(), 0) == Cleaned(manifests=6, segments=6)
    assert clean(channel, Disk(), 0) == Cleaned()
    rest = advance(DiskLog(channel), end)
    assert [row.number for row in rows_between(channel, end, rest)] == [7]
    assert not publish(channel, opened(channel, "p", 2), 7, [Row("p", 7, 0)]), "the last batch id is remembered"


@pytest.mark.parametrize("groups", [{0, 1, 2}, set()])
def test_nothing_is_removed_while_a_group_has_no_owner(tmp_path, groups):
    channel = filled(tmp_path)
    subscribe(channel, "k", Disk())
    if groups:
        commit(channel, "k@n1", restrict(consumed(channel, 8), frozenset(groups)), Disk())
    assert clean(channel, Disk(), 0) == Cleaned()


def test_nothing_is_removed_while_another_operator_needs_it(tmp_path):
    channel = filled(tmp_path)
    commit(channel, "k@n1", consumed(channel, 8), Disk())
    subscribe(channel, "other", Disk())
    assert clean(channel, Disk(), 0) == Cleaned()


def test_nothing_is_removed_while_another_instance_has_not_begun(tmp_path):
    channel = filled(tmp_path)
    commit(channel, "k@n1", consumed(channel, 8), Disk())
    commit(channel, "k@n2", Offset.start("c", frozenset({2})), Disk())
    assert clean(channel, Disk(), 0) == Cleaned()


def test_nothing_is_removed_before_anybody_subscribed(tmp_path):
    assert clean(filled(tmp_path), Disk(), 0) == Cleaned()


def test_a_torn_note_of_a_consumer_only_makes_cleaning_careful(tmp_path):
    channel = filled(tmp_path)
    commit(channel, "k@n1", consumed(channel, 8), Disk())
    (channel.subscriptions() / "k" / "k@n1.json").write_text('{"chan')
    assert clean(channel, Disk(), 0) == Cleaned()


def test_a_reader_of_what_was_removed_is_told(tmp_path):
    channel = filled(tmp_path)
    early = consumed(channel, 1)
    commit(channel, "k@n1", consumed(channel, 8), Disk())
    clean(channel, Disk(), 0)
    with pytest.raises(Gone, match=r"no longer holds p/1/1"):
        advance(DiskLog(channel), early)


def test_a_crash_at_any_step_of_cleaning_is_repaired_by_the_next(tmp_path):
    for steps in count():
        channel = filled(tmp_path / str(steps))
        end = consumed(channel, 6)
        commit(channel, "k@n1", end, Disk())
        try:
            clean(channel, MortalDisk(steps), LATER, grace_ms=0)
            survived = True
        except Died:
            survived = False
        log = DiskLog(channel)
        assert [row.number for row in rows_between(channel, end, advance(log, end))] == [6, 7]
        clean(channel, Disk(), LATER, grace_ms=0)
        assert [len(list(channel.segments("p", epoch).iterdir())) for epoch in (1, 2)] == [0, 3]
        if survived:
            assert steps > 10
            return


def test_orphans_are_removed_after_their_grace(tmp_path):
    channel = filled(tmp_path)
    orphan = channel.segments("p", 2) / "lost.arrow"
    orphan.write_bytes(b"torn")
    now_ms = int(orphan.stat().st_mtime * 1000)
    assert clean(channel, Disk(), now_ms, grace_ms=1000).orphans == 0
    assert clean(channel, Disk(), now_ms + 2000, grace_ms=1000).orphans == 1
    assert len(list(channel.segments("p", 2).iterdir())) == 4


EVERYTHING = [0, 1, 2, 3, 4, 0, 1, 2, 3]
"""Four batches and the end of the first epoch, and the second one."""


def left(channel):
    return [slot for epoch in (1, 2) for slot in DiskLog(channel).slots("p", epoch)]


def test_a_cleaner_leaves_what_was_consumed_since_it_came_last(tmp_path):
    """A look at a batch that has just ended finds what it consumed, however it falls between two cleanings."""
    channel = filled(tmp_path)
    cleaner = Cleaner(channel, Disk(), every_ms=2000)
    commit(channel, "k@n1", consumed(channel, 3), Disk())
    cleaner.clean_if_due(10_000)
    assert left(channel) == EVERYTHING
    commit(channel, "k@n1", consumed(channel, 7), Disk())
    cleaner.clean_if_due(11_999)
    assert left(channel) == EVERYTHING, "it is not due"
    cleaner.clean_if_due(12_000)
    assert left(channel) == [2, 3, 4, 0, 1, 2, 3], "of every epoch the last slot that was consumed stays"
    cleaner.clean_if_due(14_000)
    assert left(channel) == [4, 2, 3]


def test_a_cleaner_waits_for_whoever_came_meanwhile(tmp_path):
    channel = filled(tmp_path)
    cleaner = Cleaner(channel, Disk(), every_ms=2000)
    commit(channel, "k@n1", consumed(channel, 8), Disk())
    cleaner.clean_if_due(10_000)
    subscribe(channel, "other", Disk())
    cleaner.clean_if_due(12_000)
    assert left(channel) == EVERYTHING
    commit(channel, "other@n1", consumed(channel, 2), Disk())
    cleaner.clean_if_due(14_000)
    cleaner.clean_if_due(16_000)
    assert left(channel) == [1, 2, 3, 4, 0, 1, 2, 3]
