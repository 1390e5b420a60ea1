"""A batch takes what it can do in its time: neither a minute's worth, nor so little that nothing gets done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.channels.world import channel_at

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.hold_file import HoldOrder, write_control
from rheostat.runtime.channels.reader.batch_limit import FREE_ROWS, BatchLimit
from rheostat.runtime.channels.reader.channel_reader import ChannelReader, ReadSettings
from rheostat.runtime.channels.records.offset import Offset

WANTED = 5.0


def worked_off(waiting, fixed, per_row, arriving=0.0, batches=60):
    """Durations and rows of the batches of a query that begins with so many rows waiting."""
    limit, now, found = BatchLimit(WANTED), 0.0, []
    for number in range(batches):
        limit.note_start(str(number), now)
        most = limit.most_rows()
        rows = int(waiting if most is None else min(waiting, most))
        if rows == 0:
            break
        limit.note_planned(str(number + 1), rows, now)
        seconds = fixed + per_row * rows
        waiting += arriving * seconds - rows
        now += seconds
        found.append((seconds, rows))
    return found


@given(
    waiting=st.integers(1_000, 100_000),
    fixed=st.floats(0.05, 20.0),
    per_row=st.floats(1e-4, 0.1),
)
def test_once_a_row_is_known_batches_end_in_time_and_are_no_smaller_than_they_need_be(waiting, fixed, per_row):
    batches = worked_off(waiting, fixed, per_row)
    allowed = max(WANTED, 2 * fixed)
    settled = batches[4:-1]
    assert all(seconds <= 1.3 * max(allowed, fixed + FREE_ROWS * per_row) for seconds, _ in settled)
    assert all(seconds >= 0.5 * min(allowed, WANTED) for seconds, _ in settled)
    assert len(settled) < 4 or len({rows for _, rows in settled}) > 1, "they differ, or nothing could be learned"


def test_a_backlog_after_an_outage_is_worked_off_in_pieces():
    batches = worked_off(3_000, 0.2, 0.02, arriving=40.0)
    assert batches[0][1] == FREE_ROWS
    assert all(seconds < 1.5 * WANTED for seconds, _ in batches[1:])
    assert sum(rows for _, rows in batches) > 3_000


def test_cheap_rows_are_all_taken_after_one_look():
    first, second, *_ = worked_off(1_000_000, 0.2, 1e-6)
    assert first[1] == FREE_ROWS
    assert second[1] > 1_000_000 / 100


@pytest.mark.parametrize("fixed", [6.0, 30.0])
def test_where_planning_alone_takes_longer_than_a_batch_may_rows_still_get_through(fixed):
    batches = worked_off(50_000, fixed, 0.001, arriving=100.0)
    done, taken = sum(rows for _, rows in batches), sum(seconds for seconds, _ in batches)
    assert 50_000 + 100.0 * taken - done < 2 * 100.0 * fixed, "only what has just come waits in the end"


def test_a_usual_batch_is_not_held_up_by_a_slow_small_one():
    limit = BatchLimit(WANTED)
    for number, (rows, seconds) in enumerate([(20, 0.3), (25, 0.5), (18, 0.25)]):
        limit.note_start(str(number), 10.0 * number)
        limit.note_planned(str(number + 1), rows, 10.0 * number)
        limit.note_start(str(number + 1), 10.0 * number + seconds)
    assert limit.most_rows() >= FREE_ROWS


def test_only_the_first_look_after_a_batch_ends_it():
    limit = BatchLimit(WANTED)
    limit.note_planned("a", 1_000, 0.0)
    limit.note_planned("a", 1_000, 1.0)
    limit.note_start("a", 10.0)
    limit.note_start("a", 500.0)
    assert limit.most_rows() == 350, "half as many for half the time, and less every other time"


def test_whoever_is_waited_for_is_not_cut_short(tmp_path):
    channel = channel_at(tmp_path / "c", 2)
    reader = ChannelReader(ReadSettings(channel, channel.spec.all_groups, control=tmp_path / "control.json"))
    assert not reader.has_limit(reader.order())
    write_control(tmp_path / "control.json", HoldOrder(limits=(Offset.start("c", channel.spec.all_groups),)), Disk())
    assert reader.has_limit(reader.order())
