"""Time of a row in a channel, from the commit of the writing batch to that of the reading one.

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

from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.channel_store import channel_at
from rheostat.runtime.channels.port.backlog import must_wait
from rheostat.runtime.channels.port.channel import Channel, EpochClaim, ProducedBatch
from rheostat.runtime.channels.port.places import next_slot
from rheostat.runtime.channels.reader.batch_end import advance
from rheostat.runtime.channels.reader.batch_plan import partitions
from rheostat.runtime.channels.reader.provenance import intake_of
from rheostat.runtime.channels.records.channel_spec import ChannelSpec
from rheostat.runtime.channels.records.offset import Offset
from rheostat.runtime.channels.records.segment import read_strands
from rheostat.runtime.channels.streaming.data_source import FORMAT, register
from rheostat.runtime.channels.streaming.key_group_columns import routed
from rheostat.runtime.channels.writer.outputs import Output, format_outputs
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
    a, b = (created(folder / name, ChannelSpec(name, groups, None, SCHEMA)) for name in "ab")
    session = spark.newSession()
    activate(session)
    register(session)
    stream = session.readStream.format("rate").option("rowsPerSecond", rate).load()
    rows = stream.select("value", (F.col("value") % 997).cast("string").alias("k"), F.col("timestamp").alias("ts"))
    queries = []
    for name, frame, channel in (
        ("source", rows, a),
        ("reader", session.readStream.format(FORMAT).options(path=a.address, consumer="reader").load(), b),
    ):
        output = Output(channel.address, Grouping.KEY, ("k",))
        options = {"producer": name, "outputs": format_outputs([output]), "checkpointLocation": str(folder / name)}
        if channel is b:
            options |= {"checkpoint": str(folder / name), "inputs": json.dumps([a.address]), "frontier": "input"}
        writer = routed(frame, [output]).writeStream.format(FORMAT).options(**options)
        queries.append(writer.trigger(processingTime="100 milliseconds").start())
    time.sleep(15 + seconds)
    for query in queries:
        query.stop()
    return measured(a, b, folder / "reader", time.time() * 1000 - seconds * 1000)


def created(folder: Path, spec: ChannelSpec) -> Channel:
    """A new channel in a folder."""
    channel = channel_at(str(folder), spec)
    channel.create()
    return channel


def measured(a: Channel, b: Channel, checkpoint: Path, since_ms: float) -> list[float]:
    """Hop times of the manifests of `a` that were published after the warm-up."""
    log, out, found = a.log(), b.log(), []
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
    channel = created(folder, ChannelSpec("c", groups))
    log, begin = channel.log(), Offset.start("c", channel.spec.all_groups)
    producer = channel.producers.open(EpochClaim("p@n1", 1))
    table = pa.table({"value": np.arange(5000), "k": [str(i % 997) for i in range(5000)], "x": np.random.rand(5000)})
    keys = np.random.randint(0, groups, 5000)
    state = {"at": begin, "end": begin, "batch": -1}

    def write() -> None:
        state["segment"] = channel.producers.stage("p@n1", 1, table, keys)

    def publish() -> None:
        state["batch"] += 1
        producer.publish(ProducedBatch(state["batch"], (state["segment"],)), 0)

    def plan_offset() -> None:
        state["at"], state["end"] = state["end"], advance(log, state["end"])

    def plan_parts() -> None:
        state["parts"] = partitions(log, state["at"], state["end"], 2)

    def read() -> None:
        for part in state["parts"]:
            pa.Table.from_batches(list(read_strands(part, log.fetch, None, labelled=False))).combine_chunks()

    steps: list[Callable[[], object]] = [
        write, publish, plan_offset, plan_parts, read,
        lambda: channel.consumers.commit("k@n1", state["end"]),
        lambda: advance(log, state["end"]),
        lambda: must_wait(log, channel.consumers.committed(), 10**9, "p@n1"),
    ]  # fmt: skip
    names = ["write segment", "publish", "latest offset", "partitions", "read", "commit", "idle poll", "lag"]
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(200):
        for name, step in zip(names, steps, strict=True):
            began = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - began))
    for name, taken in times.items():
        print(f"{name:14} {summary(taken[20:], 2)} ms")


def summary(values: list[float], digits: int = 0) -> str:
    """Median and tail."""
    ordered = sorted(values) or [float("nan")]
    tail = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {statistics.median(ordered):.{digits}f}, p95 {tail:.{digits}f}"


if __name__ == "__main__":
    main()
