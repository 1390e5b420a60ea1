"""Planner on a simple random sample of candidate nodes, for trading quality against time [ODP 7.3]."""

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from rheostat.model.graph.application import Operator
from rheostat.planning.contract.outcome import Outcome, PlanStatus, answer
from rheostat.planning.contract.planner import SILENT, Planner, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.conflict import conflicts_without_search
from rheostat.planning.encoded.encoded_problem import EncodedProblem
from rheostat.planning.encoded.normalisers import normalised
from rheostat.planning.exact.exact import Exact


@dataclass(frozen=True, slots=True)
class Sampled:
    """Planner that restricts another planner to some nodes, drawn for every operator separately."""

    share: float = 0.4
    """Share of every operator's candidate nodes, rounded up."""
    seed: int = 0
    planner: Planner = field(default_factory=lambda: Exact(explains=False))
    """Planner of the smaller problem."""

    def __post_init__(self) -> None:
        """Rejects an invalid share."""
        if not 0 < self.share <= 1:
            raise ValueError(f"a share needs 0 < share <= 1, got {self.share}")

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The planner's outcome; it proves nothing about the nodes left out."""
        problem = normalised(problem)
        if conflict := conflicts_without_search(EncodedProblem(problem)):
            return Outcome(PlanStatus.INFEASIBLE, conflict=conflict)
        outcome = self.planner.plan(self.sampled(problem), progress)
        if outcome.deployment is None:
            return Outcome(PlanStatus.NO_ANSWER, effort=outcome.effort, conflict=outcome.conflict)
        effort = replace(outcome.effort, note=f"{self.share:.0%} of the nodes")
        return replace(answer(problem, outcome.deployment, None, effort), status=PlanStatus.FEASIBLE)

    def sampled(self, problem: Problem) -> Problem:
        """The same problem with fewer candidates; the current deployment stays possible."""
        rng = np.random.default_rng(self.seed)
        nodes = [node.name for node in problem.infrastructure.nodes]
        operators = tuple(self._confined(op, problem, nodes, rng) for op in problem.application.operators)
        return replace(problem, application=replace(problem.application, operators=operators), start=None)

    def _confined(self, operator: Operator, problem: Problem, nodes: list[str], rng: np.random.Generator) -> Operator:
        allowed = [node for node in nodes if operator.may_run_on(node)]
        chosen = {str(node) for node in rng.choice(allowed, ceil(self.share * len(allowed)), replace=False)}
        if problem.current is not None:
            chosen |= set(problem.current[operator.name])
        return operator if operator.pin else replace(operator, candidates=tuple(sorted(chosen)))
