"""Pietzuch et al.: streams as springs, operators as bodies without mass, at rest [ICDE 2006].

A spring pulls with the traffic of its stream and is as long as the delay, so that at rest the elastic energy Σ λ d² is
least. The network usage Σ λ d falls with it, indirectly: long springs count more than they should.
"""

from dataclasses import dataclass

import numpy as np

from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import Values
from rheostat.planning.heuristics.heuristic_answer import outcome_of
from rheostat.planning.heuristics.latency_space import Embedding
from rheostat.planning.heuristics.relaxation import Relaxation, RelaxationLimits


@dataclass(frozen=True, slots=True)
class Pietzuch:
    """Spring relaxation in the latency space, then the nearest node with room; iterated with a threshold."""

    embedding: Embedding | None = Embedding()
    """Settings of the coordinates; None: true delays, and the node of least energy."""
    patience: RelaxationLimits = RelaxationLimits()

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The placement at rest, when no executor moves any more."""
        return outcome_of(problem, progress, Relaxation(spring_rest, 2, self.embedding, self.patience).place)


def spring_rest(points: Values, traffic: Values, own: Values) -> Values:  # noqa: ARG001 - wherever it is now
    """Equilibrium of springs of these strengths, fixed at these points: the weighted mean.

    >>> spring_rest(np.array([[0.0], [4.0]]), np.array([3.0, 1.0]), np.array([9.0]))
    array([1.])
    """
    return np.asarray(traffic @ points / traffic.sum())
