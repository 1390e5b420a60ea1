"""Lessons learned in one run and used in another."""

from dataclasses import replace

import pytest
from tests.control.still_world import APPLICATION, StillWorld
from tests.simulation.scenes import CHAIN, chain

from rheostat.control.history.journal import from_line, to_line
from rheostat.control.history.lessons import lessons, misfits, teach
from rheostat.control.loop.ports import Entry
from rheostat.control.managers.operator_manager import MEMORY
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import build
from rheostat.controller.recovery import recall
from rheostat.simulation.studies.simulated_run import simulate

OPTIONS = {"rate_quantum_tps": 25.0, "rate_levels": 8, "learning_rate": 0.5}
LEARNERS = [ControlSettings("edf", policy, OPTIONS, settle_seconds=0.0) for policy in ("model-based", "q-learning")]


def practised(settings):
    """The lessons as they come back from a file."""
    return [from_line(to_line(entry)) for entry in simulate(chain("sine 20 180 600"), settings, 1800.0).lessons]


@pytest.mark.parametrize("settings", LEARNERS, ids=lambda settings: settings.policy)
class TestTakenAlong:
    def test_a_manager_begins_with_what_was_learned_in_the_simulator(self, settings):
        learned = practised(settings)
        assert misfits(learned, settings, CHAIN) == []
        world = StillWorld(application=CHAIN)
        teach(world.journal, learned, 7.0)
        control = build(settings, world.world())
        recall(control, world.journal)
        assert [to_line(manager.lesson(1800.0)) for manager in control.operators] == list(map(to_line, learned))

    def test_a_simulation_goes_on_where_another_has_ended(self, settings):
        first = practised(settings)
        after = simulate(chain("50"), settings, 0.0, learned=first).lessons
        # Nothing was seen yet, so there is nothing new to learn; only where it is, is not known any more.
        tables = [{**entry.facts["memory"], "before": None} for entry in first]
        assert [{**entry.facts["memory"], "before": None} for entry in after] == tables

    def test_what_was_learned_here_already_is_not_overwritten(self, settings):
        learned = practised(settings)
        world = StillWorld(application=CHAIN)
        mine = replace(learned[0], facts={**learned[0].facts, "memory": None})
        world.journal.append(mine)
        teach(world.journal, learned, 7.0)
        known = lessons(entry for _, entry in world.journal.read(kind=MEMORY))
        assert known[str(mine.facts["by"])].facts["memory"] is None
        assert len(known) == len(learned)

    @pytest.mark.parametrize("other", [{"rate_quantum_tps": 50.0}, {"rate_levels": 12}], ids=str)
    def test_states_that_mean_something_else_are_refused_and_a_manager_begins_anew(self, settings, other):
        learned = practised(settings)
        changed = replace(settings, options={**OPTIONS, **other})
        told = misfits(learned, changed, CHAIN)
        assert len(told) == len(learned)
        assert "8 levels of 25 tuples/s" in told[0]
        world = StillWorld(application=CHAIN)
        teach(world.journal, learned, 7.0)
        control = build(changed, world.world())
        recall(control, world.journal)
        fresh = build(changed, StillWorld(application=CHAIN).world())
        for manager, new in zip(control.operators, fresh.operators, strict=True):
            assert to_line(manager.lesson(0.0)) == to_line(new.lesson(0.0))


def test_lessons_of_another_policy_or_for_other_operators_are_told():
    model_based, q_learning = LEARNERS
    learned = practised(q_learning)
    assert all("q-learning has learned it, not model-based" in line for line in misfits(learned, model_based, CHAIN))
    missing = misfits([], model_based, APPLICATION)
    assert missing == ["nothing was learned for split", "nothing was learned for count"]


def test_what_is_no_lesson_is_left_alone():
    assert lessons([Entry("proposal", 0.0, {"by": "somebody"})]) == {}
