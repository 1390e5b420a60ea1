"""Cost of a row, by the clock around it: known from the first batch on, under any other load of the machine."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.query.test_progress_report import ran, report

from rheostat.runtime.metrics.batch_cost import SPARKS_ROW_MS, BatchCost, Timed, fitted, fitted_after, timed_inside
from rheostat.runtime.metrics.instance_rates import MOST_UNCERTAIN, InstanceRates, OperatorChain

OWN_MS = 20.0
SPLIT = OperatorChain(("split",), 1, {"sentences": "sentences--split"})


def told(number, rows, work_ms, parts=None, *, every=1.0):
    parts = [rows * OWN_MS] if parts is None else parts
    own = {"split": [sum(parts), 0.0, parts]}
    batch = report(number, 1000 + number * every, rows, counted={}, work_ms=work_ms, duration_ms=work_ms + 30)
    return {**batch, "ownCode": own}


@given(st.integers(0, 999), st.integers(2, 60))
def test_on_a_machine_that_stalls_a_rows_cost_is_still_known(seed, batches):
    """A batch takes up to three seconds for nothing: more processes than cores. A line through that tells anything."""
    random = Random(seed)
    rows = [random.randint(3, 12) for _ in range(batches)]
    reports = [told(n, count, count * OWN_MS + random.uniform(200, 3000)) for n, count in enumerate(rows)]
    flow = InstanceRates(SPLIT)
    figures = flow.take(ran(reports)).figures["split"]
    line = fitted([point for point, _ in flow._points()])
    assume(line is None or (line.row_error_ms > SPARKS_ROW_MS and line.row_ms - OWN_MS < 3 * line.row_error_ms))
    assert figures["utilization"] == pytest.approx(OWN_MS / 1000 * figures["input_rate"])
    assert figures["true_rate"] == pytest.approx(1000 / OWN_MS)


def test_one_batch_is_enough():
    flow = InstanceRates(SPLIT)
    flow.take(ran([told(0, 9, 900.0)]))
    assert flow.take(ran([told(1, 8, 2400.0)])).figures["split"]["utilization"] == pytest.approx(0.16)


def test_the_largest_part_decides_what_replicas_can_do_together():
    """Of two replicas one has nine of ten rows: they cannot do more than 1000 / 0.9 / 20 a second."""
    reports = [told(n, 10, 400.0, [9 * OWN_MS, OWN_MS]) for n in range(4)]
    figures = (
        InstanceRates(OperatorChain(("split",), 2, {"sentences": "sentences--split"}))
        .take(ran(reports))
        .figures["split"]
    )
    assert figures["true_rate"] * 2 == pytest.approx(1000 / 0.9 / OWN_MS)
    assert figures["utilization"] == pytest.approx(10 * 0.9 * OWN_MS / 1000)


def test_parts_that_are_unequal_by_chance_are_equal_in_the_long_run():
    batches = [Timed(3, 300.0, ((40.0, 20.0),)), Timed(3, 300.0, ((20.0, 40.0),))] * 5
    assert timed_inside(batches, 2).row_ms == pytest.approx(OWN_MS)


def test_more_parts_than_replicas_queue():
    assert timed_inside([Timed(40, 450.0, ((200.0,) * 4,))], 2).row_ms == pytest.approx(OWN_MS)


def test_code_that_takes_next_to_nothing_says_nothing_about_a_row():
    """Spark's own part may be more than that: it is for the line to tell."""
    assert timed_inside([Timed(1000, 500.0, ((2000.0,),))], 1) is None
    points = [(float(n), 10 + 7.0 * n) for n in (10, 20, 30, 40, 50, 60)]
    quick = timed_inside([Timed(n, work, ((0.5 * n,),)) for n, work in points], 1)
    assert fitted_after(points, None, quick).row_ms == pytest.approx(7.0)


def test_what_spark_does_itself_counts_once_the_batches_say_so_clearly():
    points = [(float(n), 10 + 45.0 * n) for n in (10, 20, 30, 40, 50, 60)]
    inside = timed_inside([Timed(n, work, ((OWN_MS * n,),)) for n, work in points], 1)
    assert fitted_after(points, None, inside).row_ms == pytest.approx(45.0)


def test_the_more_certain_one_tells_at_high_rates():
    """At 150 a second an uncertainty of 1 ms a row is one of 15 % of the time: the clock alone would not be told."""
    random = Random(2)
    points = [(float(n), 50 + 4.5 * n + random.gauss(0, 5)) for n in range(100, 200)]
    inside = timed_inside([Timed(n, work, ((4.4 * n,),)) for n, work in points], 1)
    cost = fitted_after(points, None, inside)
    assert inside.uncertainty(150, 1) > MOST_UNCERTAIN > cost.uncertainty(150, 1)
    assert 4.4 <= cost.row_ms < 4.7


def test_operators_of_a_chain_work_one_after_the_other():
    cost = timed_inside([Timed(10, 900.0, ((200.0,), (30.0,)))], 1)
    assert (cost.row_ms, cost.row_error_ms) == (23.0, SPARKS_ROW_MS)


