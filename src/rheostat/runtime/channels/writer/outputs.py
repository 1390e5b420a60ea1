"""Outputs of a query: the channels it writes to and the key group of every row."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rheostat.model.graph.application import Grouping
from rheostat.runtime.channels.records.channel_spec import ChannelSpec

HELPER = "__key_group_"
"""Beginning of the names of columns that carry key groups from Spark to the writer; they are not stored."""


@dataclass(frozen=True, slots=True)
class Output:
    """One channel a query writes to."""

    path: str
    """Address of the channel."""
    grouping: Grouping = Grouping.SHUFFLE
    key: tuple[str, ...] = ()
    """Columns that are hashed to the key group."""
    helper: str | None = None
    """Column that holds the key group already, instead of a key."""

    def __post_init__(self) -> None:
        """Rejects a key where none is used and the other way round."""
        if (self.grouping is Grouping.KEY) != bool(self.key or self.helper):
            raise ValueError(f"a key (or a column with the group) belongs to the grouping key, and only to it: {self}")

    def column(self, groups: int) -> str:
        """The column with the key group: outputs with the same key and number of groups share it."""
        return self.helper or f"{HELPER}{groups}_{'_'.join(self.key)}"


def format_outputs(outputs: Iterable[Output]) -> str:
    """The outputs as an option of the data source."""
    return json.dumps([asdict(output) for output in outputs])


def parse_outputs(text: str) -> tuple[Output, ...]:
    """The outputs that `format_outputs` wrote."""
    return tuple(
        Output(part["path"], Grouping(part["grouping"]), tuple(part["key"]), part["helper"])
        for part in json.loads(text)
    )


def stored_columns(names: Sequence[str], outputs: Iterable[Output]) -> list[str]:
    """The columns that are data."""
    helpers = {output.helper for output in outputs}
    return [name for name in names if not name.startswith(HELPER) and name not in helpers]


def groups_of(table: pa.Table, output: Output, channel: ChannelSpec, turn: int) -> npt.NDArray[np.int64] | None:
    """The key group of every row, None if all groups get it.

    `turn` (of the batch and the task) says with which group a shuffle begins: small batches spread over all groups too.
    """
    count = table.num_rows
    if output.grouping is Grouping.BROADCAST:
        return None
    if output.grouping is Grouping.SINGLE:
        return np.zeros(count, np.int64)
    if output.grouping is Grouping.SHUFFLE:
        slices: npt.NDArray[np.int64] = np.arange(count, dtype=np.int64) * channel.groups // max(count, 1)
        return (slices + turn) % channel.groups
    column = table.column(output.column(channel.groups))
    groups = column.cast(pa.int64()).to_numpy()
    if column.null_count or (count and not (groups.min() >= 0 and groups.max() < channel.groups)):
        raise ValueError(f"column {output.column(channel.groups)} holds no key groups of {channel.name}")
    return np.asarray(groups, dtype=np.int64)
