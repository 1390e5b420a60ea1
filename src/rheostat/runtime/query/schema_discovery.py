"""Columns of every stream, found by calling the user's functions on frames that are never run."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.streaming.readwriter import DataStreamWriter

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.application import RESULTS_SINK, Application, Grouping, Kind, Operator
from rheostat.runtime.channels.records.segment import KEY_GROUP
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.query.state_discovery import empty_stream, kept_state, mistakes_of_state
from rheostat.runtime.query.user_code import call_operator, load_function


def discover_columns(spark: SparkSession, application: Application) -> dict[str, Columns]:
    """Output columns of every operator; reports every mistake at once, before anything runs."""
    frames: dict[str, DataFrame] = {}
    found: dict[str, Columns] = {}
    mistakes: list[Mistake] = []
    for name in application.flow:
        operator = application.by_name[name]
        where = ("operators", application.operators.index(operator))
        inputs = [stream.source for stream in application.inputs[name]]
        if not all(source in frames for source in inputs):
            continue
        wrong = _wrong_inputs(application, operator, frames, found, where)
        mistakes += wrong
        if wrong and operator.kind is Kind.SINK:
            continue
        try:
            frame = _output(spark, operator, [_prepared(frames[s], operator, found[s]) for s in inputs])
            mistakes += _wrong_state(spark, operator, [found[s] for s in inputs], where)
        except Exception as failure:  # user code may raise anything; it becomes a mistake
            mistakes.append(Mistake(where, str(failure).splitlines()[0], "correct the operator's function"))
            continue
        if operator.kind is Kind.SINK:
            continue
        frames[name] = frame
        found[name] = Columns(frame.schema.json(), _event_time(operator, frame, [found[s].event_time for s in inputs]))
        if operator.event_time and not found[name].event_time:
            what = f"the output of {name!r} has no column {operator.event_time!r}"
            mistakes.append(Mistake((*where, "event_time"), what, f"it has: {', '.join(frame.columns)}"))
    if mistakes:
        raise InvalidModel(f"application {application.name!r}", mistakes)
    return found


def _output(spark: SparkSession, operator: Operator, inputs: list[DataFrame]) -> DataFrame:
    if operator.code == RESULTS_SINK:
        return reduce(DataFrame.unionByName, inputs)
    arguments = [spark] if operator.kind is Kind.SOURCE else inputs
    frame = call_operator(operator.name, "any", load_function(operator.code), *arguments, **dict(operator.parameters))
    if operator.kind is Kind.SINK:
        if not isinstance(frame, DataStreamWriter):
            given = type(frame).__name__
            raise TypeError(f"sink {operator.name} gave a {given}, not a DataStreamWriter: end it with .writeStream")
        return frame._df  # noqa: SLF001 - Spark has no other way
    if not isinstance(frame, DataFrame):
        raise TypeError(f"operator {operator.name} gave a {type(frame).__name__}, not a DataFrame")
    if operator.kind is Kind.SOURCE and not frame.isStreaming:
        raise TypeError(f"source {operator.name} gave a batch DataFrame: use spark.readStream")
    return frame


def _wrong_state(
    spark: SparkSession, operator: Operator, inputs: list[Columns], where: tuple[str | int, ...]
) -> list[Mistake]:
    """Mistakes of the operator's own state, without that of the operators before it."""
    alone = [_prepared(empty_stream(spark, columns.schema), operator, columns) for columns in inputs]
    return mistakes_of_state(operator, kept_state(_output(spark, operator, alone)), where)


def _prepared(frame: DataFrame, operator: Operator, columns: Columns) -> DataFrame:
    """The input as the operator will get it."""
    if operator.key == (KEY_GROUP,):
        frame = frame.withColumn(KEY_GROUP, F.lit(0))
    if operator.watermark_seconds is not None and columns.event_time:
        frame = frame.withWatermark(columns.event_time, f"{operator.watermark_seconds} seconds")
    return frame


def _event_time(operator: Operator, frame: DataFrame, inherited: list[str]) -> str:
    wanted = operator.event_time or (inherited[0] if len(set(inherited)) == 1 else "")
    return wanted if wanted and wanted.partition(".")[0] in frame.columns else ""


def _wrong_inputs(
    application: Application,
    operator: Operator,
    frames: Mapping[str, DataFrame],
    found: Mapping[str, Columns],
    where: tuple[str | int, ...],
) -> list[Mistake]:
    """Mistakes of inputs: missing key columns or keys, watermarks without event time, results with other columns."""
    mistakes = []
    read = [stream.source for stream in application.inputs[operator.name]]
    kinds = {tuple(sorted((field.name, field.dataType.simpleString()) for field in frames[s].schema)) for s in read}
    if operator.code == RESULTS_SINK and len(kinds) > 1:
        columns = "; ".join(f"{source}: {', '.join(frames[source].columns)}" for source in read)
        what = f"{operator.name!r} reads streams with different columns ({columns})"
        mistakes.append(Mistake(where, what, "give each a sink of its own, or the same columns"))
    for stream in application.inputs[operator.name]:
        missing = [c for c in operator.key if c not in (*frames[stream.source].columns, KEY_GROUP)]
        if stream.grouping is Grouping.KEY and missing:
            what = f"its input from {stream.source!r} has no column {', '.join(missing)}"
            mistakes.append(Mistake((*where, "key"), what, f"it has: {', '.join(frames[stream.source].columns)}"))
        if stream.grouping is Grouping.KEY and not operator.key:
            what = f"the stream from {stream.source!r} is grouped by key but {operator.name!r} has none"
            mistakes.append(Mistake((*where, "key"), what, "write its key, or grouping: shuffle"))
        if operator.watermark_seconds is not None and not found[stream.source].event_time:
            what = f"it wants a watermark but its input from {stream.source!r} has no event time"
            mistakes.append(Mistake((*where, "watermark_seconds"), what, f"give {stream.source} an event_time column"))
    return mistakes
