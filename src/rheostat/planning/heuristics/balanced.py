"""Initial placement of E2DF: on R_init nodes, as many executors on each as on the others [E2DF 4.2]."""

from dataclasses import dataclass

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import Flags
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors
from rheostat.planning.heuristics.heuristic_answer import no_room, outcome_of


@dataclass(frozen=True, slots=True)
class Balanced:
    """Planner that balances the number of executors on a few nodes."""

    initial_nodes: int = 5
    """R_init: number of nodes used at first [E2DF 5]."""

    def __post_init__(self) -> None:
        """Rejects fewer than one node."""
        if self.initial_nodes < 1:
            raise ValueError(f"need at least one node to begin with, got {self.initial_nodes}")

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """Balanced placement on the nodes that pins need and the first of the others, up to R_init in all."""
        return outcome_of(problem, progress, self.place)

    def place(self, executors: Executors, clock: Deadline) -> ExecutorPlacement | str:  # noqa: ARG002 - it takes no time
        """Places each executor on the used node with fewest executors; on a further node if none has room.

        The paper does not say which nodes are used, nor what happens if they do not suffice.
        """
        left, size = executors.capacities.copy(), len(executors.capacities)
        nodes = np.full(len(executors), -1, dtype=np.int64)
        needed: Flags = np.asarray(executors.allowed[executors.pinned].any(axis=0))
        order = np.argsort(~needed, kind="stable")
        in_use = needed.copy()
        in_use[order[: max(self.initial_nodes, int(needed.sum()))]] = True
        held = np.zeros(size)
        for a in executors.pinned_first(np.arange(len(executors))):
            open_ = executors.open(a, left)
            if not open_.any():
                return no_room(executors, a)
            choice = np.nonzero(open_ & in_use)[0] if (open_ & in_use).any() else np.nonzero(open_)[0][:1]
            u = int(choice[np.argmin(held[choice])])
            nodes[a], in_use[u] = u, True
            left[u] -= executors.needs[a]
            held[u] += 1
        return ExecutorPlacement(nodes)
