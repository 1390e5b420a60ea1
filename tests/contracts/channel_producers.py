"""The promises of the writing side of a channel: every batch once, and only from the newest epoch and term."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import Fenced
from rheostat.runtime.channels.port.channel import Channel, EpochClaim, ProducedBatch
from rheostat.runtime.channels.port.places import last_epoch, promised
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.records.channel_errors import SegmentGone
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER, ManifestKind
from tests.contracts.channel_rows import (
    GROUPS,
    LATER,
    Written,
    batches,
    everything,
    laws,
    publish,
    rows_of,
    stage,
    start,
    table,
)


class ChannelProducersContract:
    """Give a fixture `new_channel`, see `ChannelContract`."""

    @pytest.fixture
    def channel(self, new_channel) -> Channel:
        return new_channel(GROUPS)

    @laws
    @given(plan=batches, repeats=st.lists(st.integers(1, 3), min_size=8, max_size=8))
    def test_a_batch_that_is_published_again_changes_nothing(self, new_channel, plan, repeats):
        channel, rows = new_channel(GROUPS), rows_of(plan)
        producer = channel.producers.open(EpochClaim("p", 1))
        for number, batch in enumerate(rows):
            told = [publish(channel, producer, number, batch) for _ in range(repeats[number])]
            assert told == [bool(batch)] + [False] * (len(told) - 1)
        assert Counter(everything(channel)) == Counter(row for batch in rows for row in batch)

    def test_an_earlier_batch_is_not_published_after_a_later_one(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        assert publish(channel, producer, 5, [(0, 0)])
        assert not publish(channel, producer, 3, [(1, 0)])
        assert producer.last_batch() == 5
        assert everything(channel) == [(0, 0)]

    @laws
    @given(plan=batches)
    def test_nothing_is_read_before_it_is_published(self, new_channel, plan):
        channel, rows = new_channel(GROUPS), rows_of(plan)
        producer = channel.producers.open(EpochClaim("p", 1))
        shown: list[Written] = []
        for number, batch in enumerate(rows):
            segment = stage(channel, "p", 1, batch)
            assert everything(channel) == sorted(shown), "staged rows are not shown"
            producer.publish(ProducedBatch(number, (segment,) if segment else ()), 0)
            shown += batch
            assert everything(channel) == sorted(shown)

    def test_rows_of_a_failed_attempt_are_never_read(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        assert stage(channel, "p", 1, [(9, 0)]) is not None
        publish(channel, producer, 0, [(0, 1)])
        assert everything(channel) == [(0, 1)]

    def test_a_segment_that_is_gone_cannot_be_published(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        segment = stage(channel, "p", 1, [(0, 0)])
        assert channel.consumers.clean(LATER, grace_ms=0).orphans == 1
        with pytest.raises(SegmentGone, match="cleaned away"):
            producer.publish(ProducedBatch(0, (segment,)), 0)

    def test_no_rows_make_no_segment_and_an_empty_batch_counts_only_for_its_frontier(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        assert stage(channel, "p", 1, []) is None
        assert not publish(channel, producer, 0, [])
        assert publish(channel, producer, 1, [], frontier=7)
        assert not publish(channel, producer, 2, [], frontier=6)
        assert producer.frontier() == promised(channel.log(), "p") == 7

    def test_a_broadcast_row_is_for_every_group(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        segment = channel.producers.stage("p", 1, table([(0, 0)])[0], None)
        producer.publish(ProducedBatch(0, (segment,)), 0)
        assert everything(channel) == [(0, group) for group in range(GROUPS)]

    @laws
    @given(epochs=st.lists(st.integers(0, 2), min_size=1, max_size=6))
    def test_only_the_newest_epoch_publishes(self, new_channel, epochs):
        """Epochs with so many batches each; after every opening all the older handles are tried."""
        channel, handles, wanted, number = new_channel(GROUPS), [], [], 0
        for epoch, count in enumerate(epochs, 1):
            handles.append(channel.producers.open(EpochClaim("p", epoch)))
            for old in handles[:-1]:
                with pytest.raises(Fenced):
                    publish(channel, old, 1000, [(-1, 0)])
            for _ in range(count):
                publish(channel, handles[-1], number, [(number, number % GROUPS)])
                wanted.append((number, number % GROUPS))
                number += 1
        assert everything(channel) == wanted

    def test_an_older_epoch_is_not_opened_again_and_none_is_left_out(self, channel):
        channel.producers.open(EpochClaim("p", 1))
        channel.producers.open(EpochClaim("p", 2))
        with pytest.raises(Fenced):
            channel.producers.open(EpochClaim("p", 1))
        with pytest.raises(ValueError, match="dense"):
            channel.producers.open(EpochClaim("p", 4))
        assert last_epoch(channel.log(), "p") == 2

    def test_opening_the_newest_epoch_again_goes_on_in_it(self, channel):
        publish(channel, channel.producers.open(EpochClaim("p", 1)), 0, [(0, 0)])
        again = channel.producers.open(EpochClaim("p", 1))
        assert not publish(channel, again, 0, [(0, 0)])
        assert publish(channel, again, 1, [(1, 0)])
        assert everything(channel) == [(0, 0), (1, 0)]

    def test_an_earlier_term_opens_nothing_and_seals_nothing(self, channel):
        owner = channel.producers.open(EpochClaim("p", 1, term=5))
        for epoch in (1, 2):
            with pytest.raises(Fenced):
                channel.producers.open(EpochClaim("p", epoch, term=4))
        assert publish(channel, owner, 0, [(0, 0)]), "the refused owner of an earlier term did not seal the epoch"

    def test_a_later_term_takes_over_with_a_new_epoch(self, channel):
        former = channel.producers.open(EpochClaim("p", 1, term=1))
        publish(channel, former, 0, [(0, 0)])
        with pytest.raises(Fenced):
            channel.producers.open(EpochClaim("p", 1, term=2))
        assert publish(channel, former, 1, [(1, 1)]), "an epoch belongs to the term that opened it"
        owner = channel.producers.open(EpochClaim("p", 2, term=2))
        with pytest.raises(Fenced):
            publish(channel, former, 2, [(2, 2)])
        assert not publish(channel, owner, 1, [(1, 1)]), "batch numbers go on"
        assert publish(channel, owner, 2, [(2, 2)])
        assert channel.log().opening("p", 2).term == 2

    @laws
    @given(claims=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=10))
    def test_the_terms_of_the_epochs_of_a_producer_never_fall(self, new_channel, claims):
        """Claims by term, of the next epoch or of the newest one."""
        channel = new_channel(GROUPS)
        for term, is_next in claims:
            log = channel.log()
            newest = last_epoch(log, "p") or 0
            wanted = max(1, newest + is_next)
            before = log.opening("p", newest)
            allowed = before is None or (term >= before.term if is_next else term == before.term)
            if allowed:
                assert channel.producers.open(EpochClaim("p", wanted, term)).epoch == wanted
            else:
                with pytest.raises(Fenced):
                    channel.producers.open(EpochClaim("p", wanted, term))
        log = channel.log()
        terms = [log.opening("p", epoch).term for epoch in range(1, (last_epoch(log, "p") or 0) + 1)]
        assert terms == sorted(terms)

    def test_sealed_it_publishes_nothing_more_and_sealing_again_changes_nothing(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        publish(channel, producer, 0, [(0, 0)])
        for _ in range(2):
            producer.seal(0)
        with pytest.raises(Fenced):
            publish(channel, producer, 1, [(1, 0)])
        assert not publish(channel, producer, 0, [(0, 0)]), "a replay is no error"
        kinds = [channel.log().entry("p", 1, slot).kind for slot in channel.log().slots("p", 1)]
        assert kinds == [ManifestKind.BATCH, ManifestKind.SEAL]

    def test_a_closed_producer_holds_no_event_time_back_and_can_come_back(self, new_channel):
        channel = new_channel(GROUPS, event_time="number")
        channel.producers.open(EpochClaim("p", 1))
        assert advance(channel.log(), start(channel)).frontier == NEVER
        channel.producers.close("p", 0)
        channel.producers.close("p", 0)
        channel.producers.close("never", 0)
        assert advance(channel.log(), start(channel)).frontier == FOREVER
        assert publish(channel, channel.producers.open(EpochClaim("p", 2, continues=False)), 0, [(0, 0)], frontier=1)

    def test_a_query_with_a_new_checkpoint_counts_its_batches_anew(self, channel):
        publish(channel, channel.producers.open(EpochClaim("p", 1)), 7, [(0, 0)])
        assert not publish(channel, channel.producers.open(EpochClaim("p", 2)), 7, [(0, 0)])
        assert publish(channel, channel.producers.open(EpochClaim("p", 3, continues=False)), 0, [(1, 0)])

    def test_of_two_that_race_every_batch_is_published_once(self, channel):
        channel.producers.open(EpochClaim("p", 1))
        told: list[bool] = []

        def race() -> None:
            producer = channel.producers.open(EpochClaim("p", 1))
            for number in range(30):
                told.append(publish(channel, producer, number, [(number, number % GROUPS)]))

        racers = [threading.Thread(target=race) for _ in range(2)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join(60)
        assert sum(told) == 30
        assert [number for number, _ in everything(channel)] == list(range(30))
