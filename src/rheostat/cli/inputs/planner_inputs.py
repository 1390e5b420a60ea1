"""The planner of a simulated control, from the arguments of `simulate` and `compare-policies`."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isfinite

from rheostat.cli.inputs.document_inputs import find_sound, only
from rheostat.cli.inputs.plan_inputs import planner_named
from rheostat.cli.output import Complaint, WrongUse
from rheostat.control.setup.control_settings import PLANNED
from rheostat.control.setup.factory import Planning
from rheostat.model.quality.objective import Objective, OdpObjective
from rheostat.planning.contract.planner import Unsuited
from rheostat.planning.contract.problem import Limits
from rheostat.planning.planner_registry import PLANNERS
from rheostat.simulation.world.scenario import Scenario


@dataclass(frozen=True, slots=True)
class PlannerChoice:
    """The options about planning; None where they are not given."""

    planner: str | None = None
    objective: str | None = None
    """A document."""
    plan_seconds: float | None = None
    """Time for one plan."""

    def planning(self, kinds: Collection[str], scenario: Scenario) -> Planning | None:
        """The planning of controls of these kinds; None if none of them plans."""
        planned = sorted(PLANNED.intersection(kinds))
        if not planned:
            self._refuse_without_use()
            return None
        if self.plan_seconds is not None and not (isfinite(self.plan_seconds) and self.plan_seconds > 0):
            complaint = f"--plan-seconds: {self.plan_seconds} is not a finite number > 0"
            raise WrongUse(Complaint(complaint, "write seconds > 0"))
        return Planning(
            planner_named(self.planner or next(iter(PLANNERS))),
            self._objective(planned),
            scenario.downtime,
            Limits(inf if self.plan_seconds is None else self.plan_seconds),
            scenario.hop_ms,
        )

    def _objective(self, planned: Collection[str]) -> Objective:
        if self.objective is not None:
            (document,) = find_sound([], (), [self.objective])
            wanted: Objective = only(document, Objective, "objective")
            return wanted
        if "s-edrp" in planned:
            # Weights and bounds normalise one another: there is none that would do for every application.
            raise WrongUse(Complaint("s-edrp needs an objective", "add --objective FILE, a document of form edrp"))
        return OdpObjective()

    def _refuse_without_use(self) -> None:
        for option, value in (
            ("--planner", self.planner),
            ("--objective", self.objective),
            ("--plan-seconds", self.plan_seconds),
        ):
            if value is not None:
                raise WrongUse(
                    Complaint(f"{option} applies only to s-edrp and s-odp", f"choose {' or '.join(PLANNED)}")
                )


@contextmanager
def unsuited_told() -> Iterator[None]:
    """Reports a planner that does not suit the problem as wrong use."""
    try:
        yield
    except Unsuited as refusal:
        raise WrongUse(Complaint(f"the planner cannot be asked this: {refusal}", "ask exact")) from refusal
