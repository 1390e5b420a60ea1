"""Rizou et al.: every operator goes to its local optimum of the network usage Σ λ d [ICCCN 2010].

The usage is convex in the latency space. For one operator its optimum is the geometric median of the neighbours,
weighted by traffic: often the very place of one of them, where a spring would stop half way.

Taken literally, operators that have met would never part again, since each is held by the others: all of them could be
better off elsewhere. So distances are rounded off near 0, as in the hyperboloid approximation of location problems:
an operator that is pulled moves a little, and the others follow.
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

_ROUNDED_MS = 1.0
"""sqrt(d² + this²) is used for d: far below the delay between two nodes."""


@dataclass(frozen=True, slots=True)
class Rizou:
    """Local optima of network usage in the latency space, then the nearest node with room."""

    embedding: Embedding | None = Embedding()
    """Settings of the coordinates; None: true delays, and the node of least usage."""
    patience: RelaxationLimits = RelaxationLimits()

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The placement at rest, when no executor moves any more."""
        return outcome_of(problem, progress, Relaxation(median_rest, 1, self.embedding, self.patience).place)


def median_rest(points: Values, traffic: Values, own: Values) -> Values:
    """Next point by one step of Weiszfeld's iteration towards the weighted geometric median.

    >>> median_rest(np.array([[0.0], [4.0]]), np.array([3.0, 1.0]), np.array([0.0])).round(2)
    array([0.3])
    """
    weights = traffic / np.sqrt(((points - own) ** 2).sum(axis=1) + _ROUNDED_MS**2)
    return np.asarray(weights @ points / weights.sum())
