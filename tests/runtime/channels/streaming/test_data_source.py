"""Channels between real streaming queries: exact, in order, across stops and restarts."""

import json
import time
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.types import StructType

from rheostat.errors import RuntimeFault
from rheostat.machine.disk import Disk
from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels import channel_store
from rheostat.runtime.channels.hold_file import HoldOrder, write_control
from rheostat.runtime.channels.port.backlog import subscription_backlog
from rheostat.runtime.channels.port.channel import Channel, EpochClaim
from rheostat.runtime.channels.port.places import next_slot
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.batch_plan import ingest_histogram, partitions
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.manifest import NEVER
from rheostat.runtime.channels.records.offset import Cohort, Offset, Position
from rheostat.runtime.channels.records.segment import read_strands
from rheostat.runtime.channels.streaming.data_source import FORMAT, ChannelSource, register
from rheostat.runtime.channels.streaming.key_group_columns import key_group, routed
from rheostat.runtime.channels.writer.outputs import Output, format_outputs
from rheostat.runtime.spark.session import create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

pytestmark = pytest.mark.spark
ROW = "name string, value long, k string"


@pytest.fixture(scope="module")
def spark():
    settings = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "Europe/Rome"}
    session = create_session(SparkSettings("local[2]", settings), 2, "channels")
    register(session)
    yield session
    for query in session.streams.active:
        query.stop()
    session.stop()


def channel_at(path: Path, groups: int = 8, event_time: str | None = None, schema: str = ROW) -> Channel:
    channel = channel_store.channel_at(str(path), ChannelSpec(path.name, groups, event_time, schema))
    channel.create()
    return channel


def read(spark: SparkSession, channel: Channel, **options: str) -> DataFrame:
    return spark.readStream.format(FORMAT).options(path=channel.address, **options).load()


def write(frame: DataFrame, output: Output, checkpoint: Path, producer: str, **options: str) -> StreamingQuery:
    return (
        routed(frame, [output])
        .writeStream.format(FORMAT)
        .options(producer=producer, outputs=format_outputs([output]), checkpoint=str(checkpoint), **options)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("append")
        .start()
    )


def numbers(spark: SparkSession, name: str, rows: int) -> DataFrame:
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 1).load()
    return source.select(F.lit(name).alias("name"), "value", (F.col("value") % 13).cast("string").alias("k"))


def content(channel: Channel) -> list[dict[str, object]]:
    """Everything in a channel, in the order a reader gets it."""
    log, start = channel.log(), Offset.start(channel.spec.name, channel.spec.all_groups)
    parts = partitions(log, start, advance(log, start), 1)
    return [
        row
        for part in parts
        for piece in read_strands(part, log.fetch, channel.spec.event_time, labelled=False)
        for row in piece.to_pylist()
    ]


