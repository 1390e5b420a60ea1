import pytest
from tests.runtime.channels.world import Row, channel_at, opened, publish, rows_between, turn, waits

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.hold_file import HoldOrder, read_control, write_control
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.channel_reader import ChannelReader, Outlet, ReadSettings
from rheostat.runtime.channels.reader.emulated_links import EmulatedLink
from rheostat.runtime.channels.records.channel_errors import WrongGroups
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER
from rheostat.runtime.channels.records.offset import Cohort, Offset, Position, merge, restrict


def reader_of(channel, **how):
    return ChannelReader(ReadSettings(channel, how.pop("groups", channel.spec.all_groups), **how))


def filled(tmp_path, batches=5, rows=10, **how):
    channel = channel_at(tmp_path / "c", **how)
    producer = opened(channel, "p@n1")
    for number in range(batches):
        publish(channel, producer, number, [Row("p@n1", number * rows + i, i % 4) for i in range(rows)], now_ms=1000)
    return channel


def test_the_number_of_rows_of_a_batch_is_bounded_by_whole_manifests(tmp_path):
    reader = reader_of(filled(tmp_path))
    start = reader.first_offset()
    ends = []
    while (end := turn(reader, start, 15, 0)) != start:
        ends.append(end.cohorts[0].at["p@n1"].seen)
        start = end
    assert ends == [2, 4, 5]
    assert turn(reader, start, 15, 0) is start, "nothing new is the very same offset"


def test_a_reader_on_hold_plans_nothing(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, control=tmp_path / "control")
    start = reader.first_offset()
    write_control(tmp_path / "control", HoldOrder(hold=True), Disk())
    assert turn(reader, start, None, 0) is start
    write_control(tmp_path / "control", HoldOrder(), Disk())
    assert turn(reader, start, None, 0) != start


def test_a_limited_reader_ends_exactly_there(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, control=tmp_path / "control")
    limit = Offset.of("c", [Cohort(channel.spec.all_groups, {"p@n1": Position.at(1, 3)})])
    write_control(tmp_path / "control", HoldOrder(limits=(limit,)), Disk())
    assert read_control(tmp_path / "control").limit_of("c") == limit
    start = reader.first_offset()
    assert turn(reader, start, None, 0).cohorts == limit.cohorts
    steps = [start]
    while (end := turn(reader, steps[-1], 10, 0)) != steps[-1]:
        steps.append(end)
    assert [step.cohorts[0].at["p@n1"].seen for step in steps[1:]] == [1, 2, 3]


def test_a_limit_that_was_passed_stops_at_once(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, control=tmp_path / "control")
    here = advance(channel.log(), reader.first_offset())
    limit = Offset.of("c", [Cohort(channel.spec.all_groups, {"p@n1": Position.at(1, 3)})])
    write_control(tmp_path / "control", HoldOrder(limits=(limit,)), Disk())
    assert turn(reader, here, None, 0) is here


def test_a_limit_that_is_not_published_yet_is_waited_for(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, control=tmp_path / "control")
    limit = Offset.of("c", [Cohort(channel.spec.all_groups, {"p@n1": Position.at(1, 6)})])
    write_control(tmp_path / "control", HoldOrder(limits=(limit,)), Disk())
    here = turn(reader, reader.first_offset(), None, 0)
    assert here.cohorts[0].at["p@n1"].seen == 5
    publish(channel, opened(channel, "p@n1"), 5, [Row("p@n1", 99, 0)])
    publish(channel, opened(channel, "p@n1"), 6, [Row("p@n1", 100, 0)])
    assert turn(reader, here, None, 0).cohorts == limit.cohorts


