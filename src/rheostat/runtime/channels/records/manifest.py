"""Manifests: the record of a published batch, with the place of its rows by key group and the event time reached.

Event times are microseconds since 1970. A *frontier* is a promise: whatever comes later has this event time or a
later one.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any

from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.channels.records.key_groups import EVERY, Groups, format_groups, parse_groups

NEVER = -(2**63)
"""The frontier of a producer that promises nothing."""
FOREVER = 2**63 - 1
"""The frontier of a producer that is closed: nothing comes any more."""


class ManifestKind(StrEnum):
    """Kinds of slots of the log."""

    BATCH = "batch"
    SEAL = "seal"
    """The last slot of an epoch: a writer that still uses the epoch is fenced off."""
    CLOSE = "close"
    """The producer is gone for good: consumers no longer wait for its event time."""


@dataclass(frozen=True)
class Segment:
    """One Arrow file: rows sorted by key group, the order inside a group as written."""

    name: str
    size_bytes: int
    rows: dict[int, int]
    """Rows by key group, in the order of the file; the group `EVERY` is for all groups."""

    def places(self) -> Iterator[tuple[int, int, int]]:
        """(group, first row, rows) of every group in the file."""
        for (group, rows), end in zip(self.rows.items(), accumulate(self.rows.values()), strict=True):
            yield group, end - rows, rows

    def to_document(self) -> dict[str, Any]:
        """The segment as JSON; groups are ascending, so one compact text and a list of counts are enough."""
        groups = format_groups(self.rows) if EVERY not in self.rows else ""
        return {"name": self.name, "bytes": self.size_bytes, "groups": groups, "rows": list(self.rows.values())}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Segment":
        """The segment that `to_document` wrote."""
        groups = sorted(parse_groups(document["groups"])) or [EVERY]
        return cls(document["name"], document["bytes"], dict(zip(groups, document["rows"], strict=True)))


@dataclass(frozen=True)
class Manifest:
    """The content of one slot."""

    kind: ManifestKind
    batch: int
    """Batch id of the producing query; a seal repeats the last one."""
    published_ms: int
    """Wall time of the publication."""
    frontier: int = NEVER
    """Event-time frontier of the producer after this batch."""
    segments: tuple[Segment, ...] = ()
    earliest: int = FOREVER
    """Least event time in the batch; FOREVER if there is none."""
    latest: int = NEVER
    """Greatest event time in the batch; NEVER if there is none."""
    ingest: IngestHistogram = field(default_factory=IngestHistogram)

    @cached_property
    def rows_by_group(self) -> dict[int, int]:
        """Rows by group over all segments."""
        total: dict[int, int] = {}
        for segment in self.segments:
            for group, rows in segment.rows.items():
                total[group] = total.get(group, 0) + rows
        return total

    @cached_property
    def rows(self) -> int:
        """Rows stored."""
        return sum(self.rows_by_group.values())

    @cached_property
    def size_bytes(self) -> int:
        """Bytes stored."""
        return sum(segment.size_bytes for segment in self.segments)

    def rows_for(self, groups: Groups) -> int:
        """Rows an owner of these groups is handed; a broadcast row counts once per group."""
        kept = sum(rows for group, rows in self.rows_by_group.items() if group in groups)
        return kept + len(groups) * self.rows_by_group.get(EVERY, 0)

    def bytes_for(self, groups: Groups) -> int:
        """Bytes that travel to an owner of these groups (a broadcast row travels once)."""
        if not self.rows:
            return 0
        kept = sum(rows for group, rows in self.rows_by_group.items() if group in groups or group == EVERY)
        return self.size_bytes * kept // self.rows

    def to_bytes(self) -> bytes:
        """The form in which it is stored."""
        document = {
            "kind": self.kind.value,
            "batch": self.batch,
            "published_ms": self.published_ms,
            "frontier": self.frontier,
            "segments": [segment.to_document() for segment in self.segments],
            "earliest": self.earliest,
            "latest": self.latest,
            "ingest": self.ingest.to_document(),
        }
        return json.dumps(document, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Manifest":
        """The manifest that `to_bytes` wrote."""
        document = json.loads(content)
        document["kind"] = ManifestKind(document["kind"])
        document["segments"] = tuple(Segment.from_document(part) for part in document["segments"])
        document["ingest"] = IngestHistogram.from_document(document["ingest"])
        return cls(**document)


@dataclass(frozen=True, slots=True)
class Opening:
    """The facts about an epoch that hold before its first batch."""

    after_batch: int
    """Batches up to this id were published in earlier epochs: repeating them does nothing."""
    frontier: int
    """Event time that the producer promises before it has written anything."""
    term: int = 0
    """Term of the owner of the run that opened the epoch; 0 in files that were written before terms existed."""

    def to_bytes(self) -> bytes:
        """The form in which it is stored."""
        return json.dumps({"after_batch": self.after_batch, "frontier": self.frontier, "term": self.term}).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Opening":
        """The opening that `to_bytes` wrote."""
        return cls(**json.loads(content))
