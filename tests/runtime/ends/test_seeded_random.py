from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.ends.seeded_random import Draw, Zipf

seeds = st.integers(0, 2**32)
indexes = st.integers(0, 2**40)


@given(seeds, indexes)
def test_the_same_row_gets_the_same_chance(seed, index):
    one, other = Draw(seed, index), Draw(seed, index)
    assert [one.bits() for _ in range(5)] == [other.bits() for _ in range(5)]


@given(seeds, indexes)
def test_other_rows_and_other_seeds_get_other_chances(seed, index):
    assert len({Draw(seed, index).bits(), Draw(seed, index + 1).bits(), Draw(seed + 1, index).bits()}) == 3


@given(seeds, indexes, st.integers(1, 1000), st.integers(0, 50))
def test_numbers_stay_within_their_bounds(seed, index, end, least):
    chance = Draw(seed, index)
    assert 0 <= chance.below(end) < end
    assert least <= chance.between(least, least + 3) <= least + 3
    assert 0 <= chance.uniform() < 1
    assert chance.pick("abc") in "abc"


def test_chance_is_even():
    counts = Counter(Draw(1, index).below(4) for index in range(4000))
    assert all(900 < count < 1100 for count in counts.values())


def test_the_first_of_a_zipf_law_is_twice_as_frequent_as_the_second():
    law = Zipf(50)
    counts = Counter(law.draw(Draw(3, index)) for index in range(20_000))
    assert 1.8 < counts[0] / counts[1] < 2.2
    assert set(counts) == set(range(50))
