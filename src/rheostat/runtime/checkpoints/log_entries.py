"""Entries of a query's offset log and of its commit log.

A batch is planned by `offsets/<n>` (what it will read, with which settings, at which watermark) and finished by
`commits/<n>` (the watermark of the batch after it). Source offsets are text that only the source understands.

Two watermarks matter after a restart. Rows older than the *last batch's* watermark are dropped as late; state older
than the *next batch's* is emitted and evicted. Both travel with the state, each with its own meaning: moving the first
up to the second would drop rows that the query would still have accepted.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from rheostat.errors import CannotMove

NO_OFFSET = "-"
"""Spark's text for a source that has not delivered anything yet."""
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_VERSION = "v1"
"""Version 2 of the offset log names its sources, that of the commit log its state files; neither is the default."""


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """An entry of the offset log."""

    number: int
    metadata: Mapping[str, Any]
    """Watermark, time and settings of the batch, as Spark wrote them."""
    offsets: tuple[str, ...]
    """How far each source is read after this batch, one opaque text per source."""

    def __post_init__(self) -> None:
        """Refuses what the log's line format cannot hold."""
        if any("\n" in offset for offset in self.offsets):
            raise ValueError(f"an offset is one line of text, got {self.offsets}")
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    @classmethod
    def parse(cls, number: int, text: str) -> Self:
        """Reads `offsets/<number>`."""
        version, metadata, *offsets = text.split("\n")
        _check_version("offset", version)
        return cls(number, json.loads(metadata), tuple(offsets))

    def text(self) -> str:
        """The entry as Spark reads it."""
        return "\n".join([_VERSION, json.dumps(dict(self.metadata), separators=(",", ":")), *self.offsets])

    @property
    def watermark_ms(self) -> int:
        """State older than this was evicted by this batch; rows older than this are late for the next one."""
        return int(self.metadata.get("batchWatermarkMs", 0))

    @property
    def timestamp_ms(self) -> int:
        """When the batch was planned, the "now" of its processing-time functions."""
        return int(self.metadata.get("batchTimestampMs", 0))

    @property
    def partitions(self) -> int:
        """Partitions of the batch's state."""
        return int(self.metadata["conf"][SHUFFLE_PARTITIONS])

    def with_partitions(self, partitions: int) -> Self:
        """The same batch over another number of state partitions."""
        conf = {**self.metadata["conf"], SHUFFLE_PARTITIONS: str(partitions)}
        return replace(self, metadata={**self.metadata, "conf": conf})

    def with_times(self, *, watermark_ms: int, timestamp_ms: int) -> Self:
        """The same batch at another event time and clock time."""
        times = {"batchWatermarkMs": watermark_ms, "batchTimestampMs": timestamp_ms}
        return replace(self, metadata={**self.metadata, **times})


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """An entry of the commit log."""

    number: int
    next_watermark_ms: int
    """State older than this is evicted by the next batch."""

    @classmethod
    def parse(cls, number: int, text: str) -> Self:
        """Reads `commits/<number>`."""
        version, _, metadata = text.partition("\n")
        _check_version("commit", version)
        return cls(number, int(json.loads(metadata or "{}").get("nextBatchWatermarkMs", 0)))

    def text(self) -> str:
        """The entry as Spark reads it."""
        return f'{_VERSION}\n{{"nextBatchWatermarkMs":{self.next_watermark_ms}}}'


def _check_version(log: str, version: str) -> None:
    if version != _VERSION:
        raise CannotMove(f"a query with a {log} log of format {version}", f"only format {_VERSION} is understood")
