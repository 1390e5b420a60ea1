"""The promises of every channel: what is published, and nothing else, is read exactly once until it is cleaned."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.channels.port.backlog import must_wait, subscription_backlog
from rheostat.runtime.channels.port.channel import Cleaned, EpochClaim
from rheostat.runtime.channels.port.places import log_ends
from rheostat.runtime.channels.records.channel_errors import Gone
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.offset import merge, restrict
from tests.contracts.channel_producers import ChannelProducersContract
from tests.contracts.channel_rows import (
    GROUPS,
    LATER,
    Written,
    batches,
    everything,
    laws,
    names,
    publish,
    read,
    rows_of,
    stage,
    start,
)


class ChannelContract(ChannelProducersContract):
    """Give a fixture `new_channel`: a function that creates an empty channel, called "c", with so many key groups."""

    def test_it_is_created_once_and_stays_what_it_is(self, channel):
        channel.create()
        assert channel.exists()
        assert channel.spec == ChannelSpec("c", GROUPS)
        assert channel.log().producers() == ()
        assert channel.consumers.committed() == {}

    @laws
    @given(plan=batches, stops=st.lists(st.integers(1, 4), max_size=8))
    def test_reading_on_from_a_position_gives_the_same_rows_as_reading_at_once(self, new_channel, plan, stops):
        channel, rows = new_channel(GROUPS), rows_of(plan)
        producers = [channel.producers.open(EpochClaim(name, 1)) for name in "pq"]
        here, handed = start(channel), []
        for number, batch in enumerate(rows):
            publish(channel, producers[number % 2], number, batch, now_ms=number)
            if number < len(stops):
                here, more = read(channel, here, stops[number])
                handed += more
        while (step := read(channel, here, 2))[0] != here:
            here, handed = step[0], handed + step[1]
        assert Counter(handed) == Counter(row for batch in rows for row in batch)
        assert Counter(everything(channel)) == Counter(handed)

    @laws
    @given(plan=batches, owners=st.lists(st.integers(0, 1), min_size=GROUPS, max_size=GROUPS), after=st.integers(0, 8))
    def test_owners_of_key_groups_read_their_own_rows_also_after_a_move(self, new_channel, plan, owners, after):
        channel, rows = new_channel(GROUPS), rows_of(plan)
        producer = channel.producers.open(EpochClaim("p", 1))
        here, handed = start(channel), []
        for number, batch in enumerate(rows):
            publish(channel, producer, number, batch)
            if number == after:
                here, handed = read(channel, here)
        for owner in {*owners}:
            groups = frozenset(group for group in range(GROUPS) if owners[group] == owner)
            mine = read(channel, restrict(here, groups))[1]
            assert {group for _, group in mine} <= groups
            handed = handed + mine
        assert Counter(handed) == Counter(row for batch in rows for row in batch)

    def test_rows_of_a_group_keep_their_order(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        publish(channel, producer, 0, [(number, number % 2) for number in range(10)])
        publish(channel, producer, 1, [(number, number % 2) for number in range(10, 20)])
        rows = read(channel, start(channel))[1]
        for group in (0, 1):
            assert [number for number, its in rows if its == group] == list(range(group, 20, 2))

    def test_a_view_of_the_log_sees_what_is_published_later(self, channel):
        log = channel.log()
        producer = channel.producers.open(EpochClaim("p", 1))
        publish(channel, producer, 0, [(0, 0)])
        assert log.entry("p", 1, 0).rows == 1
        log.forget_before("p", 1, 1)
        assert log.entry("p", 1, 0).rows == 1, "what a view has forgotten is still in the log"
        assert log.entry("p", 1, 1) is None

    def test_waiting_ends_when_something_is_published_and_not_before_its_time(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        log = channel.log()
        assert not log.wait(log_ends(log), 0.0)
        ends, told = log_ends(log), []
        waiter = threading.Thread(target=lambda: told.append(channel.log().wait(ends, 60)))
        waiter.start()
        publish(channel, producer, 0, [(0, 0)])
        waiter.join(60)
        assert told == [True]
        assert log.wait(ends, 0.0), "the end has moved already"

    def test_progress_is_kept_by_subscription_and_instance(self, channel):
        begin = start(channel)
        channel.consumers.subscribe("count")
        channel.consumers.commit("count@n1", restrict(begin, frozenset({0})))
        channel.consumers.commit("sum@n1", begin)
        assert channel.consumers.committed() == {
            "count": {"count@n1": restrict(begin, frozenset({0}))},
            "sum": {"sum@n1": begin},
        }
        channel.consumers.forget("sum@n1")
        channel.consumers.forget("sum@n2")
        channel.consumers.unsubscribe("count")
        assert channel.consumers.committed() == {"sum": {}}

    def test_a_backlog_is_what_was_not_read(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        channel.consumers.subscribe("count")
        for number in range(3):
            publish(channel, producer, number, [(number, 0), (number, 1)], now_ms=10 + number)
        waiting = subscription_backlog(channel, "count")
        assert (waiting.rows, waiting.manifests, waiting.oldest_ms, waiting.oldest_rows) == (6, 3, 10, 2)
        assert must_wait(channel.log(), channel.consumers.committed(), 5, "p")
        channel.consumers.commit("count@n1", read(channel, start(channel), 2)[0])
        assert subscription_backlog(channel, "count").rows == 4
        assert not must_wait(channel.log(), channel.consumers.committed(), 5, "p")
        producer.seal(0)
        channel.consumers.commit("count@n1", read(channel, start(channel))[0])
        assert subscription_backlog(channel, "count").manifests == 0, "the end of an epoch is no batch"

    def test_nothing_is_cleaned_while_a_subscription_has_not_begun(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        publish(channel, producer, 0, [(0, 0)])
        publish(channel, producer, 1, [(1, 0)])
        assert channel.consumers.floors() == {}
        channel.consumers.commit("count@n1", read(channel, start(channel))[0])
        channel.consumers.subscribe("sum")
        assert channel.consumers.floors() == {}
        assert channel.consumers.clean(0) == Cleaned()

    def test_nothing_is_cleaned_while_a_key_group_has_no_owner(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        for number in range(2):
            publish(channel, producer, number, [(number, 0)])
        end = read(channel, start(channel))[0]
        channel.consumers.commit("count@n1", restrict(end, frozenset({0, 1, 2})))
        assert channel.consumers.floors() == {}
        channel.consumers.commit("count@n2", restrict(end, frozenset({3})))
        assert channel.consumers.floors() == {"p": (1, 2)}

    def test_what_was_cleaned_is_gone_and_the_last_batch_is_remembered(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        for number in range(4):
            publish(channel, producer, number, [(number, 0)])
        early, end = read(channel, start(channel), 1)[0], read(channel, start(channel))[0]
        channel.consumers.commit("count@n1", end)
        assert channel.consumers.floors() == {"p": (1, 4)}
        assert channel.consumers.clean(0) == Cleaned(manifests=3, segments=3)
        assert channel.consumers.clean(0) == Cleaned()
        assert channel.log().begin("p", 1) == 3
        with pytest.raises(Gone):
            read(channel, early)
        assert not publish(channel, channel.producers.open(EpochClaim("p", 1)), 3, [(3, 0)])
        assert read(channel, end) == (end, [])

    def test_cleaning_stays_below_what_it_is_told(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        for number in range(4):
            publish(channel, producer, number, [(number, 0)])
        channel.consumers.commit("count@n1", read(channel, start(channel))[0])
        assert channel.consumers.clean(0, below={}) == Cleaned()
        assert channel.consumers.clean(0, below={"p": (1, 2)}).manifests == 1
        channel.consumers.clean(0, below={"p": (9, 9)})
        assert channel.log().begin("p", 1) == 3, "no order goes beyond the floor"

    def test_orphans_are_removed_when_they_are_old(self, channel):
        producer = channel.producers.open(EpochClaim("p", 1))
        stage(channel, "p", 1, [(9, 0)])
        publish(channel, producer, 0, [(0, 0)])
        assert channel.consumers.clean(0).orphans == 0
        assert channel.consumers.clean(LATER, grace_ms=0) == Cleaned(orphans=1)
        assert everything(channel) == [(0, 0)]

    @laws
    @given(plan=batches, progress=st.lists(st.tuples(names, st.integers(1, 6)), max_size=8))
    def test_the_floor_never_passes_the_slowest_consumer(self, new_channel, plan, progress):
        """Cleaning after every step, each consumer still reads everything that it has not committed."""
        channel, rows = new_channel(GROUPS), rows_of(plan)
        owned = {"count@n1": frozenset({0, 1}), "count@n2": frozenset({2, 3}), "sum@n1": frozenset(range(GROUPS))}
        here = {name: start(channel, groups) for name, groups in owned.items()}
        handed: dict[str, list[Written]] = {name: [] for name in owned}
        for name, begin in here.items():
            channel.consumers.commit(name, begin)
        half = (len(rows) + 1) // 2
        for epoch, part in ((1, rows[:half]), (2, rows[half:])):
            producer = channel.producers.open(EpochClaim("p", epoch))
            for number, batch in enumerate(part):
                publish(channel, producer, number + half * (epoch - 1), batch)
        for name, most in progress:
            here[name], more = read(channel, here[name], most)
            handed[name] += more
            channel.consumers.commit(name, here[name])
            slowest = min(
                (cohort.at["p"].epoch, cohort.at["p"].done) if "p" in cohort.at else (1, 0)
                for offset in here.values()
                for cohort in offset.cohorts
            )
            assert channel.consumers.floors().get("p", (1, 0)) <= slowest
            channel.consumers.clean(0)
        for name, groups in owned.items():
            handed[name] += read(channel, here[name])[1]
            wanted = Counter(row for batch in rows for row in batch if row[1] in groups)
            assert Counter(handed[name]) == wanted
        assert merge([here["count@n1"], here["count@n2"]]).groups == channel.spec.all_groups
