"""Reports of Spark: every batch once, rows at every boundary, rates and costs of a chain."""

from datetime import UTC, datetime
from math import isfinite
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.metrics.batch_cost import fitted
from rheostat.runtime.metrics.instance_rates import InstanceRates, OperatorChain, together
from rheostat.runtime.query.progress_report import CountedBatches, read_batch

CHAIN = OperatorChain(("split", "count"), 2, {"sentences": "sentences--split"}, "count")


def read(channel, rows):
    return {"numInputRows": rows, "startOffset": None, "endOffset": {"channel": channel, "cohorts": []}}


def report(number, start, rows, *, counted=None, work_ms=50.0, duration_ms=80.0, state=None, query="q"):
    """A report as Spark writes it; the chain has twice as many rows inside as it reads."""
    observed = {"to:count": 2 * rows} if counted is None else counted
    return {
        "id": query,
        "batchId": number,
        "timestamp": datetime.fromtimestamp(start, UTC).isoformat().replace("+00:00", "Z"),
        "durationMs": {"addBatch": work_ms, "triggerExecution": duration_ms},
        "observedMetrics": {name: {"rows": count} for name, count in observed.items()},
        "sources": [read("sentences--split", rows)],
        "sink": {"description": "channels", "numOutputRows": rows},
        "stateOperators": [] if state is None else [{"numRowsTotal": state, "memoryUsedBytes": 640}],
    }


def ran(reports):
    return [batch for one in reports if (batch := read_batch(one)) is not None]


def steady(count, *, rows=100, every=0.5, first=0):
    return [report(first + n, 1000 + (first + n) * every, rows) for n in range(count)]


def at_a_source(number, end, latest, *, every=2.0, rows=100):
    """A batch of a query that begins with a source, which has come to `end` of `latest` rows."""
    offsets = {"numInputRows": rows, "startOffset": None, "endOffset": {"rows": end}, "latestOffset": {"rows": latest}}
    return {**report(number, 1000 + number * every, rows, counted={"to:sink": rows}), "sources": [offsets]}


def test_a_query_that_does_not_keep_up_with_its_source_is_behind():
    """It reads 50 rows a second, 60 come in; what it reads is what it can do."""
    flow = InstanceRates(OperatorChain(("source", "sink"), 1))
    first = flow.take(ran([at_a_source(n, 100 * (n + 1), 120 * (n + 1)) for n in range(3)])).figures["source"]
    assert (first["backlog"], first["input_rate"]) == (60, pytest.approx(60))
    second = flow.take(ran([at_a_source(n, 100 * (n + 1), 120 * (n + 1)) for n in range(3, 6)])).figures["source"]
    assert (second["backlog"], second["input_rate"]) == (120, pytest.approx(60))
    assert second["lag_seconds"] == pytest.approx(2)
    assert second["output_rate"] == pytest.approx(50)
    lost = flow.take(ran([at_a_source(n, 100 * (n + 1), 120 * (n + 1)) for n in range(8, 10)])).figures["source"]
    assert lost["input_rate"] == pytest.approx(60), "two batches were never told of"


@pytest.mark.parametrize("latest", [None, "no number", {"files": 3}, {"rows": "x"}])
def test_a_source_that_does_not_tell_what_it_has_is_not_said_to_be_behind(latest):
    told = [at_a_source(n, 100 * n, 0) for n in range(3)]
    for one in told:
        one["sources"][0]["latestOffset"] = latest
    assert (
        not {"backlog", "lag_seconds"}
        & InstanceRates(OperatorChain(("source",), 1)).take(ran(told)).figures["source"].keys()
    )


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=12))
def test_every_batch_counts_once_whatever_overlaps(windows):
    ledger, reports = CountedBatches(), steady(80)
    given_out = [n.number for start, size in windows for n in ledger.take_new(ran(reports[start : start + size]))]
    assert sorted(given_out) == sorted({n for start, size in windows for n in range(start, start + size)})


def test_a_repeated_batch_after_a_restart_counts_once_and_another_query_counts_anew():
    ledger = CountedBatches()
    assert len(ledger.take_new(ran([report(7, 1000, 5), report(7, 1002, 5)]))) == 1
    assert len(ledger.take_new(ran([report(7, 1004, 5, query="other")]))) == 1


def test_a_trigger_that_ran_nothing_is_no_batch():
    idle = {**report(3, 1000, 0), "durationMs": {"latestOffset": 4, "triggerExecution": 5}}
    assert read_batch(idle) is None


def test_observations_come_as_objects_or_as_lists():
    remote = {**report(0, 1000, 9), "observedMetrics": {"to:count": [9]}}
    assert read_batch(remote).rows("to:count") == 9


def test_an_observation_spark_left_out_is_nothing_only_if_nothing_was_read():
    assert read_batch(report(0, 1000, 0, counted={})).rows("to:count") == 0
    assert read_batch(report(0, 1000, 9, counted={})).rows("to:count") is None


