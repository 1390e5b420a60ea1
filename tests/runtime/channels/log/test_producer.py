from itertools import count

import pytest
from tests.runtime.channels.world import Died, MortalDisk, Row, channel_at, opened, publish, rows_between, table_of

from rheostat.errors import Fenced
from rheostat.machine.disk import Disk
from rheostat.runtime.channels.port.channel import ProducedBatch
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.channel_errors import SegmentGone
from rheostat.runtime.channels.records.manifest import NEVER, ManifestKind, Opening
from rheostat.runtime.channels.records.offset import Offset

ROWS = [Row("p", 0, 1), Row("p", 1, 3), Row("p", 2, 1)]


def everything(channel):
    start = Offset.start("c", channel.spec.all_groups)
    return rows_between(channel, start, advance(channel.log(), start), replicas=1)


def test_a_batch_is_published_once(tmp_path):
    channel = channel_at(tmp_path)
    producer = opened(channel, "p")
    assert publish(channel, producer, 0, ROWS)
    assert not publish(channel, producer, 0, ROWS)
    assert not publish(channel, opened(channel, "p"), 0, ROWS)
    assert sorted(r.number for r in everything(channel)) == [0, 1, 2]


def test_a_batch_published_in_the_epoch_before_is_not_repeated(tmp_path):
    channel = channel_at(tmp_path)
    publish(channel, opened(channel, "p"), 7, ROWS)
    assert not publish(channel, opened(channel, "p", 2), 7, ROWS)
    assert not publish(channel, opened(channel, "p", 3), 7, ROWS)
    assert publish(channel, opened(channel, "p", 3), 8, ROWS)


def test_a_query_with_a_new_checkpoint_counts_its_batches_anew(tmp_path):
    channel = channel_at(tmp_path)
    publish(channel, opened(channel, "p"), 7, ROWS)
    assert publish(channel, opened(channel, "p", 2, continues=False), 0, ROWS)


def test_a_zombie_is_fenced_off(tmp_path):
    channel = channel_at(tmp_path)
    zombie = opened(channel, "p")
    publish(channel, zombie, 0, ROWS)
    opened(channel, "p", 2)
    with pytest.raises(Fenced):
        publish(channel, zombie, 1, ROWS)
    with pytest.raises(Fenced):
        opened(channel, "p", 1)
    assert len(everything(channel)) == 3


class Overtaken(Disk):
    """Lets somebody else act just before this one takes a slot."""

    def __init__(self, rival):
        self.rival = rival

    def step(self, what):
        if what == "link" and self.rival is not None:
            rival, self.rival = self.rival, None
            rival()


def test_of_a_batch_and_a_seal_that_want_the_same_slot_one_wins(tmp_path):
    channel = channel_at(tmp_path)
    opened(channel, "p")
    producer = opened(channel, "p", disk=Overtaken(lambda: opened(channel, "p", 2)))
    with pytest.raises(Fenced):
        publish(channel, producer, 0, ROWS)
    assert everything(channel) == []
    assert publish(channel, opened(channel, "p", 2), 0, ROWS), "what was refused is not lost"


def test_a_batch_that_lost_its_slot_to_another_takes_the_next(tmp_path):
    channel = channel_at(tmp_path)
    opened(channel, "p")
    rival = opened(channel, "p")
    producer = opened(channel, "p", disk=Overtaken(lambda: publish(channel, rival, 0, ROWS)))
    assert publish(channel, producer, 1, [Row("p", 3, 0)])
    assert sorted(r.number for r in everything(channel)) == [0, 1, 2, 3]
    producer = opened(channel, "p", disk=Overtaken(lambda: publish(channel, rival, 2, ROWS)))
    assert not publish(channel, producer, 2, ROWS)


def test_epochs_are_dense(tmp_path):
    channel = channel_at(tmp_path)
    with pytest.raises(ValueError, match="dense"):
        opened(channel, "p", 2)


def test_an_empty_batch_is_published_only_for_its_frontier(tmp_path):
    channel = channel_at(tmp_path, event_time="time")
    producer = opened(channel, "p")
    assert not publish(channel, producer, 0, [])
    assert publish(channel, producer, 1, [], frontier=5)
    assert not publish(channel, producer, 2, [], frontier=4)
    assert producer.frontier() == 5
    assert opened(channel, "p", 2).frontier() == 5, "a promise outlives the epoch"


def test_sealing_and_closing_can_be_repeated(tmp_path):
    channel = channel_at(tmp_path)
    producer = opened(channel, "p")
    for _ in range(2):
        producer.seal(0)
    for _ in range(2):
        producer.close(0)
    producer.seal(0)
    log = channel.log()
    assert [log.entry("p", 1, slot).kind for slot in range(2)] == [ManifestKind.SEAL, ManifestKind.CLOSE]
    assert log.entry("p", 1, 2) is None


def test_closing_whoever_was_never_declared_does_nothing(tmp_path):
    channel_at(tmp_path).producers.close("p", 0)


def test_a_closed_producer_can_come_back(tmp_path):
    channel = channel_at(tmp_path)
    publish(channel, opened(channel, "p"), 0, ROWS)
    channel.producers.close("p", 0)
    publish(channel, opened(channel, "p", 2), 1, [Row("p", 3, 0)])
    assert sorted(r.number for r in everything(channel)) == [0, 1, 2, 3]


def test_a_crash_at_any_step_loses_and_repeats_nothing(tmp_path):
    for steps in count():
        channel = channel_at(tmp_path / str(steps))
        try:
            disk = MortalDisk(steps)
            publish(channel, opened(channel, "p", 1, disk), 0, ROWS, disk=disk)
            publish(channel, opened(channel, "p", 2, disk), 1, [Row("p", 3, 0)], disk=disk)
            survived = True
        except Died:
            survived = False
        epoch = 2 if channel.log().opening("p", 1) else 1
        producer = opened(channel, "p", epoch)
        publish(channel, producer, 0, ROWS)
        publish(channel, producer, 1, [Row("p", 3, 0)])
        assert sorted(r.number for r in everything(channel)) == [0, 1, 2, 3], f"died before step {steps}"
        if survived:
            assert steps > 20
            return


def test_a_segment_that_was_cleaned_too_early_is_noticed(tmp_path):
    channel = channel_at(tmp_path)
    producer = opened(channel, "p")
    segment = channel.producers.stage("p", 1, table_of(ROWS), None)
    (channel.folder.segments("p", 1) / segment.name).unlink()
    with pytest.raises(SegmentGone, match="cleaned away"):
        producer.publish(ProducedBatch(0, (segment,)), 0)


def test_a_channel_is_created_once_and_for_all(tmp_path):
    channel_at(tmp_path, 4)
    channel_at(tmp_path, 4)
    with pytest.raises(ValueError, match="holds another channel"):
        channel_at(tmp_path, 8)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_names_that_are_no_file_names_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="a name consists of"):
        opened(channel_at(tmp_path), name)


def test_a_new_producer_promises_nothing(tmp_path):
    assert opened(channel_at(tmp_path), "p").frontier() == NEVER


def test_an_epoch_that_was_opened_before_terms_existed_has_term_0(tmp_path):
    channel = channel_at(tmp_path)
    opened(channel, "p", term=0)
    channel.folder.opened("p", 1).write_text('{"after_batch": 6, "frontier": 5}')
    assert channel.log().opening("p", 1) == Opening(6, 5, 0)
    assert opened(channel, "p").last_batch() == 6
    assert opened(channel, "p", 2, term=1).frontier() == 5
