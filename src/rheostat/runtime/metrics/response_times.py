"""Response times from source to sink: a small value per batch, which can be merged.

A manifest tells when rows came in as counts in buckets of time, so of every response time two bounds are known. Both
are counted in buckets that grow geometrically. The k-th smallest of the lower bounds is never above the k-th smallest
response time, and that is never above the k-th smallest upper bound: hence a percentile is known between two bounds,
also after merging, whatever was merged with what.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, exp, floor, log

from rheostat.runtime.channels.records.histogram import IngestHistogram

GROWTH = 1.02
"""Each bucket reaches 2 % further than the one before: what is lost in precision by merging."""
_STEP = log(GROWTH)


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """Response times of rows, in milliseconds."""

    lows: Mapping[int, int] = field(default_factory=dict)
    """Rows by the bucket of the least time theirs can have been."""
    highs: Mapping[int, int] = field(default_factory=dict)
    """Rows by the bucket of the greatest."""
    total_ms: float = 0.0
    """Sum over all rows, each taken at the middle of its bounds."""

    @classmethod
    def of(cls, ingest: IngestHistogram, finished_ms: float) -> "ResponseTimes":
        """Response times of rows with these ingest times that came out at `finished_ms`; never below 0."""
        lows: Counter[int] = Counter()
        highs: Counter[int] = Counter()
        total = 0.0
        width = ingest.width_ms
        for bucket, rows in ingest.counts.items():
            # Times are whole milliseconds, so the last one in a bucket of width w is w - 1 after the first.
            high = max(0.0, finished_ms - bucket * width)
            low = max(0.0, finished_ms - (bucket + 1) * width + 1)
            lows[_bucket_below(low)] += rows
            highs[_bucket_above(high)] += rows
            total += rows * (low + high) / 2
        return cls(lows, highs, total)

    @classmethod
    def merged(cls, parts: Iterable["ResponseTimes"]) -> "ResponseTimes":
        """All parts together; exact in the counts, in any order."""
        lows: Counter[int] = Counter()
        highs: Counter[int] = Counter()
        total = 0.0
        for part in parts:
            lows.update(part.lows)
            highs.update(part.highs)
            total += part.total_ms
        return cls(lows, highs, total)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return sum(self.lows.values())

    def bounds_ms(self, share: float) -> tuple[float, float]:
        """Between what the percentile lies: the least time that at least this share of the rows stays within."""
        if not (0 < share <= 1 and self.rows):
            raise ValueError(f"need rows and a share in (0, 1], got {self.rows} rows and {share}")
        rank = max(1, ceil(share * self.rows - 1e-9))
        return _edge(_ranked(self.lows, rank)), _edge(_ranked(self.highs, rank))

    def percentile_ms(self, share: float) -> float:
        """The middle between the bounds."""
        low, high = self.bounds_ms(share)
        return (low + high) / 2

    def figures(self) -> dict[str, float]:
        """Figures of an application; none if nothing came out."""
        if not self.rows:
            return {}
        return {
            "response_mean_ms": self.total_ms / self.rows,
            "response_p50_ms": self.percentile_ms(0.50),
            "response_p95_ms": self.percentile_ms(0.95),
            "response_p99_ms": self.percentile_ms(0.99),
        }


def _ranked(counts: Mapping[int, int], rank: int) -> int:
    """The bucket of the row with this rank, counted from 1."""
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            return bucket
    raise ValueError(f"there are not {rank} rows more")


def _edge(bucket: int) -> float:
    """Bucket edges: 0 at 0 ms, n at GROWTH^(n-1) ms."""
    return exp((bucket - 1) * _STEP) if bucket > 0 else 0.0


def _bucket_below(milliseconds: float) -> int:
    return max(0, 1 + floor(log(milliseconds) / _STEP + 1e-9)) if milliseconds >= 1 else 0


def _bucket_above(milliseconds: float) -> int:
    if milliseconds <= 0:
        return 0
    return max(1, 1 + ceil(log(milliseconds) / _STEP - 1e-9))
