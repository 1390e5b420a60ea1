"""Every group has one owner, shares are proportional, and nothing moves that need not."""

from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.plan.group_ownership import groups_of, least_movement, moved

names = st.sampled_from("abcde")
deployments = st.dictionaries(names, st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def changes(draw, most_groups=40):
    """(old ownership, new replicas, number of groups, sizes or None)."""
    replicas = draw(deployments)
    groups = draw(st.integers(sum(replicas.values()), max(most_groups, sum(replicas.values()))))
    old = {group: draw(names) for group in range(groups) if draw(st.booleans())}
    sizes = draw(st.none() | st.dictionaries(st.integers(0, groups - 1), st.integers(0, 9).map(float)))
    return old, replicas, groups, sizes


def cost(old, new, sizes):
    return sum(1.0 if sizes is None else sizes.get(group, 0.0) for group in moved(old, new))


def proportional(new, replicas, groups):
    total = sum(replicas.values())
    return all(
        floor(Fraction(groups * n, total)) <= len(groups_of(new, name)) <= ceil(Fraction(groups * n, total))
        for name, n in replicas.items()
    )


@given(changes())
def test_every_group_has_one_owner_and_shares_are_proportional(change):
    old, replicas, groups, sizes = change
    new = least_movement(old, replicas, groups, sizes)
    assert set(new) == set(range(groups))
    assert set(new.values()) <= set(replicas)
    assert proportional(new, replicas, groups)


@given(changes())
def test_what_has_the_right_shares_stays_as_it_is(change):
    old, replicas, groups, sizes = change
    new = least_movement(old, replicas, groups, sizes)
    assert least_movement(new, replicas, groups, sizes) == new


@given(changes(most_groups=6))
def test_no_other_proportional_assignment_moves_less(change):
    old, replicas, groups, sizes = change
    if len(replicas) ** groups > 5000:
        return
    every = (dict(enumerate(owners)) for owners in product(replicas, repeat=groups))
    least = min(cost(old, new, sizes) for new in every if proportional(new, replicas, groups))
    assert cost(old, least_movement(old, replicas, groups, sizes), sizes) == pytest.approx(least)


def test_the_heavy_groups_stay_and_the_light_ones_go():
    old = dict.fromkeys(range(4), "a")
    new = least_movement(old, {"a": 1, "b": 1}, 4, {0: 1.0, 1: 9.0, 2: 8.0, 3: 1.0})
    assert groups_of(new, "a") == {1, 2}


@pytest.mark.parametrize(
    ("old", "replicas", "groups"),
    [
        pytest.param({}, {}, 4, id="nobody to own anything"),
        pytest.param({}, {"a": 0}, 4, id="an instance without replicas"),
        pytest.param({}, {"a": 3, "b": 2}, 4, id="more replicas than groups"),
        pytest.param({9: "a"}, {"a": 1}, 4, id="a group that does not exist"),
    ],
)
def test_nonsense_is_refused(old, replicas, groups):
    with pytest.raises(ValueError, match=r"replica|groups"):
        least_movement(old, replicas, groups)
