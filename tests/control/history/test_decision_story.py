"""Story of a decision from its causes to its effect, for every deciding manager."""

from tests.simulation.scenes import chain

from rheostat.control.history.decision_story import Result, stories
from rheostat.control.history.journal import MemoryJournal
from rheostat.control.loop.ports import Entry
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning
from rheostat.model.quality.objective import Bounds, EdrpObjective
from rheostat.planning.exact.exact import Exact
from rheostat.simulation.studies.simulated_run import simulate

RISES = "50 for 300; 150 for 600"


def changed(run):
    return [story for story in stories(run.journal) if story.effect is not None]


def test_a_threshold_decision_is_told_with_what_was_measured_when_it_had_settled():
    first = changed(simulate(chain(RISES), ControlSettings("edf"), 900.0))[0]
    told = dict(first.chapters())
    assert list(told) == ["seen", "proposed", "chosen", "expected", "done", "measured"]
    assert "work" in told["seen"]
    assert "busy, more than 70%" in first.reason
    assert "was expected to be" in told["measured"]


def test_a_central_manager_tells_how_busy_the_operators_were_that_it_looked_at():
    first = changed(simulate(chain(RISES), ControlSettings("elastic-storm"), 900.0))[0]
    assert "work" in dict(first.chapters())["seen"]


def test_a_planned_decision_is_told_with_the_rates_it_was_made_for():
    bounds = Bounds(response_time_ms=1000.0, cost_per_hour=100.0, downtime_seconds=60.0)
    planning = Planning(Exact(), EdrpObjective(0.5, 0.4, 0.1, bounds))
    run = simulate(chain(RISES), ControlSettings("s-edrp"), 600.0, planning=planning)
    told = [dict(story.chapters()) for story in changed(run)]
    assert told, "the load triples: something had to be changed"
    assert any("source brings 150" in one["seen"] for one in told)
    assert all("planned (optimal)" in one["chosen"] for one in told)
    assert all("a response time of" in one["expected"] for one in told)
    assert all("was expected to become" in one["measured"] for one in told[:-1])
    assert any(one.get("refused", "").startswith("to stay as it is") for one in told)
    assert all("with 3 replicas" in one["seen"] for one in told[:1])


def test_a_change_that_was_followed_by_another_before_it_settled_says_so():
    journal = MemoryJournal()
    for number in (1, 2):
        journal.append(Entry("plan", number, {"by": "p", "held": "no rates"}))
        facts = {"by": "p", "change": f"change {number}", "outcome": "done", "downtime_seconds": 1.0, "predicted": {}}
        journal.append(Entry("effect", number, facts))
    first, second = (dict(story.chapters())["measured"] for story in stories(journal))
    assert "something else was changed" in first
    assert "nothing yet" in second


def test_what_is_measured_after_a_change_that_was_undone_belongs_to_the_one_before():
    journal = MemoryJournal()
    for number, outcome in ((1, "done"), (2, "rolled back")):
        journal.append(Entry("plan", number, {"by": "p", "held": "no rates"}))
        facts = {"by": "p", "change": "one", "outcome": outcome, "downtime_seconds": 1.0, "predicted": {}}
        journal.append(Entry("effect", number, facts))
    journal.append(Entry("measured", 3.0, {}))
    assert [story.measured is not None for story in stories(journal)] == [True, False]


def test_a_change_by_hand_is_told_and_is_no_decision_of_a_manager():
    journal = MemoryJournal()
    journal.append(Entry("plan", 1.0, {"by": "p", "held": "no rates"}))
    facts = {"by": "user", "change": "scale-out work", "outcome": "done", "downtime_seconds": 0.5, "predicted": {}}
    journal.append(Entry("by hand", 2.0, facts))
    _, hand = stories(journal)
    assert hand.result() == Result("scale-out work", "done", 0.5)
    assert hand.reason == "requested by hand"
    assert [heading for heading, _ in hand.chapters()] == ["chosen", "done"]


def test_what_was_measured_late_belongs_to_the_last_change_not_to_the_last_decision():
    run = simulate(chain(RISES), ControlSettings("edf", settle_seconds=120.0), 900.0)
    first = changed(run)[0]
    between = [story.number for story in stories(run.journal) if story.number > first.number and story.is_holding]
    assert between, "decisions to hold lie between a change and what was measured of it"
    assert first.measured is not None


def test_a_journal_without_decisions_tells_no_story():
    journal = MemoryJournal()
    journal.append(Entry("launch", 1.0, {}))
    assert stories(journal) == []
