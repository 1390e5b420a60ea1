"""Columns of key groups, computed by Spark: hashing is fast there and the same for every producer."""

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.writer.outputs import Output


def key_group(key: Iterable[str], groups: int) -> Column:
    """The key group of a row. Not the hash Spark shuffles with, else groups and partitions would correlate."""
    return F.pmod(F.xxhash64(*key), F.lit(groups)).cast("int")


def routed(frame: DataFrame, outputs: Iterable[Output]) -> DataFrame:
    """The frame with a column of key groups for every keyed output; the writer takes it off again."""
    columns = {}
    for output in outputs:
        if output.grouping is Grouping.KEY and output.helper is None:
            groups = open_channel(output.path).spec.groups
            columns[output.column(groups)] = key_group(output.key, groups)
    return frame.withColumns(columns) if columns else frame