def test_what_each_input_brought_is_told_by_its_channel_in_whatever_order_spark_reads_them():
    """`right.join(left)`: the plan begins with the second input."""
    joined = report(0, 1000, 9, counted={})
    joined["sources"] = [read("clicks--join", 7), read("views--join", 2)]
    chain = OperatorChain(("join",), 1, {"views": "views--join", "clicks": "clicks--join"})
    batch = read_batch(joined)
    assert chain.received(batch) == {("views", "join"): 2, ("clicks", "join"): 7}
    assert chain.rows_in("join", batch) == 9
    assert OperatorChain(("join",), 1, {"other": "other--join"}).rows_in("join", batch) is None


def test_ticks_of_event_time_are_read_but_are_no_rows():
    ticked = read_batch(report(0, 1000, 9, counted={"from:sentences--split": 8}))
    assert CHAIN.rows_in("split", ticked) == 8


@pytest.mark.parametrize(
    ("last", "counted", "written", "rows"),
    [
        ("results", {}, 5, (5, 5)),
        ("operator", {"to:keep": 6}, 5, (6, 5)),
        ("a sink of the user's", {"to:keep": 6}, -1, (6, None)),
    ],
)
def test_what_the_last_operator_emits_is_told_by_the_sink(last, counted, written, rows):
    told = report(0, 1000, 9, counted=counted) | {"sink": {"description": "some", "numOutputRows": written}}
    chain = OperatorChain(("count", "keep"), 1, {"split": "split--count"}, ends_in_results=last.startswith("results"))
    batch = read_batch(told)
    assert (chain.rows_in("keep", batch), chain.rows_out("keep", batch)) == rows
    assert chain.rows_out("count", batch) == rows[0]


def test_what_is_emitted_by_event_time_alone_is_counted_though_nothing_was_read():
    closed = report(0, 1000, 0, counted={}) | {"sink": {"description": "some", "numOutputRows": 3}}
    chain = OperatorChain(("count", "keep"), 1, {"split": "split--count"}, ends_in_results=True)
    assert chain.rows_in("keep", read_batch(closed)) == 3


@given(st.integers(2, 60), st.integers(1, 59))
def test_rates_inside_a_chain_do_not_depend_on_where_a_period_ends(batches, cut):
    flow, reports = InstanceRates(CHAIN), steady(batches)
    for part in (reports[:cut], reports[: cut + 1], reports):
        flowed = flow.take(ran(part))
        if flowed.received:
            assert flowed.received == pytest.approx({("sentences", "split"): 200, ("split", "count"): 400})
            assert flowed.emitted == pytest.approx({"split": 400, "count": 200})


def test_figures_of_the_operators_of_a_chain():
    flow = InstanceRates(CHAIN)
    random = Random(1)
    rows = [random.randint(20, 200) for _ in range(40)]
    # Two replicas, 2 ms a row in each: 1 ms a row of the batch; 30 ms beside the work and 20 ms in it are fixed.
    reports = [
        report(n, 1000 + n * 0.5, count, work_ms=20 + count, duration_ms=50 + count, state=7)
        for n, count in enumerate(rows)
    ]
    figures = flow.take(ran(reports)).figures
    rate = sum(rows[1:]) / (39 * 0.5)
    assert figures["split"]["input_rate"] == pytest.approx(rate)
    assert figures["count"]["input_rate"] == pytest.approx(2 * rate)
    assert figures["split"]["batch_fixed_ms"] == pytest.approx(50)
    assert figures["split"]["batch_row_ms"] == pytest.approx(2)
    assert figures["split"]["true_rate"] == pytest.approx(500)
    assert figures["split"]["utilization"] == pytest.approx(0.002 * rate / 2)
    assert figures["count"]["utilization"] == pytest.approx(figures["split"]["utilization"]), "they share the replicas"
    assert figures["count"]["true_rate"] == pytest.approx(1000), "in rows of its own input"
    assert figures["count"]["state_rows"] == 7
    assert "state_rows" not in figures["split"]


def test_a_lost_report_is_a_new_beginning_not_a_fall_of_the_rate():
    flow = InstanceRates(CHAIN)
    flow.take(ran(steady(5)))
    flowed = flow.take(ran(steady(5, first=60)))
    assert flowed.received["sentences", "split"] == pytest.approx(200)


def test_who_works_on_a_long_batch_has_no_rate_and_who_has_nothing_to_do_has_none_to_show():
    flow = InstanceRates(CHAIN)
    flow.take(ran(steady(5)))
    assert "input_rate" not in flow.take(ran([])).figures["split"]
    assert flow.take(ran([]), idle_until=1010.0).figures["split"]["input_rate"] == 0.0
    later = flow.take(ran([report(5, 1012.0, 100)]))
    assert later.received["sentences", "split"] == pytest.approx(50), "counted from the end of idleness"


