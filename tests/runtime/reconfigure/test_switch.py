"""The switch of a change: whatever fails while or after it is written, the journal says which plan holds.

Memory and journal never part: the instances of the plan run, each once, with their checkpoints, and the next change
succeeds.
"""

import sqlite3

import pytest
from tests.runtime.reconfigure.small_run import SmallRun

from rheostat.control.loop.migration import Event
from rheostat.control.loop.ports import Done, Refused, RolledBack
from rheostat.errors import JournalUnreadable, RuntimeFault
from rheostat.runtime.reconfigure.recorded_plan import RecordedPlan
from rheostat.runtime.reconfigure.run_checkpoints import checkpoint_name

ERRORS = [sqlite3.OperationalError("disk I/O error"), OSError(28, "No space left"), RuntimeFault("gone"), KeyError("x")]


class FailingJournal:
    """A journal that fails at one step of a change, before or after the step is on the disk."""

    def __init__(self, journal):
        self.journal, self.error, self.step, self.keeps, self.is_unreadable = journal, None, None, False, False

    @property
    def term(self):
        return self.journal.term

    def newest_term(self):
        return self.journal.newest_term()

    def append(self, entry):
        if self.error is None or entry.facts.get("event") != self.step:
            return self.journal.append(entry)
        if self.keeps:
            self.journal.append(entry)
        raise self.error

    def read(self, after=0, kind=None):
        if self.is_unreadable:
            raise sqlite3.OperationalError("database is locked")
        return self.journal.read(after, kind)


@pytest.fixture
def run(tmp_path):
    """Source and sink on n1, the state on n2, and every instance has done some batches."""
    run = SmallRun(tmp_path)
    run.journal = run.runtime.journal = FailingJournal(run.journal)
    run.runtime.launch(run.deployment)
    assert isinstance(run.runtime.deploy(run.moved("n2")), Done)
    for node in run.nodes.values():
        for instance in node.running:
            for _ in range(3):
                node.advance(instance)
    return run


def fail(run, step, error, *, keeps):
    run.journal.error, run.journal.step, run.journal.keeps = error, step.value, keeps


def assert_runs_what_the_journal_says(run):
    plan = RecordedPlan.of(run.journal).plan
    assert run.runtime.plan == plan
    running = sorted(name for node in run.nodes.values() for name in node.running)
    assert running == sorted(instance.name for instance in plan.instances)
    assert set(run.disk.checkpoints) <= {checkpoint_name(instance) for instance in plan.instances}
    orders = {instance.name: run.disk.orders.get(instance.name) for instance in plan.instances}
    assert not [name for name, order in orders.items() if order is not None and order.hold]


def numbers_used(run):
    return {
        instance.number
        for _, entry in run.journal.read()
        if "plan" in entry.facts
        for instance in RecordedPlan()._after(entry).plan.instances
    }


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("keeps", [True, False], ids=["written", "not written"])
@pytest.mark.parametrize("step", [Event.BUILT, Event.STARTED, Event.RESUMED])
def test_an_error_at_or_after_the_switch_goes_where_the_journal_says(run, step, keeps, error):
    before = run.runtime.plan
    fail(run, step, error, keeps=keeps)
    effect = run.runtime.deploy(run.moved("n2", "n3"))
    switched = step is not Event.BUILT or keeps
    assert isinstance(effect, Done if switched else RolledBack)
    run.journal.error = None
    run.runtime.heal()
    assert_runs_what_the_journal_says(run)
    assert (run.runtime.plan != before) == switched
    assert isinstance(run.runtime.deploy(run.moved("n3")), Done)
    assert_runs_what_the_journal_says(run)


@pytest.mark.parametrize("keeps", [True, False], ids=["written", "not written"])
def test_nothing_starts_or_changes_until_the_journal_can_be_read(run, keeps):
    fail(run, Event.BUILT, sqlite3.OperationalError("disk I/O error"), keeps=keeps)
    run.journal.is_unreadable = True
    with pytest.raises(JournalUnreadable, match="database is locked"):
        run.runtime.deploy(run.moved("n3"))
    running = {name: set(node.running) for name, node in run.nodes.items()}
    with pytest.raises(JournalUnreadable):
        run.runtime.heal()
    assert isinstance(run.runtime.deploy(run.moved("n1")), Refused)
    assert {name: set(node.running) for name, node in run.nodes.items()} == running
    run.journal.error, run.journal.is_unreadable = None, False
    run.runtime.heal()
    assert run.runtime.deployment() == run.moved("n3" if keeps else "n2")
    assert_runs_what_the_journal_says(run)


def test_a_change_settles_what_failed_before_it(run):
    fail(run, Event.STARTED, OSError(5, "Input/output error"), keeps=False)
    assert isinstance(run.runtime.deploy(run.moved("n3")), Done)
    run.journal.error = None
    assert isinstance(run.runtime.deploy(run.moved("n2", "n3")), Done)
    assert_runs_what_the_journal_says(run)


@pytest.mark.parametrize("taken_over", [False, True])
def test_numbers_of_a_change_that_was_rolled_back_are_never_used_again(run, taken_over):
    used = max(numbers_used(run))
    run.nodes["n3"].complaints["build"] = "no build today"
    assert isinstance(run.runtime.deploy(run.moved("n3")), RolledBack)
    if taken_over:
        run.take_over()
    assert isinstance(run.runtime.deploy(run.moved("n3")), Done)
    created = [one.number for one in run.runtime.plan.instances if one.head == "count"]
    assert created == [used + 2], "one number was used up by the change that was rolled back"
