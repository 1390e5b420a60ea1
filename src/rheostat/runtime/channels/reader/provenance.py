"""Provenance of a batch: its input, the age of its rows, the event time its producer may promise.

Spark writes the input offsets of a batch into its checkpoint before it runs, so at commit the writer finds there what
the batch consumed. Format: a version line, a line of metadata (with the watermark), one line per source.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlparse

from rheostat.runtime.channels.channel_store import open_channel
from rheostat.runtime.channels.reader.batch_plan import ingest_histogram
from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.manifest import FOREVER, NEVER
from rheostat.runtime.channels.records.offset import Offset, parse_offset, restrict


class FrontierRule(StrEnum):
    """Sources of the event time that a producer may promise."""

    ROWS = "rows"
    """A source: the greatest event time so far, minus its disorder."""
    WATERMARK = "watermark"
    """A fragment that emits by watermark: the watermark of the batch."""
    INPUT = "input"
    """A stateless fragment: the least promise of its inputs."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Settings of a writer that tell it where its batches come from."""

    rule: FrontierRule = FrontierRule.ROWS
    disorder_us: int = 0
    """Time by which a later row may be earlier than the rule promises, microseconds."""
    checkpoint: Path | None = None
    """Checkpoint of the query."""
    inputs: tuple[str, ...] = ()
    """Addresses of the channels the query reads."""

    def __post_init__(self) -> None:
        """Rejects rules without the checkpoint they need."""
        if self.rule is not FrontierRule.ROWS and self.checkpoint is None:
            raise ValueError(f"the rule {self.rule.value} needs the checkpoint of the query")
        if self.disorder_us < 0:
            raise ValueError(f"disorder is not negative, got {self.disorder_us}")


@dataclass(frozen=True, slots=True)
class Intake:
    """Note of Spark about the input of a batch."""

    watermark_us: int
    planned_ms: int
    """Wall time at which the batch was planned: it holds what had arrived by then."""
    offsets: tuple[Offset, ...]
    """Those of channels, in the order of the query's sources."""


def intake_of(checkpoint: Path, batch: int) -> Intake | None:
    """The note of a batch, None if Spark has none (any more)."""
    try:
        lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    except FileNotFoundError:
        return None
    metadata = json.loads(lines[1])
    watermark_ms = metadata.get("batchWatermarkMs", 0)
    sources = [json.loads(line) for line in lines[2:] if line.startswith("{")]
    offsets = [parse_offset(source) for source in sources if "cohorts" in source]
    planned_ms = int(metadata.get("batchTimestampMs", 0))
    return Intake(watermark_ms * 1000 if watermark_ms > 0 else NEVER, planned_ms, tuple(offsets))


def frontier_after(provenance: Provenance, batch: int, latest: int | None) -> int:
    """The event time that the producer may promise after a batch whose greatest event time is `latest`."""
    if provenance.rule is FrontierRule.ROWS:
        known = NEVER if latest is None else latest
    else:
        intake = intake_of(provenance.checkpoint, batch) if provenance.checkpoint is not None else None
        if intake is None:
            known = NEVER
        elif provenance.rule is FrontierRule.WATERMARK:
            known = intake.watermark_us
        else:
            known = min((offset.frontier for offset in intake.offsets), default=NEVER)
    return known if known in (NEVER, FOREVER) else max(NEVER, known - provenance.disorder_us)


def ingest_of(provenance: Provenance, batch: int, after: int) -> IngestHistogram:
    """Ingest times of what the batches after `after` up to `batch` consumed, also those that published nothing."""
    if provenance.checkpoint is None or not provenance.inputs:
        return IngestHistogram()
    now, before = intake_of(provenance.checkpoint, batch), intake_of(provenance.checkpoint, after)
    if now is None:
        return IngestHistogram()
    logs = {log.spec.name: log for log in (open_channel(address).log() for address in provenance.inputs)}
    earlier = before.offsets if before is not None else ()
    parts = []
    for index, end in enumerate(now.offsets):
        if end.channel in logs:
            parts.append(ingest_histogram(logs[end.channel], _start_of(earlier, index, end), end))
    return IngestHistogram.merged(parts)


def taken_in(provenance: Provenance, batch: int, rows: int, now_ms: int) -> IngestHistogram:
    """Ingest times of rows that come from a source: when the batch was planned, as what it does to them counts."""
    intake = intake_of(provenance.checkpoint, batch) if provenance.checkpoint is not None else None
    planned_ms = intake.planned_ms if intake is not None and intake.planned_ms > 0 else now_ms
    return IngestHistogram(1, {min(planned_ms, now_ms): rows}) if rows else IngestHistogram()


def local_path(place: str) -> Path:
    """A path that may be written as a file: address, as Spark does."""
    return Path(unquote(urlparse(place).path)) if place.startswith("file:") else Path(place)


def _start_of(earlier: Sequence[Offset], index: int, end: Offset) -> Offset:
    """Start of the range that ends at `end`: the same source's offset before, if it is about the same groups."""
    if index < len(earlier) and earlier[index].channel == end.channel and end.groups <= earlier[index].groups:
        return restrict(earlier[index], end.groups)
    return Offset.start(end.channel, end.groups)