@given(
    st.floats(5, 500), st.floats(0.05, 20), st.lists(st.integers(1, 2000), min_size=20, max_size=80), st.integers(0, 99)
)
def test_the_fit_recovers_a_and_b_from_noisy_lines(fixed, per_row, rows, seed):
    random = Random(seed)
    noise = 0.05 * (fixed + per_row * sum(rows) / len(rows))
    cost = fitted([(n, fixed + per_row * n + random.gauss(0, noise)) for n in rows])
    if cost is None:
        return
    assert abs(cost.row_ms - per_row) <= 6 * cost.row_error_ms + 0.02 * per_row
    assert cost.fixed_ms >= 0
    assert all(isfinite(x) for x in (cost.fixed_ms, cost.row_ms, cost.row_error_ms))


def test_the_fit_of_a_line_with_spread_is_close():
    random = Random(3)
    rows = [random.randint(10, 400) for _ in range(60)]
    slow = [(200, 3000.0)]  # a collection, or the compiler
    cost = fitted([(n, 120 + 0.8 * n + random.gauss(0, 15)) for n in rows] + slow)
    assert cost.row_ms == pytest.approx(0.8, rel=0.1)
    assert cost.fixed_ms == pytest.approx(120, rel=0.1)


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([(100.0, 50.0)] * 50, id="batches of one size"),
        pytest.param([(1.0, 2.0), (5.0, 9.0)], id="too few"),
        pytest.param([(0.0, 9.0)] * 50, id="no rows at all"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_tells_nothing_is_not_fitted(points):
    assert fitted(points) is None


def test_rows_that_cost_nothing_measurable_have_no_true_rate():
    told = 0
    for seed in range(300):
        random = Random(seed)
        cost = fitted([(n, 100 + random.gauss(0, 10)) for n in range(10, 60)])
        told += cost.true_rate is not None
        assert cost.utilization(100, 1) >= 0
    assert told <= 6, "chance gives some"


def test_an_operator_is_its_instances_together_and_unknown_if_one_is():
    one = {"replicas": 1.0, "input_rate": 10.0, "utilization": 0.2, "lag_seconds": 1.0}
    other = {"replicas": 3.0, "input_rate": 30.0, "utilization": 0.6, "lag_seconds": 4.0}
    assert together([one, other]) == pytest.approx(
        {"replicas": 4, "input_rate": 40, "utilization": 0.5, "lag_seconds": 4}
    )
    assert "input_rate" not in together([one, {"replicas": 1.0}])


def test_an_operators_own_code_is_told_per_tuple_that_it_took_in():
    """The second operator of the chain takes in two tuples for each of the first."""
    reports = [
        {**one, "ownCode": {"split": [300.0, 100.0, [200.0, 100.0]], "count": [100.0, 0.0, [50.0, 50.0]]}}
        for one in steady(4)
    ]
    taken = InstanceRates(CHAIN).take(ran(reports))
    assert taken.figures["split"]["user_code_ms"] == pytest.approx(3)
    assert taken.figures["count"]["user_code_ms"] == pytest.approx(0.5)
    assert taken.cpu_seconds == {"split": pytest.approx(0.4), "count": 0}


def test_without_code_of_its_own_or_without_tuples_there_is_no_time_per_tuple():
    idle = {**report(0, 1000, 0), "ownCode": {"split": [0.0, 0.0, []]}}
    taken = InstanceRates(CHAIN).take(ran([idle]))
    assert "user_code_ms" not in {**taken.figures["split"], **taken.figures["count"]}
    assert not InstanceRates(CHAIN).take(ran(steady(3))).cpu_seconds


def test_a_batch_that_ends_alone_between_two_looks_tells_its_latency_by_the_one_before():
    """Batches of 2 s, looked at every second: at most one ends in between."""
    flow = InstanceRates(CHAIN)
    batches = [report(n, 1000 + 2 * n, 100, duration_ms=2000.0) for n in range(4)]
    found = [flow.take(ran([batch])).figures["split"].get("latency_ms") for batch in batches]
    assert found == [None, *[pytest.approx(1000 + 2000)] * 3]
    lost = flow.take(ran([report(7, 1020, 100)])).figures["split"]
    assert "latency_ms" not in lost, "what was before it is not known"


def test_what_arrives_after_a_time_without_work_has_not_waited_for_all_of_it():
    flow = InstanceRates(CHAIN)
    flow.take(ran([report(0, 1000, 5, duration_ms=80.0)]))
    assert flow.take(ran([report(1, 1060, 5, duration_ms=80.0)])).figures["split"]["latency_ms"] == pytest.approx(
        500 + 80
    )
    rare = InstanceRates(
        OperatorChain(("split", "count"), 1, {"sentences": "sentences--split"}, "count", idle_ms=20_000.0)
    )
    rare.take(ran([report(0, 1000, 5, duration_ms=80.0)]))
    every_ten = rare.take(ran([report(1, 1010, 5, duration_ms=80.0)])).figures["split"]["latency_ms"]
    assert every_ten == pytest.approx(5000 + 80), "who is triggered every ten seconds lets its rows wait"
