"""The answer of a planner, as text, as JSON and as a picture."""

import importlib
from math import isinf
from pathlib import Path
from typing import Any

from rheostat.cli.output import say, warn
from rheostat.cli.views.evaluation_view import print_report, report_json
from rheostat.cli.views.json_views import deployment_json
from rheostat.cli.views.verdict import Evaluated, Verdict
from rheostat.model.quality.placed import Placed
from rheostat.planning.contract.outcome import Outcome, PlanStatus
from rheostat.planning.contract.problem import Problem

VERDICTS = {
    PlanStatus.OPTIMAL: "nothing is better, and that is proven",
    PlanStatus.FEASIBLE: "it keeps every constraint; another may be better",
    PlanStatus.INFEASIBLE: "no deployment keeps every constraint, and that is proven",
    PlanStatus.NO_ANSWER: "none was found; there may be one",
}


def measure_of(problem: Problem) -> str:
    """The measure of the objective."""
    return "utility" if problem.maximises else "cost"


def plan_json(problem: Problem, outcome: Outcome, planner: str) -> dict[str, Any]:
    """All figures of an answer; `null` for unknown ones."""
    effort = outcome.effort
    body: dict[str, Any] = {
        "planner": planner,
        "status": outcome.status.value,
        "measure": measure_of(problem),
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "conflict": list(outcome.conflict),
        "deployment": None if outcome.deployment is None else deployment_json(outcome.deployment),
        "effort": {
            "seconds": effort.seconds,
            "nodes_explored": effort.nodes_explored,
            "deployments_generated": effort.deployments_generated,
            "reassignments": effort.reassignments,
            "note": effort.note,
        },
    }
    if outcome.deployment is not None:
        evaluated = evaluated_plan(problem, outcome)
        told = report_json(evaluated, Verdict.of(evaluated))
        body["evaluation"] = {key: value for key, value in told.items() if key not in ("reasons", "objective")}
    return body


def print_plan(problem: Problem, outcome: Outcome, planner: str) -> None:
    """The deployment with its evaluation, then its proof, and the verdict last."""
    if outcome.deployment is not None:
        evaluated = evaluated_plan(problem, outcome)
        print_report(evaluated, Verdict.of(evaluated))
        say(f"{planner}: {outcome.status}, {_proven(problem, outcome)}; {VERDICTS[outcome.status]}")
    else:
        say(*(f"no: {why}" for why in outcome.conflict))
        say(f"{planner}: {outcome.status}; {VERDICTS[outcome.status]}")
    warn(f"note: {effort_words(outcome)}")


def _proven(problem: Problem, outcome: Outcome) -> str:
    words = f"{measure_of(problem)} {outcome.objective:.4f}"
    if outcome.bound is None or isinf(outcome.bound):
        return words + ", no bound known"
    return words + f", bound {outcome.bound:.4f}, gap {100 * outcome.gap:.2f} %"


def effort_words(outcome: Outcome) -> str:
    """The effort of the search, in words."""
    effort = outcome.effort
    parts = [f"{effort.seconds:.2f} s", f"{effort.nodes_explored:,} nodes explored"]
    parts += [f"{effort.deployments_generated:,} multisets"]
    parts += [] if effort.reassignments is None else [f"{effort.reassignments} re-assignments"]
    return ", ".join([*parts, *([effort.note] if effort.note else [])])


def evaluated_plan(problem: Problem, outcome: Outcome) -> Evaluated:
    """The deployment of an answer, weighed by the problem's objective."""
    if outcome.deployment is None:
        raise ValueError("an answer without a deployment has nothing to be evaluated")
    placed = Placed(problem.application, problem.infrastructure, outcome.deployment, problem.hop_ms)
    return Evaluated.of(placed, problem.current, problem.downtime, problem.objective)


def draw_plan(problem: Problem, outcome: Outcome, svg: Path) -> None:
    """Operators on nodes, as `rheostat show` draws them."""
    # Most of a second of matplotlib, for those who want a picture alone.
    drawing = importlib.import_module("rheostat.cli.pictures.picture")
    drawing.save_svg(drawing.PictureSubject(problem.application, problem.infrastructure, outcome.deployment), svg)
    warn(f"drawn: {svg}")
