"""Complete simulated run: a scenario under a control system from start to end, with its recording."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rheostat.control.history.journal import MemoryJournal
from rheostat.control.history.lessons import remind
from rheostat.control.loop.loop_schedule import Progress, run, silent
from rheostat.control.loop.ports import Entry
from rheostat.control.managers.decisions import DECISION
from rheostat.control.managers.planned_manager import PLAN, changes_something
from rheostat.control.setup.control_settings import PLANNED, ControlSettings
from rheostat.control.setup.factory import Planning, build
from rheostat.control.setup.factory import World as Parts
from rheostat.report.recording import Recording
from rheostat.simulation.studies.foresight import informed_policies
from rheostat.simulation.world.scenario import Scenario
from rheostat.simulation.world.simulated_world import SimulatedWorld


@dataclass(frozen=True)
class Run:
    """Result of a simulated run."""

    recording: Recording
    journal: MemoryJournal
    requests: int = 0
    """Number of requests by managers."""
    granted: int = 0
    lessons: tuple[Entry, ...] = ()
    """Lessons learned by the operator managers during the run."""


def simulate(
    scenario: Scenario,
    settings: ControlSettings,
    until_seconds: float,
    *,
    seed: int = 0,
    objective_ms: float | None = None,
    planning: Planning | None = None,
    progress: Progress = silent,
    learned: Iterable[Entry] = (),
) -> Run:
    """Runs a scenario; the same arguments give the same journal, byte for byte.

    Managers continue with the lessons that managers of the same name learned before, if these are given.
    """
    world, journal = SimulatedWorld(scenario, seed), MemoryJournal()
    provider = world if scenario.supply.kinds else None
    parts = Parts(scenario.application, world, world, world, journal, provider)
    seeded = replace(settings, seed=seed)
    control = build(seeded, parts, planning, informed_policies(scenario, settings, until_seconds, seed))
    remind(control.operators, learned)
    run(control.loops, world, until_seconds, progress)
    who = {} if settings.kind in PLANNED else {"policy": settings.policy_name(), "global": settings.granting}
    facts = {"control": settings.kind, **who, "seed": str(seed)}
    title = f"{scenario.application.name} on {scenario.infrastructure.name}"
    recording = world.recorder.recording(title, objective_ms=objective_ms, facts=facts)
    asked, granted, why = _accounted(journal)
    taught = tuple(manager.lesson(until_seconds) for manager in control.operators)
    return Run(recording.explained(why), journal, asked, granted, taught)


def _accounted(journal: MemoryJournal) -> tuple[int, int, list[tuple[float, str]]]:
    """Numbers of requests and grants, and the reason of every change by its start time."""
    asked = granted = 0
    reasons = []
    for _, entry in journal.read(kind=DECISION):
        facts: Mapping[str, Any] = entry.facts
        asked, granted = asked + len(facts["requests"]), granted + len(facts["granted"])
        if facts["granted"]:
            told = "; ".join(f"{request['operator']}: {request['reason']}" for request in facts["granted"])
            reasons.append((entry.at_seconds, told))
    for _, entry in journal.read(kind=PLAN):
        if changes_something(entry.facts):
            # A plan is never refused.
            asked, granted = asked + 1, granted + 1
            reasons.append((entry.at_seconds, str(entry.facts["reason"])))
    return asked, granted, reasons
