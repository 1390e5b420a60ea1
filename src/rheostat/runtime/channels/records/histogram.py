"""Ages of the rows of a batch: counts of their ingest times, small enough for a manifest and mergeable.

The buckets are a power of two of milliseconds wide, on the wall clock. A histogram that would need too many buckets is
coarsened, so a second of input keeps a resolution of 16 ms and an hour one of a minute. Merging is exact in the counts,
and associative as long as nothing is coarsened on the way.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

MOST_BUCKETS = 64


@dataclass(frozen=True, slots=True)
class IngestHistogram:
    """Counts of rows by the wall time at which they entered the application."""

    width_ms: int = 1
    """Width of a bucket, a power of two."""
    counts: Mapping[int, int] = field(default_factory=dict)
    """Rows by bucket; bucket b holds the times from b * width to (b + 1) * width, ms since 1970."""

    def __post_init__(self) -> None:
        """Rejects widths that could not be merged and counts that mean nothing."""
        if self.width_ms < 1 or self.width_ms & (self.width_ms - 1):
            raise ValueError(f"the width must be a power of two of milliseconds, got {self.width_ms}")
        if any(count <= 0 for count in self.counts.values()):
            raise ValueError(f"counts must be positive, got {dict(self.counts)}")

    @classmethod
    def of(cls, times_ms: Iterable[int]) -> "IngestHistogram":
        """The histogram of these times."""
        return _narrowed(cls(1, Counter(times_ms)))

    @classmethod
    def merged(cls, parts: Iterable["IngestHistogram"]) -> "IngestHistogram":
        """The sum of several histograms."""
        return reduce(_sum, parts, cls())

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return sum(self.counts.values())

    def ages_ms(self, now_ms: int) -> list[tuple[float, int]]:
        """(age, rows), oldest first: response times if `now` is when the rows came out. Precise to half a bucket."""
        middle = self.width_ms / 2
        return [(max(0.0, now_ms - b * self.width_ms - middle), self.counts[b]) for b in sorted(self.counts)]

    def to_document(self) -> list[Any]:
        """The histogram as JSON: [width, first bucket, [[distance from it, count], ...]]."""
        first = min(self.counts, default=0)
        return [self.width_ms, first, [[b - first, self.counts[b]] for b in sorted(self.counts)]]

    @classmethod
    def from_document(cls, document: list[Any]) -> "IngestHistogram":
        """The histogram that `to_document` wrote."""
        width, first, pairs = document
        return cls(width, {first + distance: count for distance, count in pairs})


def _sum(left: IngestHistogram, right: IngestHistogram) -> IngestHistogram:
    width = max(left.width_ms, right.width_ms)
    counts = Counter(_coarsened(left, width).counts)
    counts.update(_coarsened(right, width).counts)
    return _narrowed(IngestHistogram(width, counts))


def _coarsened(histogram: IngestHistogram, width: int) -> IngestHistogram:
    if width == histogram.width_ms:
        return histogram
    counts: Counter[int] = Counter()
    for bucket, count in histogram.counts.items():
        counts[bucket * histogram.width_ms // width] += count
    return IngestHistogram(width, counts)


def _narrowed(histogram: IngestHistogram) -> IngestHistogram:
    while len(histogram.counts) > MOST_BUCKETS:
        histogram = _coarsened(histogram, histogram.width_ms * 2)
    return IngestHistogram(histogram.width_ms, dict(histogram.counts))
