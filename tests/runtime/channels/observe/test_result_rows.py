"""Rows received by the exact sink, from all instances that ran it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet
from tests.runtime.channels.world import channel_at, opened

from rheostat.errors import RuntimeFault
from rheostat.runtime.channels.observe.result_rows import last_rows, latest_rows, published, read_results
from rheostat.runtime.channels.observe.results_file import common_schema, write_results
from rheostat.runtime.channels.port.channel import ProducedBatch


def received(channel, producer, number, rows, schema):
    table = pa.Table.from_pylist(rows, schema=schema)
    segment = channel.producers.stage(producer.name, producer.epoch, table, None)
    producer.publish(ProducedBatch(number, [segment]), now_ms=number)


def test_nothing_yet(tmp_path):
    assert read_results(channel_at(tmp_path)).num_rows == 0


def test_rows_come_in_the_order_they_were_published_whoever_did_it(tmp_path):
    channel, schema = channel_at(tmp_path), pa.schema([("n", pa.int64())])
    one, other = opened(channel, "one"), opened(channel, "other")
    for number, producer in enumerate((other, one, one, other)):
        received(channel, producer, number, [{"n": number}], schema)
    assert read_results(channel).column("n").to_pylist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(pa.field("item", pa.struct([pa.field("r", pa.string())])))])
def test_what_may_be_null_is_said_by_the_plan_of_a_query_and_changes_with_the_deployment(tmp_path, kind):
    """Spark concludes more about a column in a query that also makes it than in one that reads it."""
    value = "a" if kind == pa.string() else [{"r": "a"}]
    strict = pa.list_(pa.field("item", pa.struct([pa.field("r", pa.string(), False)]), False))
    channel = channel_at(tmp_path)
    fused, alone = opened(channel, "fused"), opened(channel, "alone")
    never_null = pa.schema([pa.field("x", kind if kind == pa.string() else strict, False)])
    received(channel, fused, 0, [{"x": value}], never_null)
    received(channel, alone, 1, [{"x": value}, {"x": None}], pa.schema([pa.field("x", kind)]))
    assert read_results(channel).column("x").to_pylist() == [value, value, None]


def counted(channel, *batches):
    """Batches of (word, count), each by another producer in turn."""
    schema = pa.schema([("word", pa.string()), ("count", pa.int64())])
    producers = [opened(channel, "one"), opened(channel, "other")]
    for number, batch in enumerate(batches):
        rows = [{"word": word, "count": count} for word, count in batch]
        received(channel, producers[number % 2], number, rows, schema)
    return published(channel)


BATCHES = st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), min_size=1, max_size=5), max_size=6)


@given(BATCHES, st.integers(0, 40))
def test_the_last_rows_are_the_end_of_all_rows(tmp_path_factory, batches, rows):
    channel = channel_at(tmp_path_factory.mktemp("channel"))
    parts = counted(channel, *batches)
    whole = read_results(channel).to_pylist()
    assert last_rows(parts, rows).to_pylist() == (whole[-rows:] if rows else [])
    assert sum(part.rows for part in parts) == len(whole)


@given(BATCHES)
def test_the_latest_row_of_a_key_is_what_stands_after_reading_all_of_them(tmp_path_factory, batches):
    parts = counted(channel_at(tmp_path_factory.mktemp("channel")), *batches)
    stands = dict(row for batch in batches for row in batch)
    found = latest_rows(parts, ["word"]).to_pylist()
    assert {row["word"]: row["count"] for row in found} == stands
    assert len(found) == len(stands)


def test_the_latest_row_of_a_window(tmp_path):
    """A struct, which is no key of a dictionary in Python."""
    channel = channel_at(tmp_path)
    window = pa.struct([("start", pa.int64()), ("end", pa.int64())])
    producer = opened(channel, "one")
    for number, (start, total) in enumerate([(0, 1), (60, 1), (0, 2)]):
        row = {"window": {"start": start, "end": start + 60}, "total": total}
        received(channel, producer, number, [row], pa.schema([("window", window), ("total", pa.int64())]))
    found = latest_rows(published(channel), ["window"]).to_pylist()
    assert [(row["window"]["start"], row["total"]) for row in found] == [(60, 1), (0, 2)]


def saved(tmp_path, ending, *batches):
    parts = counted(channel_at(tmp_path / "channel"), *batches)
    path = tmp_path / f"rows{ending}"
    rows = write_results((part.read() for part in parts), common_schema(part.schema() for part in parts), path)
    return path, rows


READERS = {
    ".parquet": lambda path: parquet.read_table(path).to_pylist(),
    ".csv": lambda path: csv.read_csv(path).to_pylist(),
    ".jsonl": lambda path: [json.loads(line) for line in Path(path).read_text().splitlines()],
}


@pytest.mark.parametrize("ending", READERS)
def test_a_file_has_all_rows_in_their_order(tmp_path, ending):
    path, rows = saved(tmp_path, ending, [("a", 1), ("b", 1)], [("a", 2)], [("a", 3)])
    found = [(row["word"], row["count"]) for row in READERS[ending](path)]
    assert found == [("a", 1), ("b", 1), ("a", 2), ("a", 3)]
    assert rows == 4
    assert sorted(one.name for one in tmp_path.iterdir()) == ["channel", path.name], "nothing half written is left"


def test_times_and_nulls_in_lines_of_json(tmp_path):
    schema = pa.schema([("at", pa.timestamp("us", "UTC")), ("x", pa.float64())])
    table = pa.Table.from_pylist([{"at": datetime(2024, 2, 29, tzinfo=UTC), "x": None}], schema=schema)
    write_results([table], schema, tmp_path / "rows.jsonl")
    assert READERS[".jsonl"](tmp_path / "rows.jsonl") == [{"at": "2024-02-29T00:00:00+00:00", "x": None}]


def test_what_csv_cannot_hold_is_told_and_the_file_that_was_there_stays(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("what was there")
    table = pa.table({"list": [[1, 2]]})
    with pytest.raises(RuntimeFault, match=r"list; give the file the ending \.parquet or \.jsonl"):
        write_results([table], table.schema, path)
    assert path.read_text() == "what was there"
    assert [one.name for one in tmp_path.iterdir()] == ["rows.csv"]
