"""Cost of a row known from earlier batches, if recent ones do not tell it."""

import pytest

from rheostat.runtime.metrics.batch_cost import BatchCost, fitted, fitted_after
from rheostat.runtime.metrics.instance_rates import MOST_UNCERTAIN

BEFORE = BatchCost(100.0, 2.0, 0.01, 1.0)
SAME_SIZE = [(50.0, 300.0)] * 8


def test_batches_of_one_size_alone_do_not_tell():
    assert fitted(SAME_SIZE) is None
    assert fitted_after(SAME_SIZE, None) is None


def test_with_the_fixed_part_from_before_they_do():
    now = fitted_after([(50.0, 298.0), (50.0, 302.0)] * 4, BatchCost(100.0, 9.0, 3.0, 1.0))
    assert now.row_ms == pytest.approx(4.0)
    assert now.is_significant


def test_without_enough_batches_a_row_costs_what_it_cost_before_and_less_is_certain():
    now = fitted_after([], BEFORE)
    assert (now.fixed_ms, now.row_ms) == (100.0, 2.0)
    assert now.row_error_ms > BEFORE.row_error_ms


def test_what_batches_of_many_sizes_tell_counts_whatever_was_before():
    points = [(float(n), 10 + 7.0 * n) for n in (10, 20, 30, 40, 50, 60)]
    assert fitted_after(points, BEFORE).row_ms == pytest.approx(7.0)


def test_who_does_not_keep_up_is_known_to_be_busy_from_two_long_batches_of_one_size():
    cost = fitted_after([(200, 4500.0)] * 2, None)
    assert cost.is_significant
    assert cost.utilization(44.0, 1) == pytest.approx(0.99)
    assert cost.uncertainty(44.0, 1) < MOST_UNCERTAIN, "else it would not be told"


@pytest.mark.parametrize(
    "points", [[(200, 4500.0)], [(200, 900.0)] * 5, [(200, 4500.0), (20, 400.0)], [(0, 4500.0)] * 2]
)
def test_one_batch_and_short_ones_tell_nothing(points):
    assert fitted_after(points, None) is None
