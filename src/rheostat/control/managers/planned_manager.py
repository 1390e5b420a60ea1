"""Deployments by a planner, at run time: S-EDRP solves EDRP in every period, S-ODP solves ODP when it has to.

The planner is injected: the exact one, rEDRP, a heuristic. This file makes its problem of what was measured, and has
its answer done. What it cannot answer is no error: the application stays as it is, and the journal says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from rheostat.control.knowledge.manager_views import ApplicationState
from rheostat.control.knowledge.measured_network import MeasuredNetwork
from rheostat.control.knowledge.measured_values import MeasuredValues
from rheostat.control.knowledge.profile import Profile
from rheostat.control.loop.ports import Actuator, Clock, Done, Entry, EntryLog, Json
from rheostat.control.managers.decisions import EFFECT, effect_facts
from rheostat.control.managers.prediction import Prediction
from rheostat.model.downtime.downtime_model import DowntimeModel
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure
from rheostat.model.observation import Subject
from rheostat.model.quality.objective import EdrpObjective, Objective
from rheostat.planning.contract.planner import Planner
from rheostat.planning.contract.problem import Limits, Problem

PLAN = "plan"


@dataclass(slots=True)
class PlannedManager:
    """An application manager that asks a planner instead of local managers."""

    planner: Planner
    state: ApplicationState
    actuator: Actuator
    clock: Clock
    journal: EntryLog
    objective: Objective
    downtime: DowntimeModel = field(default_factory=PauseAndResume)
    limits: Limits = Limits()
    hop_ms: float = 0.0
    period_seconds: float = 60.0
    offset_seconds: float = 0.0
    settle_seconds: float = 0.0
    """After a change what is measured does not count for so long."""
    every_period: bool = True
    """S-EDRP. Else S-ODP: only on the first rates, and when a node is gone that it runs on."""
    keeps_degrees: bool = False
    """Whether the planner only places the replicas that there are: ODP."""
    starts_as_a_guess: bool = True
    """Whether rates were unknown when the start was deployed: the first plan is free then [EDRP 6.2]."""
    profile: Profile | None = None
    """Measured profile of the operators, which replaces declared values in plans."""
    comparison: Prediction = field(init=False)
    """Prediction of the last change."""
    _planned: bool = False
    """Whether what runs was planned with measured rates."""

    def __post_init__(self) -> None:
        """Nothing is expected yet."""
        self.comparison = Prediction(self.state, self.journal, self.name)

    @property
    def name(self) -> str:
        """Name of the manager in the journal."""
        return f"planned manager of {self.state.application.name}"

    def step(self, now_seconds: float) -> None:
        """Plans if it is time to, and has the plan done."""
        snapshot = self.state.refresh(now_seconds)
        self.comparison.compare(now_seconds)
        lost = [node for node in snapshot.deployment.nodes() if node not in snapshot.infrastructure.index]
        if self._planned and not self.every_period and not lost:
            return
        if self.state.settled_at_seconds > now_seconds and not lost:
            return
        application = measured_application(self.state)
        if application is None:
            self._tell(now_seconds, {"held": "the rates are not known"})
            return
        known = MeasuredValues() if self.profile is None else self.profile.knowledge(application)
        free = self.starts_as_a_guess and not self._planned
        network = MeasuredNetwork.seen_by(self.state)
        infrastructure = network.applied_to(snapshot.infrastructure)
        problem = self.problem(application, infrastructure, snapshot.deployment, known, first=free)
        circumstances: dict[str, Json] = {"first": free, "network": network.to_plain(), "knowledge": known.to_plain()}
        if self._follow(problem, snapshot.deployment, now_seconds, circumstances):
            self._planned = True

    def recall(self, journal: EntryLog) -> None:
        """Restores whether the present deployment was planned: then the next plan is not a first one."""
        planned = False
        for _, entry in journal.read():
            if entry.kind == PLAN and "wanted" in entry.facts:
                planned = planned or not changes_something(entry.facts)
            elif entry.kind == EFFECT and entry.facts["by"] == self.name:
                planned = planned or entry.facts["outcome"] == "done"
        self._planned = planned

    def problem(
        self,
        application: Application,
        infrastructure: Infrastructure,
        current: Deployment,
        known: MeasuredValues,
        *,
        first: bool,
    ) -> Problem:
        """The planning problem. If the start was a guess, the first reconfiguration costs nothing [EDRP 6.2]."""
        application = known.applied_to(application)
        if self.keeps_degrees:
            application = with_degrees(application, {name: len(replicas) for name, replicas in current.items()})
        objective = self.objective
        if isinstance(objective, EdrpObjective) and first:
            objective = without_downtime(objective)
        # What runs on a lost node cannot stay: then there is nothing to compare with.
        stays = not current.mistakes(application, infrastructure.index)
        return Problem(
            application,
            infrastructure,
            objective,
            current=current if stays else None,
            downtime=known.downtime(self.downtime),
            hop_ms=self.hop_ms if known.hop_ms is None else known.hop_ms,
            limits=self.limits,
        )

    def _follow(
        self, problem: Problem, current: Deployment, now_seconds: float, circumstances: Mapping[str, Json]
    ) -> bool:
        """Plans, and has it done; whether what runs now is what was planned."""
        outcome = self.planner.plan(problem)
        rates = problem.application.rates
        facts: dict[str, Json] = {
            "status": outcome.status.value,
            **circumstances,
            "seen": self._seen(),
            "current": {name: dict(replicas.counts) for name, replicas in current.items()},
            "nodes": [node.name for node in problem.infrastructure.nodes],
            "rates_tps": [[*ends, rate] for ends, rate in rates.streams.items()],
            "sources_tps": {o.name: o.rate_tps for o in problem.application.operators if o.kind is Kind.SOURCE},
        }
        if outcome.deployment is None or outcome.evaluation is None:
            self._tell(now_seconds, {**facts, "held": "; ".join(outcome.conflict) or "the planner has no answer"})
            return False
        change = Reconfiguration.between(current, outcome.deployment)
        expected = self.comparison.expectation(change, outcome.evaluation.response_time_ms)
        predicted: dict[str, Json] = {
            **expected.to_plain(),
            "cost_per_hour": outcome.evaluation.cost_per_hour,
            "downtime_seconds": outcome.evaluation.downtime_seconds,
        }
        facts["reason"] = f"{outcome.evaluation.response_time_ms:.0f} ms are expected"
        facts["wanted"] = {name: dict(replicas.counts) for name, replicas in outcome.deployment.items()}
        told = {**facts, "objective": outcome.objective, "change": str(change), "predicted": predicted}
        self._tell(now_seconds, {**told, "staying": staying(problem)} if change else told)
        if not change:
            return True
        effect = self.actuator.apply(change)
        now = self.clock.now_seconds()
        self.journal.append(Entry(EFFECT, now, effect_facts(self.name, change, effect, predicted)))
        if not isinstance(effect, Done):
            return False
        self.state.settle(now + self.settle_seconds)
        self.comparison.begin(expected)
        return True

    def _seen(self) -> dict[str, Json]:
        """The main figures of the present state."""
        busy, total = {}, 0
        for name, replicas in self.state.snapshot().replicas.items():
            if utilizations := self.state.operator_view(name).utilizations:
                busy[name] = max(utilizations)
            total += len(replicas)
        return {"response_ms": self.state.response_ms(), "replicas": total, "busy": busy}

    def _tell(self, now_seconds: float, facts: Mapping[str, Json]) -> None:
        self.journal.append(Entry(PLAN, now_seconds, {"by": self.name, **facts}))


def staying(problem: Problem) -> dict[str, Json] | None:
    """Evaluation of changing nothing; None if the present deployment is impossible."""
    if problem.current is None:
        return None
    evaluation = problem.evaluated(problem.current)
    broken = problem.broken_by(problem.current, evaluation)
    # ODP's utility is measured on a scale that only its planner knows.
    value = None if problem.maximises or broken else problem.value_of(evaluation)
    return {
        "response_ms": evaluation.response_time_ms if isfinite(evaluation.response_time_ms) else None,
        "objective": value,
        "broken": list(broken),
    }


def measured_application(state: ApplicationState) -> Application | None:
    """The application with the rates that were measured; None if a source's rate is not known.

    Rates of unmeasured streams follow from their selectivities.
    """
    application, value = state.application, state.monitor.value
    operators = []
    for operator in application.operators:
        if operator.kind is not Kind.SOURCE:
            operators.append(operator)
            continue
        view = state.operator_view(operator.name)
        if view.input_rate_tps is None:
            return None
        operators.append(replace(operator, rate_tps=view.input_rate_tps))
    streams = []
    for stream in application.streams:
        flows = value(Subject.stream(*stream.ends), "output_rate")
        streams.append(stream if flows is None else replace(stream, rate_tps=flows))
    return replace(application, operators=tuple(operators), streams=tuple(streams))


def journaled_application(application: Application, facts: Mapping[str, Any]) -> Application:
    """The application with the rates that a plan was made for."""
    sources, rates = facts["sources_tps"], {(source, target): rate for source, target, rate in facts["rates_tps"]}
    operators = (replace(o, rate_tps=sources[o.name]) if o.name in sources else o for o in application.operators)
    streams = (replace(stream, rate_tps=rates[stream.ends]) for stream in application.streams)
    return replace(application, operators=tuple(operators), streams=tuple(streams))


def changes_something(facts: Mapping[str, Any]) -> bool:
    """Whether a journaled plan was one to change anything."""
    return str(facts.get("change", Reconfiguration())) != str(Reconfiguration())


def with_degrees(application: Application, degrees: Mapping[str, int]) -> Application:
    """The application with as many replicas of every operator as it has, no more and no less."""
    operators = (
        replace(operator, min_replicas=degrees[operator.name], max_replicas=degrees[operator.name])
        for operator in application.operators
    )
    return replace(application, operators=tuple(operators))


def without_downtime(objective: EdrpObjective) -> EdrpObjective:
    """The same with w_d = 0 and the other weights in their proportion; if there are no others, half each."""
    rest = objective.response_time + objective.cost
    if rest == 0:
        return objective
    return replace(objective, response_time=objective.response_time / rest, cost=objective.cost / rest, downtime=0.0)
