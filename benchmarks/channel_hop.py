"""How long a row takes through a channel: from the commit of the batch that wrote it to that of the one that read it.

`python benchmarks/channel_hop.py [rows per second] [seconds] [key groups]` prints the hop, and what each call of the
channel itself costs. Both queries run in one session with a trigger of 100 ms, as on an embedded node.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat.runtime.channels.log.consumers import commit, should_wait
from rheostat.runtime.channels.log.disk_log import DiskLog, next_slot
from rheostat.runtime.channels.log.producer import ProducedBatch, open_producer
from rheostat.runtime.channels.reader.advance import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.reader.provenance import intake_of
from rheostat.runtime.channels.records.channel import Channel, create_channel
from rheostat.runtime.channels.records.disk import Disk
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import read_strands, write_segment
from rheostat.runtime.channels.streaming.data_source import FORMAT, register
from rheostat.runtime.channels.streaming.routing import routed
from rheostat.runtime.channels.writer.outputs import Grouping, Output, format_outputs
from rheostat.runtime.spark.session import activate, create_session
from rheostat.runtime.spark.spark_settings import SparkSettings

SCHEMA = "value long, k string, ts timestamp"


def main() -> None:
    """Measures and prints."""
    rate, seconds, groups = (int(text) for text in [*sys.argv[1:], "5000", "30", "12"][:3])
    with tempfile.TemporaryDirectory() as folder:
        calls(Path(folder) / "calls", groups)
        spark = create_session(SparkSettings(), 2, "hop")
        hops = hop_times(spark, Path(folder), rate, seconds, groups)
        spark.stop()
    print(f"hop at {rate} rows/s, {groups} groups, {len(hops)} manifests: {summary(hops)} ms from commit to commit")


def hop_times(spark: SparkSession, folder: Path, rate: int, seconds: int, groups: int) -> list[float]:
    """Two queries with a channel between them: milliseconds from the commit of the one to that of the other."""
    a, b = (create_channel(Channel(folder / name, name, groups, None, SCHEMA), Disk()) for name in "ab")
    session = spark.newSession()
    activate(session)
    register(session)
    stream = session.readStream.format("rate").option("rowsPerSecond", rate).load()
    rows = stream.select("value", (F.col("value") % 997).cast("string").alias("k"), F.col("timestamp").alias("ts"))
    queries = []
    for name, frame, channel in (
        ("source", rows, a),
        ("reader", session.readStream.format(FORMAT).options(path=str(a.path), consumer="reader").load(), b),
    ):
        output = Output(str(channel.path), Grouping.KEY, ("k",))
        options = {"producer": name, "outputs": format_outputs([output]), "checkpointLocation": str(folder / name)}
        if channel is b:
            options |= {"checkpoint": str(folder / name), "inputs": json.dumps([str(a.path)]), "frontier": "input"}
        writer = routed(frame, [output]).writeStream.format(FORMAT).options(**options)
        queries.append(writer.trigger(processingTime="100 milliseconds").start())
    time.sleep(15 + seconds)
    for query in queries:
        query.stop()
    return measured(a, b, folder / "reader", time.time() * 1000 - seconds * 1000)


def measured(a: Channel, b: Channel, checkpoint: Path, since_ms: float) -> list[float]:
    """Hop times of the manifests of `a` that were published after the warm-up."""
    log, out, found = DiskLog(a), DiskLog(b), []
    for slot in range(next_slot(out, "reader", 1)):
        manifest = out.entry("reader", 1, slot)
        if manifest is None:
            continue
        now, before = intake_of(checkpoint, manifest.batch), intake_of(checkpoint, manifest.batch - 1)
        if now is None or before is None or not before.offsets[0].cohorts[0].at:
            continue
        first, stop = (intake.offsets[0].cohorts[0].at["source"].seen for intake in (before, now))
        published = [entry.published_ms for old in range(first, stop) if (entry := log.entry("source", 1, old))]
        found += [float(manifest.published_ms - time_ms) for time_ms in published if time_ms > since_ms]
    return found


def calls(folder: Path, groups: int) -> None:
    """What each step costs, without Spark: 5,000 rows a batch."""
    channel = create_channel(Channel(folder, "c", groups), Disk())
    log, disk = DiskLog(channel), Disk()
    producer = open_producer(log, disk, "p@n1", 1)
    table = pa.table({"value": np.arange(5000), "k": [str(i % 997) for i in range(5000)], "x": np.random.rand(5000)})
    keys = np.random.randint(0, groups, 5000)
    state = {"at": Offset.start("c", channel.all_groups), "end": Offset.start("c", channel.all_groups), "batch": -1}

    def write() -> None:
        state["segment"] = write_segment(channel.segments("p@n1", 1), table, keys, disk)

    def publish() -> None:
        state["batch"] += 1
        producer.publish(ProducedBatch(state["batch"], (state["segment"],)), 0)

    def plan_offset() -> None:
        state["at"], state["end"] = state["end"], advance(log, state["end"])

    def plan_parts() -> None:
        state["parts"] = partitions(log, state["at"], state["end"], 2)

    def read() -> None:
        for part in state["parts"]:
            pa.Table.from_batches(list(read_strands(part, None, labelled=False))).combine_chunks()

    steps: list[Callable[[], object]] = [
        write, publish, plan_offset, plan_parts, read,
        lambda: commit(channel, "k@n1", state["end"], disk),
        lambda: advance(log, state["end"]),
        lambda: should_wait(log, 10**9, "p@n1"),
    ]  # fmt: skip
    names = ["write segment", "publish", "latest offset", "partitions", "read", "commit", "idle poll", "lag"]
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(200):
        for name, step in zip(names, steps, strict=True):
            begin = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - begin))
    for name, taken in times.items():
        print(f"{name:14} {summary(taken[20:], 2)} ms")


def summary(values: list[float], digits: int = 0) -> str:
    """Median and tail."""
    ordered = sorted(values) or [float("nan")]
    tail = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {statistics.median(ordered):.{digits}f}, p95 {tail:.{digits}f}"


if __name__ == "__main__":
    main()
