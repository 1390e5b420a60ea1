"""Sources in real queries: rows of the right types, the same ones after a restart."""

import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rheostat.runtime.ends.emulated_delay import with_service_time
from rheostat.runtime.ends.rate import rate, rate_batch
from rheostat.runtime.ends.replay_source import replay

pytestmark = pytest.mark.spark
FIRST = datetime(2013, 1, 1, tzinfo=UTC)
NUMBERS = {"rows": "tests.runtime.ends.numbers:number", "schema": "n bigint, what string, part double"}


def run(frame, checkpoint, **trigger):
    rows = []
    writer = frame.writeStream.foreachBatch(lambda batch, number: rows.extend((number, row) for row in batch.collect()))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(**(trigger or {"availableNow": True})).start()
    return query, rows


def finished(frame, checkpoint):
    query, rows = run(frame, checkpoint)
    query.awaitTermination()
    return rows


def test_a_stream_brings_what_a_batch_brings_in_batches_of_the_wanted_size(spark, tmp_path):
    finite = {"curve": "100", "total": 25, "pace": "all", "rows_per_batch": 10, "replicas": 2, "event_time": "ts"}
    rows = finished(rate(spark, **NUMBERS, **finite), tmp_path)
    assert Counter(number for number, _ in rows) == {0: 10, 1: 10, 2: 5}
    batch = rate_batch(spark, **NUMBERS, **finite).collect()
    assert [row for _, row in rows] == batch
    assert [row["n"] for row in batch] == list(range(25))
    assert batch[0].asDict().keys() == {"ts", "n", "what", "part"}


def test_after_a_restart_the_stream_goes_on_where_it_was_and_the_clock_with_it(spark, tmp_path):
    endless = {"curve": "ramp 50 200 for 60", "rows_per_batch": 1000}
    first, rows = run(rate(spark, **NUMBERS, **endless), tmp_path, processingTime="100 milliseconds")
    while len(rows) < 50 and first.isActive:
        time.sleep(0.05)
    first.stop()
    second, more = run(rate(spark, **NUMBERS, **endless), tmp_path, processingTime="100 milliseconds")
    while len(more) < 50 and second.isActive:
        time.sleep(0.05)
    second.stop()
    everything = {row["n"]: row for _, row in [*rows, *more]}
    assert sorted(everything) == list(range(len(everything)))
    starts = {progress["sources"][0]["endOffset"]["started_ms"] for progress in progresses(first, second)}
    assert len(starts) == 1, "the time base is in the checkpoint"


def progresses(*queries):
    return [json.loads(p.json) for query in queries for p in query.recentProgress if p.sources[0].endOffset]


def moments():
    return [FIRST + timedelta(seconds=10 * n) for n in range(6)]


def test_csv_is_replayed_with_its_own_columns(spark, tmp_path):
    lines = [f"u{n},{m:%Y-%m-%d %H:%M:%S},{n}.5" for n, m in enumerate(moments())]
    (tmp_path / "a.csv").write_text("user,at,x\n" + "\n".join([*lines[:5], "u5,soon,many"]))
    schema = "user string, at timestamp, x double"
    described = {"path": str(tmp_path / "a.csv"), "form": "csv", "event_time": "at", "schema": schema, "header": True}
    frame = replay(spark, **described, pace="all", copies=2, surrogates="user", replicas=2)
    rows = [row for _, row in finished(frame, tmp_path / "c")]
    assert [row["user"] for row in rows] == [name for n in range(6) for name in (f"u{n}", f"u{n}~1")]
    assert [row["at"].astimezone(UTC) for row in rows[::2]] == [*moments()[:5], moments()[4]]
    assert [row["x"] for row in rows[::2]] == [0.5, 1.5, 2.5, 3.5, 4.5, None]
    assert all(a["at"] <= b["at"] for a, b in pairwise(rows))


def test_json_lines_and_parquet_are_replayed_alike(spark, tmp_path):
    lines = [json.dumps({"user": n, "at": m.isoformat()}) for n, m in enumerate(moments())]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    pq.write_table(pa.table({"user": pa.array(range(6), pa.int64()), "at": moments()}), tmp_path / "a.parquet")
    common = {"event_time": "at", "pace": "all", "rows_per_batch": 4, "total": 5}
    schema = "user bigint, at timestamp"
    texts = replay(spark, path=str(tmp_path / "a.jsonl"), form="json", schema=schema, **common)
    table = replay(spark, path=str(tmp_path / "a.parquet"), form="parquet", **common)
    assert texts.schema == table.schema
    rows = finished(texts, tmp_path / "c1")
    assert rows == finished(table, tmp_path / "c2")
    assert [(number, row["user"]) for number, row in rows] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4)]


def test_a_replay_keeps_to_the_clock(spark, tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(f"{n},{m:%Y-%m-%d %H:%M:%S}" for n, m in enumerate(moments())))
    frame = replay(spark, path=str(tmp_path / "a.csv"), form="csv", event_time="1", speed_up=5)
    started = time.monotonic()
    query, rows = run(frame, tmp_path / "c", processingTime="100 milliseconds")
    while len(rows) < 6 and query.isActive:
        time.sleep(0.05)
    query.stop()
    assert time.monotonic() - started >= 10, "50 s of event time at five times the speed"
    assert [row["line"] for _, row in rows] == (tmp_path / "a.csv").read_text().split("\n")


def test_every_row_takes_its_service_time(spark):
    frame = spark.range(0, 400, 1, 2)
    with_service_time(frame, 0.1).count()  # starts the workers
    started = time.monotonic()
    assert with_service_time(frame, 5).count() == 400
    assert 1.0 <= time.monotonic() - started < 4
