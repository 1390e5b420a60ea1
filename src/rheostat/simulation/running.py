"""A whole run: a scenario under a control system, from its start to its end, with everything that is kept of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rheostat.control.building import Planning, build
from rheostat.control.building import World as Parts
from rheostat.control.decisions import DECISION
from rheostat.control.journal import MemoryJournal
from rheostat.control.planned import PLAN
from rheostat.control.scheduling import Progress, run, silent
from rheostat.control.settings import ControlSettings
from rheostat.simulation.foresight import knowing_policies
from rheostat.simulation.recording import Recording
from rheostat.simulation.scenario import Scenario
from rheostat.simulation.world import World


@dataclass(frozen=True)
class Run:
    """What came of it."""

    recording: Recording
    journal: MemoryJournal
    requests: int = 0
    """How often a manager asked for something."""
    granted: int = 0


def simulate(
    scenario: Scenario,
    settings: ControlSettings,
    until_seconds: float,
    *,
    seed: int = 0,
    objective_ms: float | None = None,
    planning: Planning | None = None,
    progress: Progress = silent,
) -> Run:
    """Runs a scenario; the same arguments give the same journal, byte for byte."""
    world, journal = World(scenario, seed), MemoryJournal()
    provider = world if scenario.supply.kinds else None
    parts = Parts(scenario.application, world, world, world, journal, provider)
    seeded = replace(settings, seed=seed)
    control = build(seeded, parts, planning, knowing_policies(scenario, settings, until_seconds, seed))
    run(control.loops, world, until_seconds, progress)
    decisions: list[Mapping[str, Any]] = [entry.facts for _, entry in journal.read(kind=DECISION)]
    facts = {"control": settings.kind, "policy": settings.policy_name(), "global": settings.granting, "seed": str(seed)}
    title = f"{scenario.application.name} on {scenario.infrastructure.name}"
    recording = world.recorder.recording(title, objective_ms=objective_ms, facts=facts)
    asked, granted = (sum(len(facts[name]) for facts in decisions) for name in ("requests", "granted"))
    return Run(recording.explained(reasons(journal)), journal, asked, granted)


def reasons(journal: MemoryJournal) -> list[tuple[float, str]]:
    """Why every change was made, by the moment at which it began, as the journal has it."""
    found = []
    for _, entry in journal.read():
        facts: Mapping[str, Any] = entry.facts
        if entry.kind == DECISION and facts["granted"]:
            told = "; ".join(f"{request['operator']}: {request['reason']}" for request in facts["granted"])
            found.append((entry.at_seconds, told))
        elif entry.kind == PLAN:
            found.append((entry.at_seconds, str(facts.get("reason", "planned"))))
    return found
