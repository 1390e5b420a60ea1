"""Writer and reader over channels in memory: the same options and the same rows as on disk, and no file."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
from tests.runtime.channels.world import turn

from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.channel_store import channel_at
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.channels.reader.channel_reader import ChannelReader
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.segment import read_strands
from rheostat.runtime.channels.streaming.options import reading_of, writing_of
from rheostat.runtime.channels.writer.channel_writer import ChannelWriter
from rheostat.runtime.channels.writer.outputs import Output, format_outputs


def created(name, groups=4):
    channel = channel_at(f"memory:in-memory/{name}", ChannelSpec(name, groups))
    channel.create()
    return channel


def test_rows_pass_two_channels_exactly_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers, squares = created("numbers"), created("squares")
    output = Output(numbers.address, Grouping.KEY, helper="group")
    source = ChannelWriter(writing_of({"producer": "p@n1", "term": "2", "outputs": format_outputs([output])}))
    options = {"producer": "f@n1", "outputs": format_outputs([Output(squares.address)]), "ingest": "now"}
    fragment = ChannelWriter(writing_of(options))
    outlets = {"outlets": json.dumps([squares.address]), "producer": "f@n1", "max_lag_rows": "1000"}
    reader = ChannelReader(reading_of({"path": numbers.address, "consumer": "f@n1", "clean_every_ms": "1", **outlets}))
    source.declare(0)
    fragment.declare(0)
    here = reader.first_offset()
    for batch in range(10):
        values = np.arange(7) + 7 * batch
        rows = pa.record_batch({"value": values, "group": values % 4})
        source.publish(batch, source.write([rows], 0, batch), batch)
        end = turn(reader, here, None, batch)
        read = reader.plan(here, end)
        for number in (batch, batch):  # the fragment's batch is done twice, as after a crash
            pieces = [piece for part in read for piece in read_strands(part, numbers.log().fetch, None, labelled=False)]
            squared = [pa.record_batch({"value": np.square(piece.column("value").to_numpy())}) for piece in pieces]
            fragment.publish(number, fragment.write(squared, number, batch), batch)
        here = end
    turn(reader, here, None, 1000)
    assert subscription_backlog(numbers, "f").rows == 0
    assert numbers.log().begin("p@n1", 1) > 0, "what was consumed is cleaned"
    sink = ChannelReader(reading_of({"path": squares.address}))
    begin = sink.first_offset()
    parts = sink.plan(begin, turn(sink, begin, None, 0))
    found = [piece for part in parts for piece in read_strands(part, squares.log().fetch, None, labelled=False)]
    values = Counter(value for piece in found for value in piece.column("value").to_pylist())
    assert values == Counter(number * number for number in range(70))
    assert list(tmp_path.iterdir()) == []