def wait_for(condition, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def slots(channel: Channel, producer: str) -> int:
    return next_slot(channel.log(), producer, 1) if channel.log().opening(producer, 1) else 0


def test_rows_of_every_type_are_handed_over_as_they_are(spark, tmp_path):
    now = datetime(2026, 3, 1, 12, 30, 15, 123456)
    schema = (
        "k string, l long, d double, t timestamp, n timestamp_ntz, w struct<start: timestamp, end: timestamp>, "
        "a array<string>, m map<string, timestamp>, c decimal(20, 4), y date, b boolean, x binary, s short"
    )
    rows = [
        (
            "ä",
            2**60,
            0.1,
            now,
            now,
            (now, now + timedelta(1)),
            ["p", None],
            {"q": now},
            Decimal("1.5000"),
            date(2026, 1, 2),
            True,
            b"\0\1",
            7,
        ),
        (None,) * 13,
        ("", -1, float("-inf"), now, now, (None, now), [], {}, Decimal("-9.1234"), date(1900, 1, 1), False, b"", -7),
    ]
    frame = spark.createDataFrame(rows, schema)
    frame.write.parquet(str(tmp_path / "in"))
    channel = channel_at(tmp_path / "a", schema=schema)
    stream = spark.readStream.schema(frame.schema).parquet(str(tmp_path / "in"))
    query = write(stream, Output(channel.address), tmp_path / "c1", "p")
    query.processAllAvailable()
    query.stop()
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # a reader in another session may live elsewhere
    out = read(spark, channel).writeStream.format("memory").queryName("types").trigger(availableNow=True).start()
    out.awaitTermination()
    spark.conf.set("spark.sql.session.timeZone", "Europe/Rome")
    assert sorted(map(repr, spark.table("types").collect())) == sorted(map(repr, frame.collect()))


def test_two_producers_and_a_consumer_stopped_at_any_time_stay_exact_and_in_order(spark, tmp_path):
    a, b = channel_at(tmp_path / "a"), channel_at(tmp_path / "b")
    names = ["p@n1", "q@n2"]

    def start(name: str) -> StreamingQuery:
        if name in names:
            return write(numbers(spark, name, 200), Output(a.address, Grouping.KEY, ("k",)), tmp_path / name, name)
        frame = read(spark, a, consumer="f@n1", replicas="2", max_rows_per_batch="700", clean_every_ms="500")
        output = Output(b.address, Grouping.KEY, ("k",))
        return write(frame, output, tmp_path / name, name, inputs=json.dumps([a.address]), frontier="input")

    def revive() -> None:
        """On a busy machine Spark gives up on a Python worker after 10 s: one more way to die, survived like any."""
        for name, query in running.items():
            if not query.isActive:
                assert "failed to connect back" in str(query.exception())
                running[name] = start(name)

    def written(rows: int) -> bool:
        revive()
        return slots(b, "f@n1") >= rows

    running = {name: start(name) for name in (*names, "f@n1")}
    for round_, name in enumerate(["p@n1", "f@n1", "q@n2", "f@n1", "f@n1", "p@n1"]):
        before = slots(b, "f@n1")
        wait_for(lambda: written(before + 2))  # noqa: B023
        time.sleep(0.03 * round_)
        running[name].stop()
        running[name] = start(name)
    wait_for(lambda: written(15) and all(running[name].lastProgress for name in running))
    for name in names:
        running[name].stop()
    running["f@n1"].processAllAvailable()
    running["f@n1"].stop()
    found = content(b)
    for name in names:
        values = [row["value"] for row in found if row["name"] == name]
        assert sorted(values) == list(range(len(values))), "every row once"
        assert len(values) >= 1000
        for key in range(13):
            mine = [value for value in values if value % 13 == key]
            assert mine == sorted(mine), "in order per key and producer"
    assert subscription_backlog(a, "f").rows == 0
    assert a.log().begin("p@n1", 1) > 0, "what was consumed is cleaned"


def test_two_consumers_with_disjoint_groups_share_the_rows(spark, tmp_path):
    channel = channel_at(tmp_path / "a")
    query = write(numbers(spark, "p", 500), Output(channel.address, Grouping.KEY, ("k",)), tmp_path / "p", "p")
    wait_for(lambda: slots(channel, "p") >= 3)
    query.stop()
    expected = Counter(row["value"] for row in content(channel))
    seen: Counter[int] = Counter()
    for index, groups in enumerate(["0-2,7", "3-6"]):
        frame = spark.readStream.format(FORMAT).schema(f"{ROW}, key_group int")
        stream = frame.options(path=channel.address, groups=groups, replicas="3").load()
        out = stream.writeStream.format("memory").queryName(f"share{index}").trigger(availableNow=True).start()
        out.awaitTermination()
        table = spark.table(f"share{index}").withColumn("wanted", key_group(["k"], 8)).collect()
        assert all(row.key_group == row.wanted for row in table)
        assert {row.key_group for row in table} <= ({0, 1, 2, 7} if index == 0 else {3, 4, 5, 6})
        seen.update(row.value for row in table)
    assert seen == expected


def test_one_query_writes_several_channels_with_different_groupings(spark, tmp_path):
    outputs = [
        Output(str(tmp_path / "keyed"), Grouping.KEY, ("k",)),
        Output(str(tmp_path / "ticks"), Grouping.BROADCAST),
        Output(str(tmp_path / "one"), Grouping.SINGLE),
        Output(str(tmp_path / "spread"), Grouping.SHUFFLE),
    ]
    channels = [channel_at(Path(output.path)) for output in outputs]
    query = (
        routed(numbers(spark, "p", 100), outputs)
        .writeStream.format(FORMAT)
        .options(producer="p", outputs=format_outputs(outputs))
        .option("checkpointLocation", str(tmp_path / "c"))
        .start()
    )
    wait_for(lambda: slots(channels[3], "p") >= 3)
    query.stop()
    sizes = [len(content(channel)) for channel in channels]
    assert sizes[0] in (sizes[2], sizes[2] + 100)
    assert sizes[1] % 8 == 0
    assert set(content(channels[0])[0]) == {"name", "value", "k"}, "helper columns are not stored"
    frame = read(spark, channels[1], groups="1-3")
    out = frame.writeStream.format("memory").queryName("ticks").trigger(availableNow=True).start()
    out.awaitTermination()
    counts = Counter(row.value for row in spark.table("ticks").collect())
    assert set(counts.values()) == {3}, "once per owned group"


def test_a_paused_producer_is_never_late_for_a_watermark(spark, tmp_path):
    """One producer is far ahead, its rows come in many small batches; the other catches up with one big batch."""
    schema = "ts timestamp, name string"
    channel = channel_at(tmp_path / "a", event_time="ts", schema=schema)
    zero = datetime(2026, 1, 1)
    rows = {name: [(zero + timedelta(seconds=s), name) for s in range(120)] for name in ("quick", "slow")}
    for name, parts in (("quick", 12), ("slow", 1)):
        folder = tmp_path / name
        size = 120 // parts
        for part in range(parts):
            data = spark.createDataFrame(rows[name][part * size : (part + 1) * size], schema)
            data.coalesce(1).write.mode("append").parquet(str(folder))

    def start(name: str) -> StreamingQuery:
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / name))
        return write(stream, Output(channel.address, Grouping.SHUFFLE), tmp_path / f"c-{name}", name)

    channel.producers.open(EpochClaim("slow", 1))  # declared before anybody reads, so that readers wait for it
    quick = start("quick")
    quick.processAllAvailable()
    quick.stop()
    counted = (
        read(spark, channel, max_rows_per_batch="10", consumer="k@n1")
        .withWatermark("ts", "0 seconds")
        .groupBy(F.window("ts", "10 seconds"))
        .count()
    )
    query = counted.writeStream.format("memory").queryName("windows").outputMode("append")
    consumer = query.option("checkpointLocation", str(tmp_path / "k")).start()
    consumer.processAllAvailable()
    slow = start("slow")
    slow.processAllAvailable()
    slow.stop()
    for name in rows:
        channel.producers.close(name, 0)
    consumer.processAllAvailable()
    progress = consumer.recentProgress
    consumer.stop()
    assert sum(p.stateOperators[0].numRowsDroppedByWatermark for p in progress if p.stateOperators) == 0
    assert sum(p.numInputRows for p in progress) == 240
    windows = {row.window.start: row["count"] for row in spark.table("windows").collect()}
    assert windows == {zero + timedelta(seconds=10 * w): 20 for w in range(11)}


