import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.ends.emulated_delay import SHORTEST_SLEEP_SECONDS, SleepDebt, with_service_time


@given(st.lists(st.integers(0, 50), max_size=40), st.floats(0.001, 5), st.floats(0, 0.01))
def test_all_in_all_exactly_the_service_time_is_slept_however_inexact_each_sleep_is(batches, milliseconds, too_long):
    bill, slept = SleepDebt(), 0.0
    for rows in batches:
        if wanted := bill.charge(rows, milliseconds):
            bill.pay(wanted + too_long)
            slept += wanted + too_long
    missing = sum(batches) * milliseconds / 1000 - slept
    assert -too_long - 1e-9 <= missing <= SHORTEST_SLEEP_SECONDS


def test_a_service_takes_no_negative_time():
    with pytest.raises(ValueError, match="negative"):
        with_service_time(None, -1)


def test_no_service_time_is_no_stage():
    frame = object()
    assert with_service_time(frame, 0) is frame