def test_a_limit_needs_no_leave_of_event_time(tmp_path):
    """One instance is brought to where another is, though a producer declared later would hold it back now."""
    channel = channel_at(tmp_path / "c", event_time="time")
    publish(channel, opened(channel, "p"), 0, [Row("p", 0, 0, 50), Row("p", 1, 1, 60)], frontier=60)
    everything = Offset.start("c", channel.spec.all_groups)
    ahead = advance(channel.log(), everything)
    opened(channel, "q")
    reader = reader_of(channel, control=tmp_path / "control")
    assert rows_between(channel, everything, turn(reader, everything, None, 0)) == []
    write_control(tmp_path / "control", HoldOrder(limits=(ahead,)), Disk())
    assert turn(reader, everything, None, 0).cohorts == ahead.cohorts


def test_a_delayed_manifest_is_not_seen_before_its_time(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, links={"n1": EmulatedLink(delay_ms=50)})
    start = reader.first_offset()
    assert turn(reader, start, None, 1049) is start
    assert turn(reader, start, None, 1050).cohorts[0].at["p@n1"].seen == 5


def test_a_link_carries_one_manifest_after_the_other(tmp_path):
    channel = filled(tmp_path)
    size = channel.log().entry("p@n1", 1, 0).size_bytes
    reader = reader_of(channel, links={"n1": EmulatedLink(delay_ms=50, bytes_per_second=size * 10)})
    start = reader.first_offset()
    assert turn(reader, start, None, 1000 + 50 + 99) is start
    assert turn(reader, start, None, 1000 + 50 + 200).cohorts[0].at["p@n1"].seen == 2
    half = reader_of(channel, groups=frozenset({0, 1}), links={"n1": EmulatedLink(50, size * 10)})
    assert turn(half, half.first_offset(), None, 1000 + 50 + 65).cohorts[0].at["p@n1"].seen == 1


def test_what_was_seen_stays_seen_after_a_restart_behind_a_slow_link(tmp_path):
    channel = filled(tmp_path, event_time="time")
    opened(channel, "q@n1", frontier=-1)
    here = advance(channel.log(), Offset.start("c", channel.spec.all_groups))
    assert here.cohorts[0].at["p@n1"].cut == -1
    slow = reader_of(channel, links={"n1": EmulatedLink(bytes_per_second=0.001)})
    assert turn(slow, here, None, 2000) is here


def test_an_offset_of_other_groups_is_refused(tmp_path):
    reader = reader_of(filled(tmp_path), groups=frozenset({0, 1}))
    with pytest.raises(WrongGroups, match="owns key groups 0-1, its offset covers 0"):
        turn(reader, Offset.start("c", frozenset({0})), None, 0)