def test_a_query_is_brought_to_end_at_a_given_offset_and_goes_on(spark, tmp_path):
    a, b = channel_at(tmp_path / "a"), channel_at(tmp_path / "b")
    source = write(numbers(spark, "p", 50), Output(a.address), tmp_path / "p", "p")
    wait_for(lambda: slots(a, "p") >= 6)
    source.stop()
    control = tmp_path / "control"
    limit = Offset.of("a", [Cohort(a.spec.all_groups, {"p": Position.at(1, 3)})])
    write_control(control, HoldOrder(limits=(limit,)), Disk())
    query = write(read(spark, a, control=str(control), consumer="f"), Output(b.address), tmp_path / "f", "f")
    wait_for(lambda: slots(b, "f") >= 1)
    query.processAllAvailable()
    assert len(content(b)) == 150 - 50 * (a.log().entry("p", 1, 0).rows == 0)
    write_control(control, HoldOrder(hold=True), Disk())
    time.sleep(0.3)
    held = len(content(b))
    write_control(control, HoldOrder(), Disk())
    wait_for(lambda: len(content(b)) == len(content(a)) > held)
    query.stop()


def test_ages_and_frontiers_travel_with_the_rows(spark, tmp_path):
    schema = "value long, ts timestamp"
    a, b = (
        channel_at(tmp_path / "a", event_time="ts", schema=schema),
        channel_at(tmp_path / "b", event_time="ts", schema=schema),
    )
    stream = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    output = Output(a.address)
    source = write(
        stream.select("value", F.col("timestamp").alias("ts")),
        output,
        tmp_path / "p",
        "p",
        ingest="ts",
        disorder_ms="500",
    )
    frame = read(spark, a, consumer="f@n1")
    query = write(frame, Output(b.address), tmp_path / "f", "f@n1", inputs=json.dumps([a.address]), frontier="input")
    wait_for(lambda: slots(b, "f@n1") >= 3)
    source.stop()
    query.processAllAvailable()
    query.stop()
    for channel, producer in ((a, "p"), (b, "f@n1")):
        log, start = channel.log(), Offset.start(channel.spec.name, channel.spec.all_groups)
        end = advance(log, start)
        rows = sum(log.entry(producer, 1, slot).rows for slot in range(slots(channel, producer)))
        assert ingest_histogram(log, start, end).rows == rows > 0
        latest = max(log.entry(producer, 1, slot).latest for slot in range(slots(channel, producer)))
        assert end.frontier == latest - 500_000 > NEVER


