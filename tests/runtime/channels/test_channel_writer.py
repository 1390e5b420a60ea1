"""The writer of a query stages every row it is given, in as many segments as the rows need."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import RuntimeFault
from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.channel_store import channel_at
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.reader.provenance import FrontierRule, Provenance
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import grouped, read_strands
from rheostat.runtime.channels.writer.channel_writer import INGEST_NOW, ChannelWriter, WriteSettings
from rheostat.runtime.channels.writer.outputs import Output


def batch_of(values):
    return pa.record_batch({"text": pa.array(values, pa.string())})


def written(folder, batches, most_bytes):
    """The channel after one batch, and the rows of each of its segments."""
    channel = channel_at(str(folder), ChannelSpec("c", 4))
    channel.create()
    output = Output(channel.address, Grouping.SHUFFLE)
    writer = ChannelWriter(WriteSettings("p", 1, (output,), Provenance(FrontierRule.ROWS), INGEST_NOW))
    writer.declare(0)
    results = writer.write([batch_of(values) for values in batches], 0, 0, most_bytes=most_bytes)
    assert writer.publish(0, results, 0) == bool(results), "a batch without rows needs no slot"
    return channel, [result.rows for result in results]


def texts_in(channel):
    log, start = channel.log(), Offset.start("c", channel.spec.all_groups)
    pieces = (
        piece
        for part in partitions(log, start, advance(log, start), 1)
        for piece in read_strands(part, log.fetch, None, labelled=False)
    )
    return Counter(value for piece in pieces for value in piece.column("text").to_pylist())


@given(st.lists(st.lists(st.text(max_size=30), max_size=6), max_size=6), st.integers(0, 200))
def test_rows_in_many_segments_are_the_rows_that_were_given(tmp_path_factory, batches, most_bytes):
    channel, sizes = written(tmp_path_factory.mktemp("writer") / "c", batches, most_bytes)
    assert texts_in(channel) == Counter(value for values in batches for value in values)
    assert sum(sizes) == sum(map(len, batches))


@pytest.mark.parametrize(
    ("most_bytes", "sizes"),
    [
        pytest.param(10**6, [6], id="few bytes: one segment"),
        pytest.param(1, [3, 2, 1], id="a batch that is too large by itself is a segment"),
    ],
)
def test_a_segment_holds_as_many_batches_as_fit(tmp_path, most_bytes, sizes):
    assert written(tmp_path / "c", [["a", "b", "c"], [], ["d", "e"], ["f"]], most_bytes)[1] == sizes


def test_rows_that_do_not_fit_into_one_batch_are_refused_rather_than_cut():
    class Unmergeable:
        """Stands for a column of more than 2 GiB of text: Arrow leaves it in several pieces."""

        num_rows, nbytes = 2, 3 << 30

        def combine_chunks(self):
            return self

        def to_batches(self):
            return [batch_of(["a"]), batch_of(["b"])]

    with pytest.raises(RuntimeFault, match="2 rows with 3221225472 bytes do not fit into one segment"):
        grouped(Unmergeable(), None)
