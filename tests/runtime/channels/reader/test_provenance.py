import json

import pytest
from tests.runtime.channels.world import Row, channel_at, opened, table_of

from rheostat.runtime.channels.port.channel import ProducedBatch
from rheostat.runtime.channels.reader.provenance import (
    FrontierRule,
    Provenance,
    frontier_after,
    ingest_of,
    intake_of,
    local_path,
    taken_in,
)
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Cohort, Offset, Position, format_offset
from rheostat.runtime.channels.writer.channel_writer import INGEST_NOW, ChannelWriter, WriteSettings
from rheostat.runtime.channels.writer.outputs import Output


def note(checkpoint, batch, watermark_ms, *offsets, planned_ms=0):
    (checkpoint / "offsets").mkdir(exist_ok=True, parents=True)
    metadata = json.dumps({"batchWatermarkMs": watermark_ms, "batchTimestampMs": planned_ms})
    lines = ["v1", metadata, *(format_offset(offset) for offset in offsets)]
    (checkpoint / "offsets" / str(batch)).write_text("\n".join([*lines, "-", '{"other": 1}']))


def at(slot, frontier=NEVER):
    return Offset.of("c", [Cohort(frozenset(range(4)), {"p": Position.at(1, slot)})], frontier)


def test_the_promise_of_a_source_follows_its_rows(tmp_path):
    source = Provenance(FrontierRule.ROWS, disorder_us=10)
    assert frontier_after(source, 0, 100) == 90
    assert frontier_after(source, 0, None) == NEVER


def test_the_promise_of_a_stateful_fragment_is_its_watermark(tmp_path):
    note(tmp_path, 3, 0)
    note(tmp_path, 4, 5, at(3))
    fragment = Provenance(FrontierRule.WATERMARK, 0, tmp_path)
    assert frontier_after(fragment, 3, None) == NEVER, "a watermark of 0 means there is none yet"
    assert frontier_after(fragment, 4, 10**9) == 5000
    assert frontier_after(fragment, 99, None) == NEVER


def test_the_promise_of_a_stateless_fragment_is_the_least_of_its_inputs(tmp_path):
    note(tmp_path, 4, 0, at(3, 70), at(2, 60))
    assert frontier_after(Provenance(FrontierRule.INPUT, 1, tmp_path), 4, None) == 59


def test_a_rule_that_looks_into_a_checkpoint_needs_one():
    with pytest.raises(ValueError, match="needs the checkpoint"):
        Provenance(FrontierRule.INPUT)


def test_ages_come_from_what_was_consumed_since_the_last_publication(tmp_path):
    channel = channel_at(tmp_path / "c")
    producer = opened(channel, "p")
    for number in range(4):
        segment = channel.producers.stage("p", 1, table_of([Row("p", number, 0)]), None)
        producer.publish(ProducedBatch(number, (segment,), ingest=IngestHistogram.of([number])), 0)
    for batch, slot in enumerate([1, 2, 4]):
        note(tmp_path / "k", batch, 0, at(slot))
    fragment = Provenance(FrontierRule.INPUT, 0, tmp_path / "k", (channel.address,))
    assert ingest_of(fragment, 0, -1) == IngestHistogram.of([0])
    assert ingest_of(fragment, 2, 1) == IngestHistogram.of([2, 3])
    assert ingest_of(fragment, 2, 0) == IngestHistogram.of([1, 2, 3]), "batch 1 published nothing"


def test_rows_of_a_source_are_as_old_as_the_plan_of_their_batch(tmp_path):
    """A query from source to sink would seem to take no time at all if they were as old as what it wrote."""
    note(tmp_path, 3, 0, planned_ms=7000)
    source = Provenance(FrontierRule.ROWS, checkpoint=tmp_path)
    assert taken_in(source, 3, 20, 9000) == IngestHistogram(1, {7000: 20})
    assert taken_in(source, 3, 20, 6990) == IngestHistogram(1, {6990: 20}), "a clock was set back"
    assert taken_in(source, 4, 20, 9000) == IngestHistogram(1, {9000: 20}), "Spark has no note of the batch"
    assert taken_in(source, 3, 0, 9000) == IngestHistogram()


def test_a_batch_spark_knows_nothing_of_has_no_intake(tmp_path):
    assert intake_of(tmp_path, 0) is None


def test_paths_may_be_written_as_spark_does():
    assert local_path("file:///a/b%20c") == local_path("/a/b c")


def test_a_writer_dates_the_rows_of_a_source_by_the_plan_of_their_batch(tmp_path):
    channel = channel_at(tmp_path / "c")
    note(tmp_path / "k", 0, 0, planned_ms=7000)
    provenance = Provenance(FrontierRule.ROWS, checkpoint=tmp_path / "k")
    writer = ChannelWriter(WriteSettings("p", 1, (Output(channel.address),), provenance, INGEST_NOW))
    writer.declare(0)
    written = writer.write(table_of([Row("p", 0, 0), Row("p", 1, 0)]).to_batches(), 0, 8000)
    writer.publish(0, written, 9000)
    assert channel.log().entry("p", 1, 0).ingest == IngestHistogram(1, {7000: 2})
