"""The stateful operators one by one: whatever the order and the batches, the same rows come out."""

from collections import Counter

import pyarrow as pa
import pytest
from examples.taxi_routes.definition import RANKS, WINDOW_MINUTES
from examples.taxi_routes.ranking import CountByWindow, GlobalRank, PartialRank, first_ten, ranked
from examples.taxi_routes.ticks import Metronome
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

trips = st.lists(st.tuples(st.integers(1, 70), st.sampled_from("abcdefghijklmno")), max_size=60)
cuts = st.lists(st.integers(1, 8), max_size=10)


def window(trips, minute):
    return Counter(route for at, route in trips if minute - WINDOW_MINUTES < at <= minute)


def batches(rows, sizes):
    """The rows in batches of these sizes, then the rest."""
    for size in sizes:
        yield rows[:size]
        rows = rows[size:]
    yield rows


def output(processor, rows, sizes, key=0):
    tester = TwsTester(processor)
    return [row for batch in batches(rows, sizes) if batch for row in tester.test(key, batch)], tester


def ticks_of(trips):
    return [Row(key_group=0, minute=t, route=None, trips=window(trips, t).total()) for t in range(1, 71)]


def shuffled(data, ordered, others):
    """Both in one stream: the first in their order, the others anywhere."""
    rows = list(ordered)
    for other in others:
        rows.insert(data.draw(st.integers(0, len(rows))), other)
    return rows


@given(trips, cuts, st.data())
def test_a_window_is_counted_when_all_its_trips_are_there_be_they_before_or_after_the_tick(trips, cuts, data):
    arriving = [Row(key_group=0, minute=at, route=route, trips=1) for at, route in trips]
    counted, tester = output(CountByWindow(), shuffled(data, ticks_of(trips), arriving), cuts)
    got = {row["minute"]: dict(zip(row["routes"], row["trips"], strict=True)) for row in counted}
    assert len(counted) == len(got)
    assert got == {t: window(trips, t) for t in range(1, 71) if window(trips, t)}
    assert [row["minute"] for row in counted] == sorted(row["minute"] for row in counted)
    assert all(minute > 71 - WINDOW_MINUTES for (minute,) in tester.peekMapState("minutes", 0))
    assert tester.peekValueState("ticks", 0) == ([], [])


@given(trips, cuts, cuts, st.data())
def test_a_key_group_reports_every_minute_once_with_its_ten_first(trips, cuts, sizes, data):
    counts = [(0, t, route, n) for t in range(1, 71) for route, n in window(trips, t).items()]
    arriving = data.draw(st.permutations(counts)) if len(counts) < 50 else counts
    ticks = [Row(minute=t, routes=None, trips=None, counted=window(trips, t).total()) for t in range(1, 71)]
    rows = shuffled(data, ticks, ranked_rows(arriving, sizes))
    reports, tester = output(PartialRank(), rows, cuts)
    got = {row["minute"]: [tuple(entry) for entry in row["top"]] for row in reports}
    assert len(reports) == len(got)
    assert got == {t: first_ten(window(trips, t).items()) for t in range(1, 71)}
    assert tester.peekMapState("minutes", 0) == {}


def arrow(counts):
    kinds = {"key_group": pa.int32(), "minute": pa.int64(), "route": pa.string(), "trips": pa.int64()}
    columns = zip(*counts, strict=True) if counts else [[]] * len(kinds)
    return pa.RecordBatch.from_arrays([pa.array(c, t) for c, t in zip(columns, kinds.values(), strict=True)], [*kinds])


def ranked_rows(counts, sizes):
    """The counts in Arrow batches of these sizes, each of them ranked."""
    ranking = ranked(arrow(batch) for batch in batches(counts, sizes))
    return [Row(**row) for batch in ranking for row in batch.to_pylist()]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.text("abcdefg", min_size=1), st.integers(1, 4))))
def test_of_a_batch_the_first_ten_of_every_key_group_and_minute_are_left_and_the_sum_of_all(counts):
    got = {(row["key_group"], row["minute"]): row for row in ranked_rows(counts, [])}
    assert got.keys() == {(group, minute) for group, minute, _, _ in counts}
    for (group, minute), row in got.items():
        mine = [(route, n) for g, m, route, n in counts if (g, m) == (group, minute)]
        assert list(zip(row["routes"], row["trips"], strict=True)) == first_ten(mine)
        assert row["counted"] == sum(n for _, n in mine)


@given(
    st.lists(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 9)), min_size=1, max_size=6), cuts, st.data()
)
def test_a_minute_is_closed_when_all_key_groups_have_reported(groups, cuts, data):
    told = [
        Row(minute=5, key_group=g, top=[Row(route=f"{g}{route}", trips=n) for route, n in first_ten(counts.items())])
        for g, counts in enumerate(groups)
    ]
    rows = data.draw(st.permutations(told))
    ranked, tester = output(GlobalRank(len(groups)), rows, cuts, key=5)
    everything = [(f"{g}{route}", n) for g, counts in enumerate(groups) for route, n in counts.items()]
    assert [(row["minute"], [tuple(entry) for entry in row["ranking"]]) for row in ranked] == [
        (5, first_ten(everything))
    ]
    assert tester.peekValueState("reports", 5) is None


def test_a_minute_stays_open_while_a_key_group_is_missing():
    told = [Row(minute=5, key_group=g, top=[]) for g in range(3)]
    assert output(GlobalRank(4), told, [1], key=5)[0] == []


def arrivals(minutes):
    return [Row(key_group=0, minute=minute, trips=[minute % 2, 1]) for minute in minutes]


@given(st.lists(st.integers(1, 90), min_size=1, max_size=40).map(sorted), cuts)
def test_the_metronome_ticks_once_per_minute_that_is_over_with_the_totals_of_half_an_hour(minutes, cuts):
    ticks, _ = output(Metronome(), arrivals(minutes), cuts)
    assert [row["minute"] for row in ticks] == list(range(minutes[0], minutes[-1]))
    for row in ticks:
        past = [minute for minute in minutes if row["minute"] - WINDOW_MINUTES < minute <= row["minute"]]
        assert row["trips"] == [sum(minute % 2 for minute in past), len(past)]


def test_a_line_from_a_minute_that_is_over_is_an_error_and_not_a_wrong_result():
    with pytest.raises(ValueError, match="minute 4 came after the tick of minute 6"):
        output(Metronome(), arrivals([5, 7, 4]), [2])


def test_ranks_are_ten():
    assert len(first_ten([(str(n), n) for n in range(20)])) == RANKS
