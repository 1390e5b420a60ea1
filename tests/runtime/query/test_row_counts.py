"""Row counts that need no counting, added to Spark's reports."""

from rheostat.runtime.query.progress_report import read_batch
from rheostat.runtime.query.row_counts import READ, RowCounts
from rheostat.runtime.query.udf_timing import BATCHES_KEPT


def report(batch=7, rows=(3, 4), observed=None, written=-1):
    return {
        "id": "query",
        "batchId": batch,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "durationMs": {"addBatch": 5},
        "observedMetrics": {name: {"rows": count} for name, count in (observed or {}).items()},
        "sources": [{"numInputRows": count} for count in rows],
        "sink": {"description": "some", "numOutputRows": written},
    }


def test_an_operator_that_only_adds_columns_hands_on_what_was_read():
    told = RowCounts(same_as={"to:count": READ}).completed(report())
    assert read_batch(told).rows("to:count") == 7


def test_or_what_was_counted_before_it():
    told = RowCounts(same_as={"to:keep": "to:count"}).completed(report(observed={"to:count": 5}))
    assert read_batch(told).counted == {"to:count": 5, "to:keep": 5}


def test_what_was_counted_nowhere_stays_unknown():
    told = RowCounts(same_as={"to:keep": "to:count"}).completed(report())
    assert read_batch(told).rows("to:keep") is None


def test_what_a_batch_has_written_is_told_by_its_writer_where_spark_does_not_know():
    tally = RowCounts()
    tally.record_written(7, 11)
    assert read_batch(tally.completed(report(7))).written == 11
    assert read_batch(tally.completed(report(8))).written is None
    assert read_batch(tally.completed(report(8, written=2))).written == 2


def test_only_as_much_is_remembered_as_spark_remembers():
    tally = RowCounts()
    for batch in range(3 * BATCHES_KEPT):
        tally.record_written(batch, 1)
    assert sorted(tally.written) == list(range(2 * BATCHES_KEPT, 3 * BATCHES_KEPT))
