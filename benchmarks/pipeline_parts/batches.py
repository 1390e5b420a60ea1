"""What the progress reports of a query say about its pace; the same stick for Rheostat's queries and anybody's."""

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rheostat.runtime.progress import Batch, read_batch

WARM_UP = 0.3
"""Share of the batches that is not counted: Spark compiles."""


def batches_of(reports: Sequence[Mapping[str, Any]]) -> list[Batch]:
    """Those that ran, without the first ones."""
    found = [batch for report in reports if (batch := read_batch(report)) is not None and batch.rows_read]
    return found[int(WARM_UP * len(found)) :]


def throughput(batches: Sequence[Batch]) -> float:
    """Rows per second of a query that always has more to do."""
    return sum(batch.rows_read for batch in batches) / (batches[-1].end_seconds - batches[0].start_seconds)


def median_response_ms(batches: Sequence[Batch]) -> float:
    """From a row's arrival to the commit of its batch; rows of a batch arrived evenly since the one before began."""
    ages: list[float] = []
    for before, batch in pairwise(batches):
        waited = batch.start_seconds - before.start_seconds
        ages += [1000 * (waited * (number + 0.5) / 10) + batch.duration_ms for number in range(10)]
    return statistics.median(ages)
