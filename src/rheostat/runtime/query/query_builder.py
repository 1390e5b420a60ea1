"""Builder that turns an instance specification into a running Structured Streaming query.

Rows are counted at every boundary between operators, but only where their number is not known otherwise (`row_counts`).
"""

import json
from contextlib import nullcontext
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import BooleanType, StructField, StructType

from rheostat.model.graph.application import RESULTS_SINK, Grouping
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.records.segment import KEY_GROUP
from rheostat.runtime.channels.streaming.batch_sink import into_channels
from rheostat.runtime.channels.streaming.data_source import FORMAT, TICK, register
from rheostat.runtime.channels.streaming.key_group_columns import routed
from rheostat.runtime.channels.writer.outputs import Output, format_outputs
from rheostat.runtime.plan.instance_spec import Input, InstanceSpec, OperatorStep
from rheostat.runtime.query.row_counts import READ, RowCounts, channel_observation, equal_observation, input_observation
from rheostat.runtime.query.udf_timing import TimingNotes
from rheostat.runtime.query.user_code import call_operator, load_function
from rheostat.runtime.spark.session import activate


def start_query(
    spark: SparkSession,
    spec: InstanceSpec,
    notes: TimingNotes | None = None,
    tally: RowCounts | None = None,
    *,
    once: bool = False,
) -> StreamingQuery:
    """Starts the query of an instance; with `once`, only until its uncommitted batch is committed.

    With `notes` the operators' own Python code is timed. The `tally` adds counts that Spark does not report.
    """
    tally = RowCounts() if tally is None else tally
    session = spark.newSession()
    # State has as many partitions as the instance has replicas, so each instance has its own session.
    session.conf.set("spark.sql.shuffle.partitions", str(spec.replicas))
    activate(session)
    register(session)
    frame = _chain(session, spec, notes, tally)
    if _leaves(frame) > max(1, len(spec.inputs)):
        # If an operator uses an input twice, Spark reads it twice and reports both.
        tally.same_as.clear()
        frame = _chain(session, spec, notes, tally, reads_count_once=False)
    mode = _mode(spec)
    writer = frame if isinstance(frame, DataStreamWriter) else _to_channels(frame, spec, tally)
    writer = writer.queryName(spec.name).outputMode(mode).option("checkpointLocation", spec.checkpoint)
    trigger = {"once": True} if once else {"processingTime": f"{spec.trigger_ms} milliseconds"}
    return writer.trigger(**trigger).start()


def _chain(
    session: SparkSession,
    spec: InstanceSpec,
    notes: TimingNotes | None,
    tally: RowCounts,
    *,
    reads_count_once: bool = True,
) -> DataFrame | DataStreamWriter:
    """The chain of operators over its inputs; the user's sink ends it with a writer."""
    head, *rest = spec.steps
    counted = set[str]()
    # Spark's number of read rows is that of the head only with one input, read once.
    reads_tell = reads_count_once and len(spec.inputs) < 2
    if head.kind == "source":
        frame: Any = _call(spec, head, notes, session)
    else:
        frames = [_read(session, spec, part) for part in spec.inputs]
        told = [reads_count_once and not part.watermark for part in spec.inputs]
        names = [channel_observation(open_channel(part.channel).spec.name) for part in spec.inputs]
        parts = zip(frames, told, names, strict=True)
        counted |= {name for name, known in zip(names, told, strict=True) if not known}
        frame = _call(spec, head, notes, *(part if known else _observed(part, name) for part, known, name in parts))
    for step in rest:
        if step.code != RESULTS_SINK:
            same = equal_observation(frame, counted)
            if same is None or (same == READ and not reads_tell):
                counted.add(input_observation(step.name))
                frame = _observed(frame, input_observation(step.name))
            else:
                tally.same_as[input_observation(step.name)] = same
        if step.watermark:
            frame = frame.withWatermark(step.watermark, f"{step.watermark_seconds} seconds")
        frame = _call(spec, step, notes, frame)
    chain: DataFrame | DataStreamWriter = frame
    return chain


def _leaves(chain: Any) -> int:
    """Number of reads in the plan."""
    frame = chain._df if isinstance(chain, DataStreamWriter) else chain  # noqa: SLF001 - Spark has no other way
    return int(frame._jdf.queryExecution().analyzed().collectLeaves().size())  # noqa: SLF001 - the same


def _mode(spec: InstanceSpec) -> str:
    return "update" if any(step.update for step in spec.steps) else "append"


def _observed(frame: DataFrame, name: str) -> DataFrame:
    """The frame with a count of its rows."""
    return frame.observe(name, F.count(F.lit(1)).alias("rows"))


def _call(spec: InstanceSpec, step: OperatorStep, notes: TimingNotes | None, *inputs: Any) -> Any:
    if step.code == RESULTS_SINK:
        return reduce(DataFrame.unionByName, inputs)
    with nullcontext() if notes is None else notes.of(step.name):
        return call_operator(step.name, spec.node, load_function(step.code), *inputs, **step.parameters)


def _read(session: SparkSession, spec: InstanceSpec, part: Input) -> DataFrame:
    """An input channel, with the watermark of its event time if the operator wants one."""
    columns = StructType.fromJson(json.loads(part.schema))
    options = {
        "path": part.channel,
        "groups": spec.groups,
        "consumer": spec.name,
        "replicas": str(spec.replicas),
        "control": spec.control,
        "links": spec.links,
        "clean_every_ms": "2000",
        "beside": json.dumps([other.channel for other in spec.inputs if other is not part]),
    }
    if part.start:
        options["start"] = part.start
    if spec.batch_seconds:
        options["batch_seconds"] = str(spec.batch_seconds)
    if spec.max_rows_per_batch:
        options["max_rows_per_batch"] = str(spec.max_rows_per_batch)
    if spec.max_lag_rows and spec.outputs:
        options |= {
            "outlets": json.dumps([output.channel for output in spec.outputs]),
            "producer": spec.producer,
            "max_lag_rows": str(spec.max_lag_rows),
        }
    if not part.watermark:
        return session.readStream.format(FORMAT).schema(columns).options(**options).load()
    ticked = StructType([*columns.fields, StructField(TICK, BooleanType())])
    frame = session.readStream.format(FORMAT).schema(ticked).options(**options).load()
    marked = frame.withWatermark(part.watermark, f"{part.watermark_seconds} seconds")
    # The condition names the event time, else Spark would push it below the watermark and the ticks would never count.
    return marked.where(F.col(TICK).isNull() | F.col(part.watermark).isNull()).drop(TICK)


def _to_channels(frame: DataFrame, spec: InstanceSpec, tally: RowCounts) -> DataStreamWriter:
    outputs = [
        Output(part.channel, Grouping.KEY, (), KEY_GROUP)
        if part.grouping == Grouping.KEY and part.key == (KEY_GROUP,)
        else Output(part.channel, Grouping(part.grouping), part.key if part.grouping == Grouping.KEY else ())
        for part in spec.outputs
    ]
    options = {
        "producer": spec.producer,
        "epoch": str(spec.epoch),
        "term": str(spec.term),
        "continues": str(spec.continues).lower(),
        "outputs": format_outputs(outputs),
        "checkpoint": spec.checkpoint,
        "inputs": json.dumps([part.channel for part in spec.inputs]),
        "frontier": spec.frontier,
    }
    rows = routed(frame, outputs)
    if _mode(spec) == "append":
        return rows.writeStream.format(FORMAT).options(**options)
    return into_channels(rows, options, tally.record_written)
