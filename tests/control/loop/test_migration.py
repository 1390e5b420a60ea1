"""The table of the migration protocol: what may follow what, and what can still be undone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.control.loop.migration import FINISHED, STEPS, SWITCHED, Event, Migration, State
from rheostat.errors import IllegalStep

SMOOTH = [
    Event.BEGIN,
    Event.HELD,
    Event.SAVED,
    Event.BUILT,
    Event.STARTED,
    Event.RESUMED,
]


def test_a_change_without_trouble_is_done_after_both_barriers():
    migration = Migration.replayed(SMOOTH)
    assert migration.state is State.DONE
    assert migration.history == tuple(SMOOTH)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_before_the_switch_a_failure_is_undone(steps):
    migration = Migration.replayed([*SMOOTH[:steps], Event.FAILED])
    assert migration.state is State.ROLLING_BACK
    assert not migration.is_switched
    assert migration.after(Event.RESTORED).state is State.UNDONE


@pytest.mark.parametrize("steps", [4, 5])
def test_after_the_switch_there_is_only_forward(steps):
    migration = Migration.replayed([*SMOOTH[:steps], Event.FAILED])
    assert migration.state is State.RECOVERING
    assert migration.is_switched
    again = migration.after(Event.FAILED).after(Event.STARTED).after(Event.RESUMED)
    assert again.state is State.DONE


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_an_illegal_step_changes_nothing(events):
    migration = Migration()
    for event in events:
        before = migration
        try:
            migration = migration.after(event)
        except IllegalStep as refusal:
            assert event not in STEPS[before.state]
            assert refusal.history == before.history
            assert migration == before
        else:
            assert migration.history == (*before.history, event)
            assert Migration.replayed(migration.history) == migration


@given(st.lists(st.sampled_from(Event), max_size=30))
def test_what_is_switched_is_never_undone(events):
    migration = Migration()
    switched = False
    for event in events:
        if event in STEPS[migration.state]:
            migration = migration.after(event)
        assert not (switched and migration.state in {State.ROLLING_BACK, State.UNDONE})
        switched = switched or migration.is_switched


def test_every_state_can_be_reached_and_every_unfinished_one_can_end():
    reached = {State.RUNNING}
    while more := {target for state in reached for target in STEPS[state].values()} - reached:
        reached |= more
    assert reached == set(State)
    for state in set(State) - FINISHED:
        ends = {state}
        while more := {target for one in ends for target in STEPS[one].values()} - ends:
            ends |= more
        assert ends & FINISHED
    assert {State.UNDONE} == FINISHED - SWITCHED
