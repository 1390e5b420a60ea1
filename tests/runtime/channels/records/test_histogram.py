from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.channels.records.histogram import MOST_BUCKETS, IngestHistogram

times = st.lists(st.integers(0, 10**7), max_size=80)


@given(times, times)
def test_merging_counts_every_row_once(some, others):
    both = IngestHistogram.merged([IngestHistogram.of(some), IngestHistogram.of(others)])
    assert both.rows == len(some) + len(others)
    assert len(both.counts) <= MOST_BUCKETS


@given(times)
def test_a_histogram_is_what_its_document_says(some):
    histogram = IngestHistogram.of(some)
    assert IngestHistogram.from_document(histogram.to_document()) == histogram


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=80), st.integers(0, 10**6))
def test_ages_are_right_to_half_a_bucket(some, wait):
    now = max(some) + wait
    histogram = IngestHistogram.of(some)
    found = [age for age, rows in histogram.ages_ms(now) for _ in range(rows)]
    exact = sorted((now - time for time in some), reverse=True)
    assert all(abs(a - b) <= histogram.width_ms for a, b in zip(found, exact, strict=True))
