"""Candidates: the multisets of nodes that an operator can run on, with the cost of each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from rheostat.model.downtime.downtime_model import operator_downtime_seconds
from rheostat.planning.encoded.encoded_problem import TOLERANCE, EncodedProblem, Indices, Values


@dataclass(frozen=True)
class Candidates:
    """The deployments of one operator, row by row."""

    nodes: Indices
    """Node numbers in order, as often as they hold a replica, then -1."""
    size: Indices
    """|𝒰|."""
    latency: Values
    """R_{i,𝒰} in milliseconds."""
    term: Values
    """What the replicas add to F by themselves, without response time and downtime."""
    downtime: Values
    """t_D in seconds; 0 for what runs now, or if nothing does."""

    def __len__(self) -> int:
        return len(self.size)

    def chosen(self, row: int) -> tuple[int, ...]:
        """The node numbers of a row."""
        return tuple(int(u) for u in self.nodes[row, : self.size[row]])

    def counts(self, nodes: int) -> Values:
        """𝒰(u), a row per deployment and a column per node."""
        table = np.zeros((len(self), nodes))
        for column in range(self.nodes.shape[1]):
            rows = np.nonzero(self.nodes[:, column] >= 0)[0]
            np.add.at(table, (rows, self.nodes[rows, column]), 1.0)
        return table

    def rows(self, keep: Indices) -> "Candidates":
        """Only some of them."""
        return Candidates(self.nodes[keep], self.size[keep], self.latency[keep], self.term[keep], self.downtime[keep])


def number_of_multisets(nodes: int, most: int, least: int = 1) -> int:
    """|𝒫(V; k)|: how many multisets of at most k (and at least a few) nodes there are.

    >>> number_of_multisets(8, 2)
    44
    """
    return sum(comb(nodes + m - 1, m) for m in range(least, most + 1))


def all_candidates(instance: EncodedProblem, operator: int) -> Candidates:
    """𝒫(V_res^i; k_i) without what can never be feasible: it does not fit, or is saturated [EDRP 4.1]."""
    return described(instance, operator, list(multisets(instance, operator)))


def multisets(instance: EncodedProblem, operator: int) -> Iterator[tuple[int, ...]]:
    """Node numbers of every deployment that fits by itself."""
    name = instance.names[operator]
    description = instance.problem.application.by_name[name]
    possible: Iterator[tuple[int, ...]]
    if name in instance.problem.restriction:
        wanted = {instance.numbers(replicas) for replicas in instance.problem.restriction[name]}
        possible = iter(sorted(wanted, key=lambda nodes: (len(nodes), nodes)))
    else:
        nodes = [int(u) for u in np.nonzero(instance.allowed[operator])[0]]
        sizes = range(description.min_replicas, description.max_replicas + 1)
        possible = (chosen for m in sizes for chosen in combinations_with_replacement(nodes, m))
    return (chosen for chosen in possible if is_possible(instance, operator, chosen))


def is_possible(instance: EncodedProblem, operator: int, nodes: tuple[int, ...]) -> bool:
    """Whether a deployment is allowed, fits in its nodes by itself, and does not saturate the operator."""
    description = instance.problem.application.by_name[instance.names[operator]]
    if not description.min_replicas <= len(nodes) <= description.max_replicas:
        return False
    if not np.isfinite(instance.latencies[operator, len(nodes)]) or not instance.allowed[operator, list(nodes)].all():
        return False
    need, capacity = description.resources, instance.problem.infrastructure.capacities
    return all(nodes.count(u) * need <= capacity[u] + TOLERANCE for u in set(nodes))


def described(instance: EncodedProblem, operator: int, multisets: list[tuple[int, ...]]) -> Candidates:
    """Their costs."""
    table = np.full((len(multisets), instance.most_replicas), -1, dtype=np.int64)
    for row, nodes in enumerate(multisets):
        table[row, : len(nodes)] = nodes
    return replace(of_rows(instance, operator, table), downtime=downtimes(instance, operator, multisets))


def of_rows(instance: EncodedProblem, operator: int, table: Indices) -> Candidates:
    """Multisets row by row, node numbers in order and then -1; their costs, but for the downtime, which takes long."""
    present = table >= 0
    size = present.sum(axis=1)
    speedups = np.where(present, instance.problem.infrastructure.speedups[table], np.inf)
    latency = instance.latencies[operator, size] / speedups.min(axis=1, initial=np.inf)
    term = np.where(present, instance.replica_terms[operator, table], 0.0).sum(axis=1)
    return Candidates(table, size, latency, term, np.zeros(len(table)))


def paused(instance: EncodedProblem, operator: int, options: Candidates) -> Candidates:
    """With their effective downtimes: what runs now has none, and all that changes waits for the restarts at least."""
    if instance.current is None:
        return options
    chosen = [options.chosen(row) for row in range(len(options))]
    stays = np.array([nodes == instance.current[operator] for nodes in chosen], dtype=bool)
    pause = np.where(stays, 0.0, np.maximum(downtimes(instance, operator, chosen), instance.restart_seconds))
    return replace(options, downtime=pause)


def downtimes(instance: EncodedProblem, operator: int, multisets: list[tuple[int, ...]]) -> Values:
    """t_D of every deployment [EDRP, eq. 11]."""
    situation = instance.situation
    if situation is None:
        return np.zeros(len(multisets))
    name, model, known = instance.names[operator], instance.problem.downtime, instance.known_pauses[operator]
    for nodes in multisets:
        # The same multisets come again and again, below one limit after another.
        if nodes not in known:
            known[nodes] = operator_downtime_seconds(model, situation, name, instance.replicas(nodes))
    return np.array([known[nodes] for nodes in multisets])
