"""Pace of a query from its progress reports, with one measure for Rheostat's queries and all others."""

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

from rheostat.runtime.query.progress_report import BatchReport

WARM_UP = 0.3
"""Share of the batches that is not counted: Spark compiles."""


def without_first(batches: Sequence[BatchReport]) -> list[BatchReport]:
    """Those that ran, without the first ones."""
    found = [batch for batch in batches if batch.rows_read]
    return found[int(WARM_UP * len(found)) :]


STAGES = {
    "latestOffset": "looking for new rows",
    "queryPlanning": "planning",
    "walCommit": "logging the batch",
    "addBatch": "reading, computing, writing",
    "commitOffsets": "logging the commit",
    "commitBatch": "telling the sources",
}
"""Spark's names for the parts of a batch, and what they are."""


def stages_ms(batches: Sequence[BatchReport]) -> dict[str, float]:
    """Median milliseconds of each part of a batch, and of the whole."""
    counted = [batch.stages_ms for batch in without_first(batches)]
    parts = {meaning: [one.get(name, 0) for one in counted] for name, meaning in STAGES.items()}
    parts["all"] = [one["triggerExecution"] for one in counted]
    return {meaning: statistics.median(values) for meaning, values in parts.items()}


def wait_for_rows(batches: Callable[[], Sequence[BatchReport]], total: int, seconds: float) -> None:
    """Returns when the reports tell of all rows.

    Spark remembers a hundred reports, so a run of more batches than that would never be seen to end.
    """
    deadline = time.monotonic() + seconds
    while (seen := sum(batch.rows_read for batch in batches())) < total:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{seen} of {total} rows after {seconds:g} s")
        time.sleep(0.2)


def throughput(batches: Sequence[BatchReport]) -> float:
    """Rows per second of a query that always has more to do."""
    return sum(batch.rows_read for batch in batches) / (batches[-1].end_seconds - batches[0].start_seconds)


def median_response_ms(batches: Sequence[BatchReport]) -> float:
    """From a row's arrival to the commit of its batch; rows of a batch arrived evenly since the one before began."""
    ages: list[float] = []
    for before, batch in pairwise(batches):
        waited = batch.start_seconds - before.start_seconds
        ages += [1000 * (waited * (number + 0.5) / 10) + batch.duration_ms for number in range(10)]
    return statistics.median(ages)