def test_a_reader_may_start_at_a_given_offset(tmp_path):
    channel = filled(tmp_path)
    given = Offset.of("c", [Cohort(frozenset({0, 3}), {"p@n1": Position.at(1, 2)})])
    reader = reader_of(channel, groups=frozenset({0, 1}), start=given)
    assert reader.first_offset() == merge([restrict(given, frozenset({0})), Offset.start("c", frozenset({1}))])
    end = turn(reader, reader.first_offset(), None, 0)
    assert len(end.cohorts) == 1, "cohorts that have come equally far are one"
    rows = rows_between(channel, reader.first_offset(), end)
    assert {(r.group, r.number // 10) for r in rows} == {(0, n) for n in (2, 3, 4)} | {(1, n) for n in range(5)}


def test_broadcast_rows_are_handed_over_once_per_owned_group(tmp_path):
    channel = channel_at(tmp_path)
    publish(channel, opened(channel, "p"), 0, [Row("p", 0, -1), Row("p", 1, -1)])
    owner = Offset.start("c", frozenset({1, 2, 3}))
    rows = rows_between(channel, owner, advance(channel.log(), owner))
    assert sorted(row.number for row in rows) == [0, 0, 0, 1, 1, 1]


def test_a_full_outlet_stops_the_reader_until_it_is_drained(tmp_path):
    source, sink = filled(tmp_path), channel_at(tmp_path / "d", 4)
    reader = reader_of(source, outlets=(Outlet(sink, "f", 15),))
    start = reader.first_offset()
    producer = opened(sink, "f")
    sink.consumers.subscribe("k")
    publish(sink, producer, 0, [Row("f", i, 0) for i in range(10)])
    assert turn(reader, start, None, 0) != start
    publish(sink, producer, 1, [Row("f", i, 0) for i in range(10)])
    assert subscription_backlog(sink, "k").rows == 20
    assert turn(reader, start, None, 0) is start
    here = Offset.start("c", sink.spec.all_groups)
    sink.consumers.commit("k@n1", advance(sink.log(), here, 5))
    assert subscription_backlog(sink, "k").manifests == 1
    assert turn(reader, start, None, 0) != start


def test_nobody_waits_for_consumers_there_are_not(tmp_path):
    channel = filled(tmp_path)
    assert not waits(channel, 0)
    channel.consumers.subscribe("k")
    assert waits(channel, 0)
    channel.consumers.unsubscribe("k")
    assert not waits(channel, 0)


def test_a_stale_instance_does_not_slow_producers_down(tmp_path):
    channel = filled(tmp_path)
    start = Offset.start("c", channel.spec.all_groups)
    channel.consumers.commit("k@old", start)
    channel.consumers.commit("k@new", advance(channel.log(), start))
    assert subscription_backlog(channel, "k").rows == 0


def test_an_idle_reader_does_not_seem_to_lag(tmp_path):
    """Spark commits a batch to its source only when it plans the next one: a waiting producer would wait for ever."""
    channel = filled(tmp_path)
    reader = reader_of(channel, consumer="k@n1")
    end = turn(reader, reader.first_offset(), None, 0)
    turn(reader, end, None, 0)
    assert subscription_backlog(channel, "k").rows == 0


def test_rows_wait_for_a_producer_that_was_paused(tmp_path):
    channel = channel_at(tmp_path, event_time="time")
    quick, slow = opened(channel, "quick"), opened(channel, "slow")
    start = Offset.start("c", channel.spec.all_groups)
    publish(channel, quick, 0, [Row("quick", t, 0, t) for t in range(10)], frontier=10)
    assert rows_between(channel, start, advance(channel.log(), start)) == []
    publish(channel, slow, 0, [Row("slow", t, 0, t) for t in range(4)], frontier=4)
    end = advance(channel.log(), start)
    times = {
        name: [r.time for r in rows_between(channel, start, end) if r.producer == name] for name in ("quick", "slow")
    }
    assert times == {"quick": [0, 1, 2, 3, 4], "slow": [0, 1, 2, 3]}
    assert end.frontier == 4
    channel.producers.close("slow", 0)
    last = advance(channel.log(), end)
    assert [r.time for r in rows_between(channel, end, last)] == [5, 6, 7, 8, 9]
    assert last.frontier == 10
    channel.producers.close("quick", 0)
    assert advance(channel.log(), last).frontier == FOREVER


def test_an_early_row_behind_one_that_waits_is_handed_over_with_it(tmp_path):
    """In order, and neither skipped as if it had been handed over with the earlier times."""
    channel = channel_at(tmp_path, event_time="time")
    p, q = opened(channel, "p"), opened(channel, "q")
    publish(channel, q, 0, [], frontier=10)
    publish(channel, p, 0, [Row("p", 0, 0, 9), Row("p", 1, 0, 12)], frontier=9)
    here = advance(channel.log(), Offset.start("c", channel.spec.all_groups))
    assert here.cohorts[0].at["p"].cut == 10
    publish(channel, p, 1, [Row("p", 2, 0, 10), Row("p", 3, 0, 14)], frontier=11)
    end = advance(channel.log(), here)
    assert [row.number for row in rows_between(channel, here, end)] == [1, 2]
    channel.producers.close("q", 0)
    assert [row.number for row in rows_between(channel, end, advance(channel.log(), end))] == [3]


def test_rows_kept_back_for_event_time_are_nobody_s_slowness(tmp_path):
    """Both producers have rows above the other's promise: if these counted, both would wait for ever."""
    channel = channel_at(tmp_path, event_time="time")
    for name in ("p", "q"):
        publish(channel, opened(channel, name), 0, [Row(name, t, 0, t) for t in range(100)], frontier=90)
    end = advance(channel.log(), Offset.start("c", channel.spec.all_groups))
    channel.consumers.commit("k@n1", end)
    assert end.cohorts[0].at["p"].cut == end.cohorts[0].at["q"].cut == 90
    assert not waits(channel, 0, "p")
    assert not waits(channel, 0, "q")


def test_a_producer_that_came_back_is_waited_for_again(tmp_path):
    channel = channel_at(tmp_path, event_time="time")
    p, q = opened(channel, "p"), opened(channel, "q")
    publish(channel, q, 0, [Row("q", t, 0, t) for t in range(10)], frontier=10)
    publish(channel, p, 0, [], frontier=5)
    channel.producers.close("p", 0)
    opened(channel, "p", 2, frontier=7)
    start = Offset.start("c", channel.spec.all_groups)
    end = advance(channel.log(), start)
    assert [row.time for row in rows_between(channel, start, end)] == list(range(8))
    assert end.frontier == 7


def test_while_a_producer_is_waited_for_no_batch_is_planned_for_the_others(tmp_path):
    """Else every batch of theirs would cost an empty one here, and all they wrote would be let loose at once."""
    channel = channel_at(tmp_path, event_time="time")
    quick = opened(channel, "quick")
    opened(channel, "slow")
    publish(channel, quick, 0, [Row("quick", 0, 0, 5)], frontier=5)
    here = advance(channel.log(), Offset.start("c", channel.spec.all_groups))
    for number in range(1, 4):
        publish(channel, quick, number, [Row("quick", number, 0, 5 + number)], frontier=5 + number)
        assert advance(channel.log(), here) is here


def test_one_big_batch_of_a_paused_producer_mixes_with_many_small_ones(tmp_path):
    """Whole manifests could not be put in order here: the big one overlaps all small ones."""
    channel = channel_at(tmp_path, event_time="time")
    big, small = opened(channel, "big"), opened(channel, "small")
    for number in range(20):
        publish(channel, small, number, [Row("small", number, 0, number)], frontier=number)
    publish(channel, big, 0, [Row("big", t, 0, t) for t in range(20)], frontier=19)
    here, latest, count = Offset.start("c", channel.spec.all_groups), NEVER, 0
    while (end := advance(channel.log(), here, 3)) != here:
        times = [row.time for row in rows_between(channel, here, end)]
        assert all(time >= latest for time in times)
        latest, count, here = max([latest, *times]), count + len(times), end
    assert count == 40


def test_two_epochs_whose_rows_overlap_do_not_block_each_other(tmp_path):
    """At the end of an epoch rows may still wait for the others, who must not wait for the next epoch."""
    channel = channel_at(tmp_path, event_time="time")
    p, q = opened(channel, "p"), opened(channel, "q")
    publish(channel, p, 0, [Row("p", 0, 0, 15)], frontier=10)
    publish(channel, q, 0, [Row("q", 0, 0, 11)], frontier=11)
    publish(channel, q, 1, [Row("q", 1, 0, 20)], frontier=20)
    publish(channel, opened(channel, "p", 2), 1, [Row("p", 1, 0, 30)], frontier=30)
    start = Offset.start("c", channel.spec.all_groups)
    end = advance(channel.log(), start)
    assert [(r.producer, r.number) for r in rows_between(channel, start, end, 1)] == [("p", 0), ("q", 0), ("q", 1)]


def test_a_zombie_of_the_same_name_does_not_have_the_last_word(tmp_path):
    channel = filled(tmp_path)
    reader = reader_of(channel, consumer="op@n1")
    end = turn(reader, reader.first_offset(), None, 0)
    assert turn(reader, end, None, 10) is end
    channel.consumers.commit("op@n1", reader.first_offset())
    assert subscription_backlog(channel, "op").manifests == 5, "the process of a stopped query spoke after it"
    assert turn(reader, end, None, 5000) is end
    assert subscription_backlog(channel, "op").manifests == 0


def test_the_end_of_a_producer_that_nobody_may_look_at_yet_is_no_lag(tmp_path):
    channel = channel_at(tmp_path / "c", event_time="time")
    old = opened(channel, "p@n1")
    publish(channel, old, 0, [Row("p@n1", 0, 0, 10)], frontier=10)
    reader = reader_of(channel, consumer="op@n1")
    end = turn(reader, reader.first_offset(), None, 0)
    channel.producers.close("p@n1", 0)
    opened(channel, "p@n2")
    assert turn(reader, end, None, 0) is end, "the new producer has promised nothing: it is the one to wait for"
    assert subscription_backlog(channel, "op").manifests == 0


def test_a_slot_whose_rows_are_in_no_order_makes_no_other_row_late(tmp_path):
    """A parser with two tasks writes what it read of a source before and after it moved, the later rows first."""
    channel = channel_at(tmp_path / "c", event_time="time")
    slow, fast = opened(channel, "p@n2"), opened(channel, "p@n3")
    publish(channel, slow, 0, [Row("p@n2", 0, 0, 1400)], frontier=1400)
    rows = [Row("p@n3", 0, 1, 3000), Row("p@n3", 1, 1, 1000), Row("p@n3", 2, 2, 1500), Row("p@n3", 3, 1, 1600)]
    publish(channel, fast, 0, rows, frontier=3000)
    log, start = channel.log(), Offset.start("c", channel.spec.all_groups)
    middle = advance(log, start)
    assert sorted(row.time for row in rows_between(channel, start, middle)) == [1000, 1400]
    publish(channel, slow, 1, [Row("p@n2", 1, 0, 2900)], frontier=2900)
    end = advance(log, middle)
    assert sorted(row.time for row in rows_between(channel, middle, end)) == [1500, 1600, 2900]


def test_rows_without_event_time_come_with_those_before_them(tmp_path):
    channel = channel_at(tmp_path / "c", event_time="time")
    one, other = opened(channel, "p@n1"), opened(channel, "p@n2")
    publish(channel, one, 0, [Row("p@n1", 0, 0, 5)], frontier=5)
    publish(channel, one, 1, [Row("p@n1", 1, 0, None)], frontier=5)
    publish(channel, one, 2, [Row("p@n1", 2, 0, 20), Row("p@n1", 3, 0, None)], frontier=20)
    publish(channel, other, 0, [], frontier=7)
    log, start = channel.log(), Offset.start("c", channel.spec.all_groups)
    middle = advance(log, start)
    assert [row.number for row in rows_between(channel, start, middle)] == [0, 1]
    publish(channel, other, 1, [], frontier=30)
    assert [row.number for row in rows_between(channel, middle, advance(log, middle))] == [2, 3]


def test_two_producers_that_are_replaced_at_once_do_not_wait_for_each_other(tmp_path):
    channel = channel_at(tmp_path / "c", event_time="time")
    for name in ("p@n1", "p@n2"):
        producer = opened(channel, name)
        publish(channel, producer, 0, [Row(name, 0, 0, 11), Row(name, 1, 0, 13)], frontier=11)
        opened(channel, name, 2)
    log, at, handed = channel.log(), Offset.start("c", channel.spec.all_groups), []
    while (end := advance(log, at)) != at:
        handed += rows_between(channel, at, end)
        at = end
    assert sorted(row.time for row in handed) == [11, 11, 13, 13]
