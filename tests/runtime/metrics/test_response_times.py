"""Response times from ingest histograms: percentiles that bracket the true ones, whatever was merged."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.channels.records.histogram import IngestHistogram
from rheostat.runtime.metrics.response_times import GROWTH, ResponseTimes

BATCHES = st.lists(
    st.tuples(st.integers(1_000_000, 1_200_000), st.lists(st.integers(0, 90_000), min_size=1, max_size=120)),
    min_size=1,
    max_size=6,
)


def true_percentile(times, share):
    return sorted(times)[max(1, ceil(share * len(times) - 1e-9)) - 1]


@given(BATCHES, st.sampled_from([0.01, 0.5, 0.95, 0.99, 1.0]))
def test_percentiles_of_merged_histograms_bracket_the_true_ones(batches, share):
    parts = [ResponseTimes.of(IngestHistogram.of(done - age for age in ages), done) for done, ages in batches]
    times = [age for _, ages in batches for age in ages]
    low, high = ResponseTimes.merged(parts).bounds_ms(share)
    truth = true_percentile(times, share)
    assert low <= truth + 1e-6
    assert truth <= high + 1e-6


@given(st.lists(st.integers(0, 90_000), min_size=100, max_size=300, unique=True), st.sampled_from([0.01, 0.5, 0.99]))
def test_percentiles_of_coarse_histograms_bracket_the_true_ones(ages, share):
    ingest = IngestHistogram.of(1_000_000 - age for age in ages)
    assert ingest.width_ms > 1
    low, high = ResponseTimes.of(ingest, 1_000_000).bounds_ms(share)
    assert low <= true_percentile(ages, share) + 1e-6 <= high + 2e-6


@given(BATCHES)
def test_merging_in_any_order_is_the_same(batches):
    parts = [ResponseTimes.of(IngestHistogram.of(done - age for age in ages), done) for done, ages in batches]
    whole = ResponseTimes.merged(parts)
    nested = ResponseTimes.merged([ResponseTimes.merged(parts[1:]), *parts[:1]])
    assert (whole.lows, whole.highs) == (nested.lows, nested.highs)
    assert whole.total_ms == pytest.approx(nested.total_ms)
    assert whole.rows == sum(len(ages) for _, ages in batches)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=60))
def test_fine_histograms_give_percentiles_within_a_bucket(ages):
    known = ResponseTimes.of(IngestHistogram.of(5_000 - age for age in ages), 5_000)
    low, high = known.bounds_ms(0.5)
    assert high <= low * GROWTH**2 + 1e-6
    assert known.figures()["response_mean_ms"] == pytest.approx(sum(ages) / len(ages))


def test_no_rows_give_no_figures():
    assert ResponseTimes.merged([]).figures() == {}
    with pytest.raises(ValueError, match="0 rows"):
        ResponseTimes().bounds_ms(0.5)


def test_a_clock_that_is_behind_gives_zero_not_less():
    known = ResponseTimes.of(IngestHistogram.of([2_000]), 1_000)
    assert known.figures()["response_mean_ms"] == 0
    assert known.bounds_ms(1.0) == (0, 0)
