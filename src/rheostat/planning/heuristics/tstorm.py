"""T-Storm: executors by descending traffic, each where it adds least traffic between nodes [Xu et al., ICDCS 2014].

Its code is not public. As the papers describe it: it starts from a round robin, then fits anew once traffic is known; a
node holds at most E/N executors and gives one worker slot; the current placement is kept unless the traffic falls.
"""

from dataclasses import dataclass
from math import ceil, isfinite

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.contract.outcome import Outcome
from rheostat.planning.contract.planner import SILENT, Progress
from rheostat.planning.contract.problem import Problem
from rheostat.planning.encoded.encoded_problem import TOLERANCE, Indices, Values
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors
from rheostat.planning.heuristics.heuristic_answer import no_room, outcome_of
from rheostat.planning.heuristics.round_robin import RoundRobin


@dataclass(frozen=True, slots=True)
class TStorm:
    """Best fit by traffic; ignores delays."""

    consolidation: float = 1.0
    """γ: a node takes at most γ E/N executors, rounded up; 1 spreads them evenly, a larger value uses fewer nodes."""
    slots_per_node: int = 1
    """Worker slots used per node, if it has several; fewer slots save traffic between processes."""

    def __post_init__(self) -> None:
        """Rejects settings without any room."""
        if not (isfinite(self.consolidation) and self.consolidation >= 1 and self.slots_per_node >= 1):
            raise ValueError(f"need a consolidation and slots >= 1, got {self}")

    def plan(self, problem: Problem, progress: Progress = SILENT) -> Outcome:
        """The best fit, or the previous placement if its traffic is not higher."""
        return outcome_of(problem, progress, self.place)

    def place(self, executors: Executors, clock: Deadline) -> ExecutorPlacement | str:  # noqa: ARG002 - it takes no time
        """Placement by best fit, compared with the current one or a round robin."""
        fitted = self.best_fit(executors)
        before = _before(executors)
        if isinstance(fitted, str):
            return fitted if before is None else ExecutorPlacement(before, 0)
        if before is None:
            return ExecutorPlacement(fitted, 0)
        falls = inter_node_traffic_tps(executors, fitted) < inter_node_traffic_tps(executors, before) - TOLERANCE
        return ExecutorPlacement(fitted, 1) if falls else ExecutorPlacement(before, 0)

    def best_fit(self, executors: Executors) -> Indices | str:
        """Places each executor on the node with most of its traffic; among equals, that with fewest executors.

        A node above its share is taken only if no other has room.
        """
        left, size = self._room(executors), len(executors.capacities)
        nodes, held = np.full(len(executors), -1, dtype=np.int64), np.zeros(size)
        share = ceil(self.consolidation * len(executors) / size - TOLERANCE)
        for a in executors.pinned_first(executors.by_traffic()):
            open_ = executors.open(a, left)
            if executors.pinned[a]:
                # A pinned executor stays on its node, regardless of the room in its slots.
                open_ = executors.allowed[a]
            if not open_.any():
                return no_room(executors, a)
            choice = np.nonzero(open_ & (held < share))[0] if (open_ & (held < share)).any() else np.nonzero(open_)[0]
            here = np.bincount(nodes[nodes >= 0], weights=executors.exchanged[a][nodes >= 0], minlength=size)
            u = int(choice[np.lexsort((held[choice], -here[choice]))[0]])
            nodes[a] = u
            left[u] -= executors.needs[a]
            held[u] += 1
        return nodes

    def _room(self, executors: Executors) -> Values:
        """Room in the used slots of every node; a node described without slots counts as one."""
        nodes = executors.instance.problem.infrastructure.nodes
        slots = [
            node.capacity
            if node.resources is not None
            else float(min(self.slots_per_node, node.worker_slots) * node.executors_per_slot)
            for node in nodes
        ]
        return np.array(slots)


def inter_node_traffic_tps(executors: Executors, nodes: Indices) -> float:
    """T: tuples per second between executors on different nodes."""
    return float(executors.traffic[nodes[:, None] != nodes[None, :]].sum())


def _before(executors: Executors) -> Indices | None:
    """The current placement, else a round robin; None if neither fits."""
    current = executors.instance.problem.current
    if current is not None and (running := executors.places(current)) is not None:
        return running
    begun = RoundRobin().place(executors, Deadline())
    return begun.nodes if isinstance(begun, ExecutorPlacement) else None
