"""Several planners on one problem: deployment, distance from the optimum, and effort of each."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from rheostat.cli.views.colours import number
from rheostat.cli.views.json_views import deployment_json
from rheostat.cli.views.tables import plain_table
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.problem import Problem

STYLES = {
    PlanStatus.OPTIMAL: "green",
    PlanStatus.FEASIBLE: "",
    PlanStatus.INFEASIBLE: "red",
    PlanStatus.NO_ANSWER: "yellow",
}
_NUMBERS = ("objective", "off", "ms", "$/h", "up %", "traffic/s", "pause s", "moved", "took s")


@dataclass(frozen=True, slots=True)
class Answered:
    """One planner's answer: an outcome, or the reason that it does not suit the problem."""

    name: str
    outcome: Outcome | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All answers to one problem."""

    problem: Problem
    answers: tuple[Answered, ...]

    @property
    def optimum(self) -> float | None:
        """The objective of a proven optimum, if a planner has proven one."""
        proven = [one.outcome for one in self.answers if one.outcome and one.outcome.status is PlanStatus.OPTIMAL]
        return proven[0].objective if proven else None

    @property
    def found(self) -> bool:
        """Whether a planner has found a deployment."""
        return any(one.outcome is not None and one.outcome.deployment is not None for one in self.answers)

    def off(self, outcome: Outcome) -> float | None:
        """The distance from the optimum, relative to it; None if either is unknown."""
        best = self.optimum
        if best is None or outcome.objective is None:
            return None
        worse = best - outcome.objective if self.problem.maximises else outcome.objective - best
        return max(0.0, worse) / max(abs(best), 1e-9)

    def table(self) -> Table:
        """One line for each."""
        headers = ["planner", "status", "objective", "off", "ms", "$/h", "up %", "traffic/s"]
        headers += ["pause s"] if self.problem.current is not None else []
        table = plain_table(*headers, "moved", "took s", right=_NUMBERS)
        for one in self.answers:
            table.add_row(*self._cells(one))
        return table

    def remarks(self) -> list[str]:
        """The reasons of planners without a deployment."""
        found = [(one.name, (one.refusal,) if one.outcome is None else one.outcome.conflict) for one in self.answers]
        return [f"{name}: {why}" for name, reasons in found for why in reasons]

    def _cells(self, one: Answered) -> list[str | Text]:
        if one.outcome is None:
            return [one.name, Text("refused", "yellow")]
        outcome, effort, evaluation = one.outcome, one.outcome.effort, one.outcome.evaluation
        status = Text(outcome.status.value, STYLES[outcome.status])
        if evaluation is None or outcome.objective is None:
            return [one.name, status]
        off = self.off(outcome)
        cells = [f"{outcome.objective:.4f}", "" if off is None else f"{100 * off:.1f} %"]
        cells += [number(evaluation.response_time_ms), f"{evaluation.cost_per_hour:.4g}"]
        cells += [f"{100 * evaluation.availability:.4g}", number(evaluation.traffic_tps)]
        cells += [number(evaluation.downtime_seconds)] if self.problem.current is not None else []
        moved = "" if effort.reassignments is None else str(effort.reassignments)
        return [one.name, status, *cells, moved, f"{effort.seconds:.2f}"]

    def json(self) -> list[dict[str, Any]]:
        """The same for programs."""
        return [self._entry(one) for one in self.answers]

    def _entry(self, one: Answered) -> dict[str, Any]:
        if one.outcome is None:
            return {"planner": one.name, "status": "refused", "conflict": [one.refusal]}
        outcome, evaluation = one.outcome, one.outcome.evaluation
        known: dict[str, Any] = {
            "planner": one.name,
            "status": outcome.status.value,
            "objective": outcome.objective,
            "bound": outcome.bound,
            "off_optimum": self.off(outcome),
            "conflict": list(outcome.conflict),
            "reassignments": outcome.effort.reassignments,
            "seconds": outcome.effort.seconds,
            "note": outcome.effort.note,
        }
        if outcome.deployment is not None and evaluation is not None:
            known |= {
                "response_time_ms": evaluation.response_time_ms,
                "cost_per_hour": evaluation.cost_per_hour,
                "availability": evaluation.availability,
                "traffic_tps": evaluation.traffic_tps,
                "network_usage": evaluation.network_usage,
                "elastic_energy": evaluation.elastic_energy,
                "downtime_seconds": evaluation.downtime_seconds,
                "deployment": deployment_json(outcome.deployment),
            }
        return known
