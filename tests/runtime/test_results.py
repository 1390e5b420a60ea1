"""What the exact sink has received, from whichever instances ran it."""

import pyarrow as pa
import pytest

from rheostat.runtime.channels.disk import Disk
from rheostat.runtime.channels.producer import Batch
from rheostat.runtime.channels.segment import write_segment
from rheostat.runtime.results import read_results
from tests.runtime.channels.world import channel_at, opened


def received(channel, producer, number, rows, schema):
    table = pa.Table.from_pylist(rows, schema=schema)
    segment = write_segment(channel.segments(producer.name, producer.epoch), table, None, Disk())
    producer.publish(Batch(number, [segment]), now_ms=number)


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
