"""`rheostat compare-policies`: many policies under the same workload, beside the best possible costs."""

from dataclasses import asdict, fields, replace
from html import escape
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.inputs.downtime_choice import Downtime
from rheostat.cli.inputs.pairs import settings_from
from rheostat.cli.inputs.plan_inputs import NAMES
from rheostat.cli.inputs.planner_inputs import PlannerChoice, unsuited_told
from rheostat.cli.inputs.simulate_inputs import Conditions, scenario_of, with_bounds
from rheostat.cli.output import Complaint, WrongUse, answer_json, page, say, warn
from rheostat.cli.views.simulation_view import summary_table
from rheostat.control.setup.control_settings import PLANNED, ControlSettings
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.policies.operators.period_cost import Weights
from rheostat.policies.policy_registry import GRANTING, POLICIES
from rheostat.report.charts import ACCENT, COLOURS, FAINT, INK
from rheostat.simulation.studies.contest import Contest, Entrant, compare, limit, ratios

app = typer.Typer(add_completion=False)


@app.command()
def compare_policies(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="A document, or a name such as taxi.")],
    infrastructure: Annotated[
        str, typer.Argument(metavar="INFRASTRUCTURE", help="A document, or a name such as ansnet.")
    ],
    *,
    policies: Annotated[
        str,
        typer.Option(
            help=f"Which, by commas; all if not given: {', '.join(POLICIES)}. One may add +token-bucket. "
            f"Only if given: {', '.join(sorted(PLANNED))}."
        ),
    ] = "",
    planner: Annotated[str | None, typer.Option(help=f"The planner of s-edrp and s-odp: {NAMES}.")] = None,
    objective: Annotated[str | None, typer.Option(help="A document: what the planner minimises.")] = None,
    plan_seconds: Annotated[
        float | None, typer.Option(help="Time for one plan; how far it comes then depends on the machine.")
    ] = None,
    workload: Annotated[str, typer.Option(help="days, a CSV file of recorded rates, or a curve.")] = "days",
    between: Annotated[
        tuple[float, float] | None, typer.Option(help="Scale the workload to lie between these rates.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Replay a recording or days this much faster.")] = 1.0,
    hours: Annotated[float, typer.Option(help="How long to simulate.")] = 1.0,
    deployment: Annotated[str | None, typer.Option(help="A document: the first deployment.")] = None,
    objective_ms: Annotated[float, typer.Option(help="R_max: the response time to keep.")] = 250.0,
    bound: Annotated[list[str] | None, typer.Option(help="R_max,op of an operator, operator=ms.")] = None,
    weights: Annotated[
        list[str] | None, typer.Option("--weight", help="reconfiguration=, performance= or resources=; they sum to 1.")
    ] = None,
    period: Annotated[float, typer.Option(help="Seconds between two decisions.")] = 30.0,
    settle: Annotated[float, typer.Option(help="Seconds to leave the application alone after a change.")] = 30.0,
    noise: Annotated[float, typer.Option(help="Relative deviation of the rates.")] = 0.0,
    measurement_noise: Annotated[float, typer.Option(help="Relative error of measurements.")] = 0.0,
    burst: Annotated[list[str] | None, typer.Option(help="An operator fed in bursts, operator=seconds.")] = None,
    downtime: Annotated[Downtime | None, typer.Option(help="How the engine changes a deployment.")] = None,
    sync_seconds: Annotated[float | None, typer.Option(help="Constant part of every change.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    processes: Annotated[int, typer.Option(min=1, help="How many run at once.")] = 2,
    svg: Annotated[Path | None, typer.Option(help="Draw the comparison into this file, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Run many policies on one workload, and compare them with one that knows the future.

    That one knows every rate and the operators that a change slows down, but neither the time to work off a backlog
    nor the speed of nodes: the run of another policy can be cheaper than its run, but never than the lower bound.
    """
    if not (isfinite(period) and period > 0):
        raise WrongUse(Complaint(f"--period: {period} is not a finite number > 0", "write seconds > 0"))
    sample = min(period, 30.0)
    conditions = Conditions(
        workload, between, speed, hours, noise, measurement_noise, sample, burst or (), downtime, sync_seconds
    )
    scenario = scenario_of([application, infrastructure], deployment, conditions, "edf")
    weighed = Weights.of(settings_from("weight", weights or []))
    common = ControlSettings("edf", period_seconds=period, settle_seconds=settle)
    bounds = with_bounds(common, scenario, objective_ms, bound or []).latency_bounds_ms
    entrants = {name: _settings(name, common, bounds, weighed) for name in _names(policies)}
    for settings in entrants.values():
        settings.check(scenario.application)
    planning = PlannerChoice(planner, objective, plan_seconds).planning(
        [each.kind for each in entrants.values()], scenario
    )
    contest = Contest(scenario, conditions.seconds, objective_ms, bounds, weighed, period, seed=seed, planning=planning)
    with unsuited_told():
        found = compare(contest, entrants, processes, lambda name: warn(f"done: {name}"))
    by_oracle, least = ratios(found), limit(contest)
    if svg is not None:
        svg.write_text(drawn(found, least), encoding="utf-8")
        warn(f"written: {svg}")
    if as_json:
        told: list[dict[str, Any]] = [
            {"policy": n, **asdict(e.summary), "total_cost": e.cost, "by_oracle": by_oracle[n]}
            for n, e in found.items()
        ]
        answer_json(ok=True, limit=least, policies=told)
    else:
        costs: dict[str, float | None] = {name: each.cost for name, each in found.items()}
        extra = {"total cost": costs, "by oracle": by_oracle}
        page().print(summary_table({name: each.summary for name, each in found.items()}, extra))
        say(f"lower bound of the costs, with every rate known and changes that take no time: {least:.1f}")


def _names(text: str) -> list[str]:
    chosen = [name.strip() for name in text.split(",") if name.strip()] or list(POLICIES)
    for name in chosen:
        policy, _, granting = name.partition("+")
        if policy not in POLICIES and policy not in PLANNED:
            near = did_you_mean(policy, [*POLICIES, *sorted(PLANNED)])
            raise WrongUse(Complaint(f"--policies: there is no policy {policy!r}", near))
        if granting and policy in PLANNED:
            raise WrongUse(
                Complaint(f"--policies: {policy} plans by itself, so nothing is granted", f"leave out +{granting}")
            )
        if granting and granting not in GRANTING:
            raise WrongUse(
                Complaint(f"--policies: there is no global policy {granting!r}", did_you_mean(granting, GRANTING))
            )
    return list(dict.fromkeys(chosen))


def _settings(name: str, common: ControlSettings, bounds: Any, weights: Weights) -> ControlSettings:
    """The settings of one policy: the same for all, and weights where the policy has them."""
    policy, _, granting = name.partition("+")
    if policy in PLANNED:
        return replace(common, kind=policy)
    options = {"weights": weights} if "weights" in {field.name for field in fields(POLICIES[policy])} else {}
    return ControlSettings(
        common.kind,
        policy,
        options,
        granting or "all",
        period_seconds=common.period_seconds,
        settle_seconds=common.settle_seconds,
        latency_bounds_ms=bounds,
    )


def drawn(entrants: dict[str, Entrant], least: float) -> str:
    """Costs as bars, the cheapest first, with a line at the lower bound."""
    ordered = sorted(entrants.values(), key=lambda each: each.cost)
    most, height = max(each.cost for each in ordered) or 1.0, 26
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height * len(ordered) + 30}"'
    parts = [f'<svg {box} font-family="sans-serif" font-size="12" fill="{INK}">']
    for i, each in enumerate(ordered):
        y, width = 10 + height * i, 440 * each.cost / most
        parts += [
            f'<text x="150" y="{y + 15}" text-anchor="end">{escape(each.name)}</text>',
            f'<rect x="160" y="{y + 2}" width="440" height="18" fill="{FAINT}"/>',
            f'<rect x="160" y="{y + 2}" width="{width:.1f}" height="18" fill="{COLOURS[0]}"/>',
            f'<text x="610" y="{y + 15}">{each.cost:.1f}</text>',
        ]
    x, bottom = 160 + 440 * least / most, 10 + height * len(ordered)
    parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="6" y2="{bottom}" stroke="{ACCENT}" stroke-dasharray="5 3"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
