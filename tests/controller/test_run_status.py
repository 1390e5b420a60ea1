"""What is shown of a running application: what sources have brought lately."""

from datetime import UTC, datetime

from rheostat.controller.run_status import SourceRows

NOW_MS = 1_700_000_000_000


def report(batch, rows, seconds_ago):
    began = datetime.fromtimestamp(NOW_MS / 1000 - seconds_ago, UTC)
    return {"batchId": batch, "numInputRows": rows, "timestamp": began.isoformat(), "batchDuration": 500}


def test_rows_of_the_last_ten_seconds_count_each_batch_once_however_reports_overlap():
    brought = SourceRows()
    assert brought.rate([report(0, 1000, 30.0), report(1, 50, 3.0)], NOW_MS) == 5.0
    assert brought.rate([report(1, 50, 3.0), report(2, 30, 1.0)], NOW_MS) == 8.0
    assert brought.last_batch == 2
    assert brought.rate([], NOW_MS + 8000) == 3.0, "what is older than ten seconds is no longer counted"


def test_a_trigger_without_rows_does_not_hide_the_batch_that_follows_under_its_number():
    brought = SourceRows()
    assert brought.rate([report(0, 0, 2.0)], NOW_MS) == 0.0
    assert brought.last_batch == -1
    assert brought.rate([report(0, 0, 2.0), report(0, 20, 1.0)], NOW_MS) == 2.0