JUDGED = OperatorChain(("readings", "clean", "judge", "tag"), 1)


def judged(number, rows, judge_ms=16.0, tag_ms=4.0, *, kept=0.5):
    """A query from the source on: `clean` is Spark's own, and lets one row of two through."""
    own = {"judge": [judge_ms * kept * rows, 0.0, [judge_ms * kept * rows]]}
    own["tag"] = [tag_ms * kept * rows, 0.0, [tag_ms * kept * rows]]
    counted = {"to:clean": rows, "to:judge": int(kept * rows), "to:tag": int(kept * rows)}
    work = sum(ms for ms, *_ in own.values()) + 100
    batch = report(number, 1000 + number * 2.0, rows, counted=counted, work_ms=work, duration_ms=work + 30)
    return {**batch, "ownCode": own}


def test_who_makes_a_query_busy_is_known_by_its_own_code():
    """100 rows in 2 s, half of which cost 16 and 4 ms: 50 % of the time, four fifths of it for `judge`."""
    figures = InstanceRates(JUDGED).take(ran([judged(n, 100) for n in range(5)])).figures
    busy = {name: figures[name]["utilization"] for name in JUDGED.operators}
    assert busy == pytest.approx({"readings": 0.0, "clean": 0.0, "judge": 0.5, "tag": 0.1})
    alone = {name: figures[name]["own_utilization"] for name in JUDGED.operators}
    assert alone == pytest.approx({"readings": 0.0, "clean": 0.0, "judge": 0.4, "tag": 0.1})
    assert figures["tag"]["true_rate"] == pytest.approx(250.0), "what it could do without the others"
    assert figures["judge"]["true_rate"] == pytest.approx(50.0), "what the query can do, in rows of its own input"
    assert "true_rate" not in figures["clean"]


def test_everybody_answers_for_its_part_of_the_time_in_the_query():
    """Half of the batch before they wait, and theirs takes 1130 ms; learners go by this, whatever they look after."""
    figures = InstanceRates(JUDGED).take(ran([judged(n, 100) for n in range(5)])).figures
    latencies = {name: known["latency_ms"] for name, known in figures.items() if "latency_ms" in known}
    assert latencies == pytest.approx({"judge": 0.8 * 1695, "tag": 0.2 * 1695})


@pytest.mark.parametrize(
    ("chain", "answers"), [(JUDGED, "clean"), (OperatorChain(("clean", "tag"), 1, {"x": "x--clean"}), "clean")]
)
def test_if_nobody_knows_whose_time_it_is_the_first_that_can_be_scaled_answers(chain, answers):
    reports = [
        report(n, 1000 + 2.0 * n, 10, counted=dict.fromkeys(("to:clean", "to:judge", "to:tag"), 10)) for n in range(5)
    ]
    figures = InstanceRates(chain).take(ran(reports)).figures
    assert [name for name, known in figures.items() if "latency_ms" in known] == [answers]


def test_if_most_of_it_is_sparks_own_work_all_share_it():
    def quick(number, rows):
        counted = dict.fromkeys(("to:clean", "to:judge", "to:tag"), rows)
        batch = report(number, 1000 + 2.0 * number, rows, counted=counted, work_ms=50 + 30.0 * rows)
        return {**batch, "ownCode": {"tag": [5.0 * rows, 0.0, [5.0 * rows]]}}

    figures = InstanceRates(JUDGED).take(ran([quick(n, 10 + 3 * (n % 7)) for n in range(40)])).figures
    busy = [figures[name]["utilization"] for name in JUDGED.operators]
    assert busy == pytest.approx([busy[0]] * 4)
    assert busy[0] == pytest.approx(0.030 * figures["readings"]["output_rate"], rel=0.1)


def test_far_above_its_limits_it_need_not_be_known_to_the_percent():
    """At 150 rows a second, each of 12 ms, 1 ms more or less is 15 % of the time; 180 % is too much either way."""
    figures = InstanceRates(SPLIT).take(ran([told(n, 150, 1850.0, [1800.0]) for n in range(5)])).figures["split"]
    assert figures["utilization"] == pytest.approx(1.8)


def test_a_cost_that_changes_is_followed_within_a_few_batches():
    flow = InstanceRates(SPLIT)
    flow.take(ran([told(n, 10, 500.0) for n in range(200)]))
    figures = flow.take(ran([told(n, 10, 900.0, [400.0]) for n in range(200, 230)])).figures["split"]
    assert figures["utilization"] == pytest.approx(0.4)


def test_what_was_measured_inside_is_remembered_for_the_next_instance():
    before = timed_inside([Timed(10, 300.0, ((200.0,),))], 1)
    now = fitted_after([], before)
    assert now.row_ms == pytest.approx(OWN_MS)
    assert now.uncertainty(40, 1) < MOST_UNCERTAIN
    assert isinstance(now, BatchCost)
