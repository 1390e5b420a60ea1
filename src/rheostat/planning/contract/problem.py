"""Planning problem: everything that decides which deployment is best, as one validated value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isfinite

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.downtime.downtime_model import CurrentDeployment, DowntimeModel
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Deployment, Replicas
from rheostat.model.network.resources import Infrastructure
from rheostat.model.quality.evaluation import Evaluation, evaluate
from rheostat.model.quality.objective import EdrpObjective, Objective, OdpObjective
from rheostat.model.quality.placed import Placed


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits after which a planner may stop before it has proven an optimum."""

    seconds: float = inf
    """Wall-clock time limit; the outcome then is the best deployment found, with its proven gap."""
    gap: float = 0.0
    """Relative distance between objective and proven bound that is precise enough."""

    def __post_init__(self) -> None:
        """Rejects invalid limits."""
        if not self.seconds >= 0:
            raise ValueError(f"a time limit needs seconds >= 0, got {self.seconds}")
        if not (isfinite(self.gap) and self.gap >= 0):
            raise ValueError(f"a gap limit needs a finite number >= 0, got {self.gap}")


@dataclass(frozen=True)
class Problem:
    """Placement problem: the choice of a multiset of nodes for every operator.

    Candidate nodes, pins and numbers of replicas are the operators' own. A deployment is feasible if it fits in every
    node and every link, keeps the objective's bounds and saturates no operator: a saturated one has no response time.
    """

    application: Application
    infrastructure: Infrastructure
    objective: Objective = field(default_factory=OdpObjective)
    """ODP's utility, to be maximised, or EDRP's cost, to be minimised."""
    current: Deployment | None = None
    """The running deployment; None at the first deployment, which has no downtime."""
    downtime: DowntimeModel = field(default_factory=PauseAndResume)
    """Downtime of a change of the current deployment."""
    hop_ms: float = 0.0
    """Price of a hop between two queries, in ms."""
    limits: Limits = field(default_factory=Limits)
    """Limits of time and gap."""
    restriction: Mapping[str, tuple[Replicas, ...]] = field(default_factory=dict)
    """The only deployments an operator may have, if it is restricted further than by its own candidates."""
    start: Deployment | None = None
    """A deployment to begin with; it is used only if it is feasible."""

    def __post_init__(self) -> None:
        """Rejects a problem that contradicts itself, and lists every mistake."""
        found = self.infrastructure.mistakes_of(self.application)
        if not self.application.operators:
            found.append(Mistake(("operators",), "there is no operator", "declare at least one"))
        for name, deployment in (("current", self.current), ("start", self.start)):
            if deployment is not None:
                wrong = deployment.mistakes(self.application, self.infrastructure.index)
                found += [Mistake((name, *mistake.where), mistake.what, mistake.remedy) for mistake in wrong]
        if not (isfinite(self.hop_ms) and self.hop_ms >= 0):
            found.append(Mistake(("hop_ms",), f"{self.hop_ms} is not a finite number >= 0", "write a number >= 0"))
        found += [
            Mistake(("restriction", name), f"there is no operator {name!r}", "remove it")
            for name in self.restriction
            if name not in self.application.by_name
        ]
        if found:
            raise InvalidModel("problem", found)

    @property
    def maximises(self) -> bool:
        """Whether a larger objective is better: true for ODP's utility, false for EDRP's cost."""
        return isinstance(self.objective, OdpObjective)

    def evaluated(self, deployment: Deployment) -> Evaluation:
        """Every metric of a deployment, including those of the change from the current one."""
        placed = Placed(self.application, self.infrastructure, deployment, self.hop_ms)
        return evaluate(placed, self.current, self.downtime)

    def value_of(self, evaluation: Evaluation) -> float:
        """The objective in its own units: utility or cost."""
        if isinstance(self.objective, EdrpObjective):
            return self.objective.cost_of(evaluation.metrics())
        return self.objective.utility_of(evaluation.metrics(self.objective.network_metric))

    def broken_by(self, deployment: Deployment, evaluation: Evaluation) -> tuple[str, ...]:
        """Reasons why a deployment is infeasible, in words; empty if it is feasible."""
        found = [str(m) for m in deployment.mistakes(self.application, self.infrastructure.index)]
        found += [
            f"operator {name} may not be deployed on {deployment[name]} here"
            for name, options in self.restriction.items()
            if deployment[name] not in options
        ]
        found += [f"operator {name} is saturated" for name in evaluation.saturated]
        found += [f"{n} holds {use:g} of {room:g}" for n, (use, room) in evaluation.overloaded_nodes.items()]
        found += [
            f"{u} -> {v} carries {load:g} of {room:g} tps"
            for (u, v), (load, room) in evaluation.overloaded_links.items()
        ]
        return (*found, *self.objective.bounds.broken_by(evaluation.metrics()))

    @property
    def situation(self) -> CurrentDeployment | None:
        """The running deployment with its application and infrastructure; None if nothing runs."""
        if self.current is None:
            return None
        return CurrentDeployment(self.application, self.infrastructure, self.current)
