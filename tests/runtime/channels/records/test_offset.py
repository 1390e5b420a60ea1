import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.runtime.channels.records.key_groups import format_groups, parse_groups
from rheostat.runtime.channels.records.offset import (
    Cohort,
    Offset,
    Position,
    format_offset,
    join,
    meet,
    merge,
    parse_offset,
    restrict,
)

group_sets = st.frozensets(st.integers(0, 12))


@st.composite
def positions(draw: st.DrawFn) -> Position:
    epoch, done, ahead = draw(st.integers(1, 3)), draw(st.integers(0, 4)), draw(st.integers(0, 2))
    return Position(epoch, done + ahead, done, draw(st.integers(-5, 5)) if ahead else None)


ats = st.dictionaries(st.sampled_from(["a@n1", "b@n2", "c"]), positions(), max_size=3)


@st.composite
def offsets(draw: st.DrawFn, groups: frozenset[int] | None = None) -> Offset:
    owned = sorted(draw(group_sets) if groups is None else groups)
    cohorts = draw(st.lists(ats, min_size=1, max_size=3))
    dealt = [draw(st.integers(0, len(cohorts) - 1)) for _ in owned]
    parts = [
        Cohort(frozenset(g for g, d in zip(owned, dealt, strict=True) if d == i), at) for i, at in enumerate(cohorts)
    ]
    return Offset.of("c", parts, draw(st.integers(-9, 9)))


@given(group_sets)
def test_a_set_of_groups_is_what_its_text_says(groups):
    assert parse_groups(format_groups(groups)) == groups


@given(offsets())
def test_an_offset_is_what_its_text_says(offset):
    assert parse_offset(format_offset(offset)) == offset
    assert parse_offset(json.loads(format_offset(offset))) == offset


@given(offsets(), st.permutations(range(3)))
def test_equal_offsets_have_equal_texts(offset, order):
    alone = [Cohort(frozenset({g}), c.at) for c in offset.cohorts for g in c.groups]
    shuffled = [alone[i] for i in order if i < len(alone)] + alone[3:]
    assert format_offset(Offset.of("c", shuffled, offset.frontier)) == format_offset(offset)


@given(offsets(), group_sets)
def test_what_is_split_can_be_merged_again(offset, some):
    left, right = offset.groups & some, offset.groups - some
    assert merge([restrict(offset, left), restrict(offset, right)]) == offset


@given(st.data())
def test_what_is_merged_can_be_split_again(data):
    groups = data.draw(group_sets)
    a, b = data.draw(offsets(groups)), data.draw(offsets(frozenset(range(20, 25))))
    both = merge([a, b])
    assert restrict(both, a.groups).cohorts == a.cohorts
    assert restrict(both, b.groups).cohorts == b.cohorts
    assert both == merge([b, a])
    assert both.frontier == min(a.frontier, b.frontier)


@given(offsets(), group_sets, group_sets)
def test_restricting_twice_restricts_to_the_common_part(offset, one, two):
    one, two = one & offset.groups, two & offset.groups
    assert restrict(restrict(offset, one | two), one) == restrict(offset, one)


def test_groups_of_two_owners_cannot_be_merged():
    a = Offset.start("c", frozenset({1, 2}))
    with pytest.raises(ValueError, match="occur twice"):
        merge([a, Offset.start("c", frozenset({2}))])


def test_groups_that_are_not_covered_cannot_be_asked_for():
    with pytest.raises(ValueError, match="does not cover key groups 3"):
        restrict(Offset.start("c", frozenset({1, 2})), frozenset({2, 3}))


def test_offsets_of_different_channels_cannot_be_merged():
    with pytest.raises(ValueError, match="one channel"):
        merge([Offset.start("c", frozenset({1})), Offset.start("d", frozenset({2}))])


@given(st.data())
def test_meet_and_join_are_commutative_idempotent_and_absorb(data):
    groups = data.draw(group_sets)
    a, b = data.draw(offsets(groups)), data.draw(offsets(groups))
    assert meet(a, b) == meet(b, a)
    assert join(a, b) == join(b, a)
    assert meet(a, a) == a == join(a, a)


@given(positions(), positions())
def test_a_meet_is_not_beyond_either_and_a_join_not_behind(a, b):
    low, high = a.meet(b), a.join(b)
    for place in (a, b):
        assert (low.epoch, low.seen) <= (place.epoch, place.seen) <= (high.epoch, high.seen)
        if low.epoch == place.epoch:
            assert low.done <= place.done
        if high.epoch == place.epoch:
            assert high.done >= place.done


def test_the_text_of_an_aligned_offset_is_short():
    offset = Offset.of("c", [Cohort(frozenset(range(8)) | {9}, {"parser@n1": Position.at(1, 17)})], 5)
    assert offset.to_document() == {
        "channel": "c",
        "cohorts": [{"groups": "0-7,9", "at": {"parser@n1/1": 17}}],
        "frontier": 5,
    }
