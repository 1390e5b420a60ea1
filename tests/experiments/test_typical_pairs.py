"""Typical value of measured pairs: robust against a few outliers, with an honest uncertainty."""

import random
from math import exp

import pytest
from benchmarks.pairs import typical
from hypothesis import given
from hypothesis import strategies as st

ratios = st.lists(st.floats(0.2, 5), min_size=2, max_size=25)


@given(ratios)
def test_it_lies_within_its_interval_and_that_within_what_was_measured(measured):
    found = typical(measured)
    assert min(measured) <= found.low * 1.000001
    assert found.low <= found.ratio * 1.000001
    assert found.ratio <= found.high * 1.000001
    assert found.high <= max(measured) * 1.000001


@given(ratios)
def test_which_one_of_a_pair_is_divided_by_the_other_does_not_matter(measured):
    found, upside_down = typical(measured), typical([1 / ratio for ratio in measured])
    assert found.ratio == pytest.approx(1 / upside_down.ratio)
    assert found.low == pytest.approx(1 / upside_down.high)
    assert found.doubt == pytest.approx(upside_down.doubt)


def test_what_is_always_the_same_is_known():
    assert typical([0.97] * 10).ratio == pytest.approx(0.97)
    assert typical([0.97] * 10).doubt == pytest.approx(0)


def test_a_few_wild_pairs_hardly_move_it():
    draw = random.Random(1)
    calm = [exp(draw.gauss(0, 0.05)) for _ in range(30)]
    assert typical([*calm, 9, 11, 15]).ratio == pytest.approx(typical(calm).ratio, abs=0.02)


def test_nine_of_ten_intervals_hold_the_truth_and_more_pairs_make_them_narrower():
    draw = random.Random(7)
    held, doubts = 0, {10: 0.0, 40: 0.0}
    for count in doubts:
        for _ in range(300):
            found = typical([0.98 * exp(draw.gauss(0, 0.2)) for _ in range(count)])
            held += found.low <= 0.98 <= found.high
            doubts[count] += found.doubt / 300
    assert 0.86 < held / 600 < 0.94
    assert doubts[40] == pytest.approx(doubts[10] / 2, rel=0.15)
