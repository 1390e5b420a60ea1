"""A query without any batch so far waits for its first rows, but not for ever and not while it should pause."""

import json

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import LongType, StructType
from tests.runtime.channels.world import Row, channel_at, opened, publish

from rheostat.machine.disk import Disk
from rheostat.runtime.channels.hold_file import HoldOrder, write_control
from rheostat.runtime.channels.log import disk_log
from rheostat.runtime.channels.streaming import data_source
from rheostat.runtime.channels.streaming.data_source import FIRST_ROWS_SECONDS, LOOK_SECONDS, StreamReader

EVERYTHING = ReadAllAvailable()


class Clock:
    """Time that passes only while somebody waits; then something may happen."""

    def __init__(self) -> None:
        self.now, self.looks, self.happens = 1000.0, 0, {}

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return round(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.looks += 1
        self.happens.get(self.looks, lambda: None)()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(data_source, "time", clock)
    monkeypatch.setattr(disk_log, "time", clock)
    return clock


@pytest.fixture
def channel(tmp_path):
    channel = channel_at(tmp_path / "c")
    opened(channel, "p@n1")
    return channel


def reader_of(channel, **options):
    return StreamReader({"path": channel.address, **options}, StructType().add("number", LongType()))


def some_rows(channel, rows=1):
    publish(channel, opened(channel, "p@n1"), 0, [Row("p@n1", number, 0) for number in range(rows)])


def order(tmp_path, control):
    write_control(tmp_path / "control", control, Disk())


def first_batch(reader):
    start = reader.initialOffset()
    return reader.latestOffset(start, EVERYTHING) != start


def test_the_first_batch_has_the_first_rows(channel, clock):
    clock.happens[5] = lambda: some_rows(channel)
    assert first_batch(reader_of(channel))
    assert clock.looks == 5


def test_rows_that_are_there_are_not_waited_for(channel, clock):
    some_rows(channel)
    assert first_batch(reader_of(channel))
    assert clock.looks == 0


def test_it_does_not_wait_for_ever(channel, clock):
    assert not first_batch(reader_of(channel))
    assert clock.looks == pytest.approx(FIRST_ROWS_SECONDS / LOOK_SECONDS, abs=1)


def test_it_waits_only_once(channel, clock):
    reader = reader_of(channel)
    start = reader.initialOffset()
    reader.latestOffset(start, EVERYTHING)
    clock.looks, clock.now = 0, 1000.0
    assert reader.latestOffset(start, EVERYTHING) is start
    assert clock.looks == 0


def test_one_with_a_checkpoint_has_had_its_first_batch(channel, clock):
    reader = reader_of(channel)
    start = reader_of(channel).initialOffset()
    assert reader.latestOffset(start, EVERYTHING) is start
    assert clock.looks == 0


def test_nor_does_one_that_does_its_first_batch_again(channel, clock):
    some_rows(channel)
    end = reader_of(channel).latestOffset(reader_of(channel).initialOffset(), EVERYTHING)
    reader = reader_of(channel)
    reader.partitions(reader.initialOffset(), end)
    assert reader.latestOffset(end, EVERYTHING) is end
    assert clock.looks == 0


def test_it_is_held_while_the_others_start_and_then_goes_on(channel, clock, tmp_path):
    order(tmp_path, HoldOrder(hold=True, starting=True))
    some_rows(channel)
    clock.happens[7] = lambda: order(tmp_path, HoldOrder())
    assert first_batch(reader_of(channel, control=str(tmp_path / "control")))
    assert clock.looks == 7


@pytest.mark.parametrize("is_starting", [True, False])
def test_whoever_wants_it_to_rest_does_not_wait(channel, clock, tmp_path, is_starting):
    if is_starting:
        order(tmp_path, HoldOrder(hold=True, starting=True))
    clock.happens[3] = lambda: order(tmp_path, HoldOrder(hold=True))
    assert not first_batch(reader_of(channel, control=str(tmp_path / "control")))
    assert clock.looks == 3


def test_nor_whoever_wants_it_to_come_to_a_place(channel, clock, tmp_path):
    reader = reader_of(channel, control=str(tmp_path / "control"))
    here = reader._reader.first_offset()
    clock.happens[2] = lambda: order(tmp_path, HoldOrder(limits=(here,)))
    assert not first_batch(reader)
    assert clock.looks == 2


def test_rows_of_another_input_are_enough(channel, clock, tmp_path):
    other = channel_at(tmp_path / "other")
    opened(other, "p@n1")
    clock.happens[4] = lambda: some_rows(other)
    assert not first_batch(reader_of(channel, beside=json.dumps([other.address])))
    assert clock.looks == 4


def test_an_empty_batch_of_another_input_is_not(channel, clock, tmp_path):
    other = channel_at(tmp_path / "other")
    opened(other, "p@n1")
    clock.happens = {4: lambda: some_rows(other, 0), 6: lambda: some_rows(channel)}
    assert first_batch(reader_of(channel, beside=json.dumps([other.address])))
    assert clock.looks == 6


def test_one_that_reads_only_what_is_there_does_not_wait_for_more(channel, clock):
    reader = reader_of(channel)
    reader.prepareForTriggerAvailableNow()
    assert not first_batch(reader)
    assert clock.looks == 0
