"""The hour of EDRP 7.2 as S-EDRP spends it: rates are measured, not known, and a change makes tuples wait."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from experiments.planning.hour import BOUNDS, FIRST, LEAST_TPS, LIMIT_SECONDS, MINUTES, PEAK_TPS, PINS
from rheostat.control.managers.planned_manager import PLAN, changes_something
from rheostat.control.setup.control_settings import ControlSettings
from rheostat.control.setup.factory import Planning
from rheostat.model.quality.objective import EdrpObjective
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem
from rheostat.planning.exact.exact import Exact
from rheostat.reference.ansnet import ansnet
from rheostat.reference.taxi import taxi
from rheostat.report.recording import Note
from rheostat.report.run_summary import Exclusion, Summary, summarise
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.studies.simulated_run import Run, simulate
from rheostat.simulation.world.scenario import Scenario

SECONDS = 60.0 * MINUTES
AVERAGING_SECONDS = 30.0
"""Rates are means over the last half minute. Assumed: the paper's numerical study knows them."""

DISTURBED_SECONDS = 120.0
"""What waited during a change is served by then."""


@dataclass(frozen=True)
class ManagedHour:
    """What came of an hour."""

    weights: tuple[float, float, float]
    run: Run

    @cached_property
    def summary(self) -> Summary:
        """Of the whole hour, pauses included."""
        return summarise(self.run.recording)

    @cached_property
    def undisturbed_ms(self) -> float:
        """The mean response time without the minutes in which tuples still feel a change."""
        return summarise(self.run.recording, Exclusion(settle_seconds=DISTURBED_SECONDS)).mean_ms or 0.0

    @cached_property
    def plans(self) -> list[dict[str, Any]]:
        """What was planned; not those that were held for want of rates."""
        entries = self.run.journal.read(kind=PLAN)
        return [dict(entry.facts, minute=entry.at_seconds / 60) for _, entry in entries if "status" in entry.facts]

    @property
    def mean_ms(self) -> float:
        """From source to sink, on average over time."""
        return self.summary.mean_ms or 0.0

    @cached_property
    def expected_ms(self) -> float:
        """What the plans expected, on average: the slowest way to a replica counts there [EDRP, eq. 3]."""
        told = [plan["predicted"]["response_ms"] for plan in self.plans if "predicted" in plan]
        return float(sum(told) / len(told))

    @property
    def cost_per_hour(self) -> float:
        """Over the hour, so in all."""
        return self.summary.cost

    @property
    def downtime_seconds(self) -> float:
        """In all."""
        return self.summary.downtime * SECONDS

    @cached_property
    def changes(self) -> tuple[Note, ...]:
        """What was changed, and when."""
        return tuple(note for note in self.run.recording.notes if note.kind == "done")

    @cached_property
    def unproven(self) -> int:
        """Plans that were not proven in time."""
        return sum(plan["status"] != "optimal" for plan in self.plans)

    @cached_property
    def planned_changes(self) -> int:
        """Plans that wanted something else than there was."""
        return sum(changes_something(plan) for plan in self.plans)

    def first_replicated(self) -> tuple[float, tuple[str, ...]] | None:
        """The minute in which an operator had a second replica for the first time, and which had."""
        recording = self.run.recording
        for i, moment in enumerate(recording.seconds):
            if several := tuple(name for name, counts in recording.replicas.items() if (counts[i] or 0) > 1):
                return moment / 60, several
        return None


def scenario() -> Scenario:
    """The taxi application on ANSNET, where EDRP would put it at first, under a source that goes up and down."""
    infrastructure = ansnet()
    # Selectivities are exact at one rate of the source (see `reference.taxi`): the middle one.
    application = taxi((LEAST_TPS + PEAK_TPS) / 2, 2, pins=PINS)
    start = Problem(taxi(LEAST_TPS, 2, pins=PINS), infrastructure, EdrpObjective(*FIRST, BOUNDS))
    first = Exact(explains=False).plan(start).deployment
    if first is None:
        raise RuntimeError("there is no first deployment")
    half = SECONDS / 2
    text = f"ramp {LEAST_TPS:g} {PEAK_TPS:g} for {half:g}; ramp {PEAK_TPS:g} {LEAST_TPS:g} for {half:g}"
    return Scenario(application, infrastructure, first, CurveWorkload.of(text))


def spent(
    weights: tuple[float, float, float], planner: Planner | None = None, period_seconds: float = 60.0
) -> ManagedHour:
    """One hour, planned every minute."""
    settings = ControlSettings("s-edrp", period_seconds=period_seconds, averaging_seconds=AVERAGING_SECONDS)
    planning = Planning(
        planner or Exact(explains=False),
        EdrpObjective(*weights, BOUNDS),
        limits=Limits(LIMIT_SECONDS),
        starts_as_a_guess=False,
    )
    run = simulate(scenario(), settings, SECONDS, objective_ms=BOUNDS.response_time_ms, planning=planning)
    return ManagedHour(weights, run)
