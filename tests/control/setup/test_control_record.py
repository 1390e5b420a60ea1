"""The settings of a control come back from the journal as they were, and plans are made from them again."""

from dataclasses import replace
from math import inf

import pytest
from tests.simulation.scenes import CHAIN, SITES, chain

from rheostat.control.history.journal import MemoryJournal, from_line, to_line
from rheostat.control.history.replay_run import NotReplayable, replay_run
from rheostat.control.setup.control_record import ControlRecord
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning
from rheostat.model.downtime.full_restart import FullRestart
from rheostat.model.quality.objective import Bounds, EdrpObjective, OdpObjective
from rheostat.planning.contract.problem import Limits
from rheostat.planning.planner_registry import PLANNERS
from rheostat.simulation.studies.simulated_run import simulate

WEIGHED = EdrpObjective(0.5, 0.3, 0.2, Bounds(response_time_ms=200, cost_per_hour=5, downtime_seconds=60))
TUNED = ControlSettings(
    "edf", "true-rate", {"target": 0.6}, latency_bounds_ms={"work": 40.0}, cool_down_seconds=(10.0, 60.0), seed=7
)


def written(record):
    """The record after a journal on disk has had it."""
    return ControlRecord.from_facts(from_line(to_line(record.entry(5.0))).facts)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(ControlRecord(TUNED, CHAIN, SITES), id="policies"),
        pytest.param(
            ControlRecord(ControlSettings("s-odp"), CHAIN, SITES, Planning(PLANNERS["greedy"].planner, OdpObjective())),
            id="a planner without a limit",
        ),
        pytest.param(
            ControlRecord(
                ControlSettings("s-edrp"),
                CHAIN,
                SITES,
                Planning(
                    PLANNERS["restricted"].planner, WEIGHED, FullRestart(3.0), Limits(2.5, 0.01), 4.0,
                    starts_as_a_guess=False,
                ),
            ),
            id="a planner with everything",
        ),
    ],
)  # fmt: skip
def test_a_record_comes_back_as_it_was(record):
    assert written(record) == record


def test_a_planner_that_is_not_in_the_registry_is_left_out():
    class Own:
        """A planner of the user's."""

        def plan(self, problem, progress=None):
            raise NotImplementedError

    record = ControlRecord(ControlSettings("s-odp"), CHAIN, SITES, Planning(Own(), OdpObjective(), limits=Limits(inf)))
    assert written(record).planning is None


@pytest.mark.parametrize(("kind", "objective"), [("s-odp", OdpObjective()), ("s-edrp", WEIGHED)])
def test_the_plans_of_a_simulated_run_are_made_again(kind, objective):
    settings, planning = ControlSettings(kind), Planning(PLANNERS["greedy"].planner, objective)
    run = simulate(chain("50 for 200; 150 for 200"), settings, 400.0, planning=planning)
    journal = MemoryJournal()
    journal.append(ControlRecord(settings, CHAIN, SITES, planning).entry(0.0))
    for _, entry in run.journal.read():
        journal.append(entry)
    result = replay_run(journal)
    plans = [entry for _, entry in journal.read(kind="plan")]
    assert result.difference is None
    assert result.decided == len([plan for plan in plans if "nodes" in plan.facts]) >= 1
    assert result.decided + result.skipped == len(plans)


def test_a_journal_without_settings_cannot_be_replayed():
    run = simulate(chain("50 for 60"), ControlSettings("edf"), 60.0)
    with pytest.raises(NotReplayable, match="with which settings"):
        replay_run(run.journal)
    with pytest.raises(NotReplayable):
        replay_run(MemoryJournal())


LEARNS = ControlSettings("edf", "q-learning", memory_every=3)


def with_takeover(settings, place, again=None):
    """The journal of a run that a second controller takes over while the managers on the agents go on."""
    entries = [entry for _, entry in simulate(chain("50 for 300; 150 for 300"), settings, 600.0).journal.read()]
    journal = MemoryJournal()
    journal.append(ControlRecord(settings, CHAIN, SITES).entry(0.0))
    for number, entry in enumerate(entries):
        if number == place:
            journal.append(ControlRecord(again or settings, CHAIN, SITES).entry(entry.at_seconds))
        journal.append(entry)
    return journal


@pytest.mark.parametrize("place", [10, 23, 40])
def test_managers_that_outlive_their_controller_keep_their_memory(place):
    """What they journal of it is older than what they remember."""
    result = replay_run(with_takeover(LEARNS, place))
    assert result.difference is None
    assert result.skipped == 0


def test_a_manager_that_is_started_again_elsewhere_goes_on_with_what_it_journaled():
    entries = [entry for _, entry in with_takeover(LEARNS, None).read()]
    journaled = max(i for i, entry in enumerate(entries) if entry.kind == "memory" and i < 40)
    kept, lost = entries[: journaled + 1], entries[journaled + 1 : journaled + 4]
    learned = [entry for entry in kept if entry.kind == "memory"]
    again = [entry for _, entry in simulate(chain("150 for 300"), LEARNS, 300.0, learned=learned).journal.read()]
    journal = MemoryJournal()
    for entry in [*kept, *lost, *again]:
        journal.append(entry)
    assert replay_run(journal).difference is None
    forgetful = MemoryJournal()
    for entry in simulate(chain("150 for 300"), ControlSettings("edf", "q-learning"), 300.0).journal.read():
        forgetful.append(entry[1])
    proposals = [entry for _, entry in forgetful.read(kind="proposal")]
    assert proposals != [entry for entry in again if entry.kind == "proposal"], "what was learned matters"


def test_what_arrives_after_a_takeover_was_decided_with_the_settings_before():
    other = ControlSettings("edf", "threshold", {"scale_out": 0.3})
    journal, before = MemoryJournal(), with_takeover(ControlSettings("edf"), 10)
    entries = [entry for _, entry in before.read() if entry.kind != "control"]
    journal.append(ControlRecord(ControlSettings("edf"), CHAIN, SITES).entry(0.0))
    journal.append(ControlRecord(other, CHAIN, SITES).entry(1000.0))
    for entry in entries:
        if entry.kind == "proposal":
            journal.append(entry)
    assert replay_run(journal).difference is None
    last = journal.append(replace(scaling_out(entries), at_seconds=1001.0))
    found = replay_run(journal).difference
    assert found is not None
    assert found.number == last


def scaling_out(entries):
    """A proposal that other thresholds do not make."""
    return next(
        entry
        for entry in entries
        if entry.kind == "proposal" and 0.35 < max(entry.facts["view"]["utilizations"], default=0.0) < 0.65
    )
