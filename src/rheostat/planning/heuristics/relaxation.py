"""Relaxation of the decentralised schedulers: ideal points in the latency space, then nodes near them.

Every executor moves towards its neighbours, knowing only their points and the traffic with them, until all are at rest;
pinned ones stay where they are. Then each takes the nearest node with room. With true delays instead of coordinates
there is no space to rest in: an executor takes the node that is best given the nodes of its neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from rheostat.planning.contract.deadline import Deadline
from rheostat.planning.encoded.encoded_problem import Indices, Values
from rheostat.planning.heuristics.executors import ExecutorPlacement, Executors
from rheostat.planning.heuristics.latency_space import Embedding, LatencySpace, Survey
from rheostat.planning.heuristics.round_robin import RoundRobin

Pull = Callable[[Values, Values, Values], Values]
"""Function for the new point of an executor, from its neighbours' points (rows), the traffic with each, and its
point."""


@dataclass(frozen=True, slots=True)
class RelaxationLimits:
    """Limits that decide when an executor moves, and when the rounds end."""

    rounds: int = 50
    """Greatest number of rounds in which all executors look for a better node."""
    threshold: float = 0.05
    """Least improvement, relative to the present cost, for which an executor moves."""
    rest_ms: float = 1e-3
    """Points that move less than this, in ms, are at rest."""
    refreshed: int = 5
    """Measurements of every node between two rounds; relevant only with jitter."""

    def __post_init__(self) -> None:
        """Rejects invalid limits."""
        if not (self.rounds >= 1 and isfinite(self.threshold) and 0 <= self.threshold < 1 and self.rest_ms > 0):
            raise ValueError(f"need rounds >= 1, 0 <= threshold < 1, rest_ms > 0, got {self}")
        if self.refreshed < 0:
            raise ValueError(f"need measurements >= 0, got {self.refreshed}")


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The common part of Pietzuch's and Rizou's schedulers."""

    pull: Pull
    """New point of an executor between its neighbours."""
    power: int
    """Exponent of the delay in the energy of a stream."""
    embedding: Embedding | None
    """Settings of the coordinates; None: true delays."""
    patience: RelaxationLimits

    def place(self, executors: Executors, clock: Deadline) -> ExecutorPlacement | str:
        """Placement by rounds, from the current deployment or a round robin, until no executor moves.

        With jitter there is no last round: a quiet one may be followed by another measurement, and so by a move.
        """
        begun = _begun(executors)
        if isinstance(begun, str):
            return begun
        delays = np.array(executors.instance.problem.infrastructure.network.delay_ms)
        survey = None if self.embedding is None else Survey(delays, self.embedding)
        restless = survey is not None and self.embedding is not None and self.embedding.jitter_ms > 0
        nodes, moves, space = begun, list[int](), None if survey is None else survey.space()
        points = None if space is None else space.points[nodes]
        for _ in range(self.patience.rounds):
            if space is not None and points is not None:
                points = self._at_rest(executors, nodes, space, points)
            nodes, moved = self._round(executors, nodes, delays, (space, points))
            moves.append(moved)
            if clock.is_over() or not (moved or restless):
                break
            if survey is not None and restless:
                space = survey.space(self.patience.refreshed)
        return ExecutorPlacement(nodes, sum(moves), _told(moves))

    def _round(
        self,
        executors: Executors,
        nodes: Indices,
        delays: Values,
        ideal: tuple[LatencySpace | None, Values | None],
    ) -> tuple[Indices, int]:
        """One round: every executor, the busiest first, moves if that is worth it."""
        space, points = ideal
        nodes, left, moved = nodes.copy(), executors.left_by(nodes), 0
        for a in executors.by_traffic():
            left[nodes[a]] += executors.needs[a]
            open_ = executors.open(a, left)
            if points is None or space is None:
                price = self.energies(executors, nodes, int(a), delays)
            else:
                price = space.from_point(points[a])
            price = np.where(open_, price, inf)
            best = int(np.argmin(price))
            if price[best] < (1 - self.patience.threshold) * price[nodes[a]] - self.patience.rest_ms:
                nodes[a], moved = best, moved + 1
            left[nodes[a]] -= executors.needs[a]
        return nodes, moved

    def energies(self, executors: Executors, nodes: Indices, executor: int, delays: Values) -> Values:
        """Σ λ d^power between an executor and its neighbours, for every node it could be on."""
        weights = delays**self.power
        sent, received = executors.traffic[executor], executors.traffic[:, executor]
        return np.asarray(weights[:, nodes] @ sent + weights[nodes].T @ received)

    def _at_rest(self, executors: Executors, nodes: Indices, space: LatencySpace, points: Values) -> Values:
        """Points of all executors at rest, starting from their points and not from their nodes.

        Where a point may rest anywhere between two others, it would otherwise follow every move, and the next move
        would follow it.
        """
        points = np.where(executors.pinned[:, None], space.points[nodes], points)
        free = [int(a) for a in np.nonzero(~executors.pinned)[0] if executors.exchanged[a].any()]
        for _ in range(1000):
            farthest = 0.0
            for a in free:
                near = np.nonzero(executors.exchanged[a])[0]
                rest = self.pull(points[near], executors.exchanged[a][near], points[a])
                farthest = max(farthest, float(np.linalg.norm(rest - points[a])))
                points[a] = rest
            if farthest < self.patience.rest_ms:
                break
        return points


def _told(moves: list[int]) -> str:
    """The round after which no executor moved, and whether the placement stayed stable."""
    if 0 not in moves:
        return "not stable yet"
    quiet = moves.index(0)
    later = sum(moves[quiet:])
    return f"stable after {quiet} rounds" + (f", then {later} more by jitter" if later else "")


def _begun(executors: Executors) -> Indices | str:
    """Nodes of the executors before the first round."""
    current = executors.instance.problem.current
    if current is not None and (running := executors.places(current)) is not None:
        return running
    begun = RoundRobin().place(executors, Deadline())
    return begun if isinstance(begun, str) else begun.nodes
