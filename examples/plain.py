"""Runs an application in one Spark session without the runtime, operator after operator.

As few streaming queries as possible, each of which ends when its input does: one with at most one stateful operator in
it, as in a fragment of the runtime. What lies between two queries is kept in files, and read in small batches to show
that a result does not depend on where they begin and end.
"""

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat.model.graph.application import Application, Grouping, Kind, Operator, OutputMode, Stream

KEY_GROUP = "key_group"


def run_plain(
    application: Application, spark: SparkSession, directory: Path, *, groups: int = 8, files_per_batch: int = 1
) -> dict[str, list[Row]]:
    """What arrives at every sink, in order. Sources must end (`total`, and `pace="all"`)."""
    return _Run(application, spark, directory, groups, files_per_batch).sinks()


class _Run:
    """One run: the streams so far, and how each of them is told."""

    def __init__(
        self, application: Application, spark: SparkSession, directory: Path, groups: int, files_per_batch: int
    ) -> None:
        self._application, self._spark, self._directory = application, spark, directory
        self._groups, self._files_per_batch = groups, files_per_batch
        self._streams: dict[str, DataFrame] = {}
        self._modes: dict[str, OutputMode] = {}

    def sinks(self) -> dict[str, list[Row]]:
        """Runs everything in the direction of the flow."""
        collected: dict[str, list[Row]] = {}
        for name in self._application.flow:
            one = self._application.by_name[name]
            if one.kind is Kind.SINK:
                collected[name] = self._collect(one)
                continue
            self._streams[name] = self._output(one)
            if self._must_be_kept(one):
                self._keep(one)
        return collected

    def _output(self, one: Operator) -> DataFrame:
        function, parameters = _imported(one.code), dict(one.parameters)
        streams = self._application.inputs[one.name]
        modes = {one.output_mode, *(self._modes[stream.source] for stream in streams)}
        self._modes[one.name] = OutputMode.UPDATE if OutputMode.UPDATE in modes else OutputMode.APPEND
        if one.kind is Kind.SOURCE:
            return cast("DataFrame", function(self._spark, **parameters))
        return cast("DataFrame", function(*(self._input(stream, one) for stream in streams), **parameters))

    def _input(self, stream: Stream, reader: Operator) -> DataFrame:
        """The stream as the runtime hands it over: with watermark and key group, if the reader asks for them."""
        frame, time = self._streams[stream.source], self._application.by_name[stream.source].event_time
        if reader.watermark_seconds is not None and time:
            frame = frame.withWatermark(time, f"{reader.watermark_seconds} seconds")
        if reader.key != (KEY_GROUP,) or stream.grouping is Grouping.KEY:
            return frame
        every = F.explode(F.sequence(F.lit(0), F.lit(self._groups - 1)))
        group: Column = every if stream.grouping is Grouping.BROADCAST else F.lit(0)
        return frame.withColumn(KEY_GROUP, group)

    def _must_be_kept(self, one: Operator) -> bool:
        """Whether several read it, or it holds state and another that does comes after it."""
        readers = self._application.outputs[one.name]
        return len(readers) > 1 or (one.kind is Kind.STATEFUL and self._leads_to_state(one.name))

    def _leads_to_state(self, name: str) -> bool:
        targets = [self._application.by_name[stream.target] for stream in self._application.outputs[name]]
        return any(target.kind is Kind.STATEFUL or self._leads_to_state(target.name) for target in targets)

    def _keep(self, one: Operator) -> None:
        """From here on the same rows come out of files."""
        frame, place = self._streams[one.name], self._directory / one.name

        def keep(batch: DataFrame, _: int) -> None:
            batch.coalesce(1).write.mode("append").parquet(str(place))

        self._run(one.name, frame, self._modes[one.name], keep)
        place.mkdir(exist_ok=True)
        reader = self._spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", self._files_per_batch)
        self._streams[one.name], self._modes[one.name] = reader.parquet(str(place)), OutputMode.APPEND

    def _collect(self, sink: Operator) -> list[Row]:
        rows: list[Row] = []
        sources = [stream.source for stream in self._application.inputs[sink.name]]
        frame = reduce(DataFrame.unionByName, (self._streams[source] for source in sources))
        modes = [self._modes[source] for source in sources]
        self._run(
            sink.name,
            frame,
            OutputMode.UPDATE if OutputMode.UPDATE in modes else OutputMode.APPEND,
            lambda batch, _: rows.extend(batch.collect()),
        )
        return rows

    def _run(self, name: str, frame: DataFrame, mode: OutputMode, each: Callable[[DataFrame, int], None]) -> None:
        checkpoint = str(self._directory / "checkpoints" / name)
        writer = frame.writeStream.outputMode(mode.value).option("checkpointLocation", checkpoint)
        query = writer.foreachBatch(each).trigger(availableNow=True).start()
        query.awaitTermination()


def last_rows(rows: list[Row], *key: str) -> Mapping[tuple[Any, ...], Row]:
    """Of an output in update mode: the row that counts, for every key."""
    of_key = operator.itemgetter(*key)
    return {of_key(row): row for row in rows}


def _imported(code: str) -> Any:
    module, _, name = code.partition(":")
    return getattr(import_module(module), name)