def test_aborting_a_batch_that_was_published_removes_nothing(tmp_path):
    """Spark does that when a query is stopped while its batch is being published."""
    channel = channel_at(tmp_path / "a")
    source = ChannelSource({"producer": "p", "outputs": format_outputs([Output(channel.address)])})
    writer = source.streamWriter(StructType(), overwrite=False)
    rows = pa.RecordBatch.from_pydict({"name": ["p"], "value": [1], "k": ["a"]})
    messages = [writer.write(iter([rows]))]
    writer.commit(messages, 0)
    writer.abort(messages, 0)
    assert content(channel) == [{"name": "p", "value": 1, "k": "a"}]


@pytest.mark.parametrize("unknown", [None, "a message of another writer"])
def test_a_batch_with_a_task_that_told_nothing_known_is_not_published(tmp_path, unknown):
    """Its rows would be lost without a word."""
    channel = channel_at(tmp_path / "a")
    source = ChannelSource({"producer": "p", "outputs": format_outputs([Output(channel.address)])})
    writer = source.streamWriter(StructType(), overwrite=False)
    rows = pa.RecordBatch.from_pydict({"name": ["p"], "value": [1], "k": ["a"]})
    message = writer.write(iter([rows]))
    with pytest.raises(RuntimeFault, match="a task of batch 0 told"):
        writer.commit([message, unknown], 0)
    assert content(channel) == []
    writer.commit([message], 0)
    assert content(channel) == [{"name": "p", "value": 1, "k": "a"}]


def test_arrow_types_are_those_of_spark(spark, tmp_path):
    """What lies on the disk can be read without Spark."""
    channel = channel_at(tmp_path / "a")
    query = write(numbers(spark, "p", 10), Output(channel.address), tmp_path / "p", "p")
    wait_for(lambda: slots(channel, "p") >= 2)
    query.stop()
    log, start = channel.log(), Offset.start("a", channel.spec.all_groups)
    (part,) = partitions(log, start, advance(log, start), 1)
    piece = next(iter(read_strands(part, log.fetch, None, labelled=False)))
    assert piece.schema.types == [pa.string(), pa.int64(), pa.string()]
