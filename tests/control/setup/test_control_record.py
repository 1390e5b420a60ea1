"""The settings of a control come back from the journal as they were, and plans are made from them again."""

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
