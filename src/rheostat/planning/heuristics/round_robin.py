"""Round robin: executors to nodes in turn, Storm's default scheduler and the start of other heuristics."""

from dataclasses import dataclass

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors
from rheostat.planning.heuristics.heuristic_answer import no_room, outcome_of


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Planner that assigns nodes in turn and ignores traffic and delays."""

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """Executors in turn on the nodes, pinned ones first."""
        return outcome_of(problem, progress, self.place)

    def place(self, executors: Executors, clock: Deadline) -> ExecutorPlacement | str:  # noqa: ARG002 - it takes no time
        """Places each executor on the next allowed node with room."""
        left, size = executors.capacities.copy(), len(executors.capacities)
        nodes = np.full(len(executors), -1, dtype=np.int64)
        turn = 0
        for a in executors.pinned_first(np.arange(len(executors))):
            open_ = executors.open(a, left)
            if not open_.any():
                return no_room(executors, a)
            if executors.pinned[a]:
                nodes[a] = int(np.argmax(open_))
            else:
                nodes[a] = next(u % size for u in range(turn, turn + size) if open_[u % size])
                turn = int(nodes[a]) + 1
            left[nodes[a]] -= executors.needs[a]
        return ExecutorPlacement(nodes)
