"""What a row costs, by the clock around it: known from the first batch on, whatever else the machine does."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rheostat.runtime.batch_cost import SPARKS_ROW_MS, BatchCost, Timed, fitted, fitted_after, timed_inside
from rheostat.runtime.flow import MOST_UNCERTAIN, Chain, Flow
from tests.runtime.test_progress import report

OWN_MS = 20.0
SPLIT = Chain(("split",), 1, {"sentences": "sentences--split"})


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
    flow = Flow(SPLIT)
    figures = flow.take(reports).figures["split"]
    line = fitted([point for point, _ in flow._points()])
    assume(line is None or (line.row_error_ms > SPARKS_ROW_MS and line.row_ms - OWN_MS < 3 * line.row_error_ms))
    assert figures["utilization"] == pytest.approx(OWN_MS / 1000 * figures["input_rate"])
    assert figures["true_rate"] == pytest.approx(1000 / OWN_MS)


def test_one_batch_is_enough():
    flow = Flow(SPLIT)
    flow.take([told(0, 9, 900.0)])
    assert flow.take([told(1, 8, 2400.0)]).figures["split"]["utilization"] == pytest.approx(0.16)


def test_the_largest_part_decides_what_replicas_can_do_together():
    """Of two replicas one has nine of ten rows: they cannot do more than 1000 / 0.9 / 20 a second."""
    reports = [told(n, 10, 400.0, [9 * OWN_MS, OWN_MS]) for n in range(4)]
    figures = Flow(Chain(("split",), 2, {"sentences": "sentences--split"})).take(reports).figures["split"]
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


def test_operators_of_a_chain_that_may_work_at_the_same_time_are_less_certain_together():
    cost = timed_inside([Timed(10, 900.0, ((200.0,), (30.0,)))], 1)
    assert (cost.row_ms, cost.row_error_ms) == (23.0, SPARKS_ROW_MS + 3.0)
    assert timed_inside([Timed(10, 900.0, ((200.0,), (200.0,)))], 1) is None, "between 20 and 40: nobody knows"


def test_a_cost_that_changes_is_followed_within_a_few_batches():
    flow = Flow(SPLIT)
    flow.take([told(n, 10, 500.0) for n in range(200)])
    figures = flow.take([told(n, 10, 900.0, [400.0]) for n in range(200, 230)]).figures["split"]
    assert figures["utilization"] == pytest.approx(0.4)


def test_what_was_measured_inside_is_remembered_for_the_next_instance():
    before = timed_inside([Timed(10, 300.0, ((200.0,),))], 1)
    now = fitted_after([], before)
    assert now.row_ms == pytest.approx(OWN_MS)
    assert now.uncertainty(40, 1) < MOST_UNCERTAIN
    assert isinstance(now, BatchCost)
